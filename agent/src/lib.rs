//! Everything that happens on a load host.
//!
//! In reading order: the share of a run ([`load`]), how it is executed ([`worker`]), the protocol it
//! speaks to the target ([`wire`]), and whether this host was the limit ([`vitals`]).

pub mod load;
pub mod vitals;
pub mod wire;
mod worker;
