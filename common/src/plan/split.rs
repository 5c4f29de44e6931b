//! Which agent and which worker gets which clients. Parts always add up to the whole.

use serde::{Deserialize, Serialize};

use crate::ids::{ClientId, WorkerId};

/// One agent's part of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// This agent's workers, each with consecutive clients.
    pub workers: Vec<WorkerShare>,
    /// This agent's part of the connection budget: opened at the same time (at least 1).
    pub connect_concurrency: u32,
    /// This agent's part of the connection budget: opened per second.
    pub connect_rate_per_s: Option<f64>,
}

/// One worker's part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerShare {
    /// Numbered over all agents; selects the worker's random streams.
    pub worker: WorkerId,
    /// The first of its clients.
    pub first_client: ClientId,
    /// How many, all consecutive.
    pub clients: u32,
}
