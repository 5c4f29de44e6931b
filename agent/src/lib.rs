//! Everything that happens on a load host.
//!
//! In reading order: an agent's life ([`session`]), the share of a run ([`load`]), what the operator allows
//! (`bounds`), how it is executed (`worker`), by whom (`client`), the protocol spoken to the target ([`wire`]), and whether this
//! host was the limit ([`vitals`]).

mod bounds;
mod client;
pub mod load;
pub mod session;
pub mod vitals;
pub mod wire;
mod worker;
