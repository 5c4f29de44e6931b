//! Pages of results in a real browser: what they show is what the files say.

#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod bad_input;
mod fixture;
mod live_page;
mod page_of_a_run;
