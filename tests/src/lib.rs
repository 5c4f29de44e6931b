//! What the end-to-end suites stand on: real parts started for a test and gone with it.

pub mod postgres;
