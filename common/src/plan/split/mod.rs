//! Which agent and which worker gets which clients. Parts always add up to the whole.
//!
//! Client numbers are consecutive over agents and workers, so that client *n* is the same client
//! whatever the number of agents (I3). Knows nothing of who the agents are.

use serde::{Deserialize, Serialize};

use super::{ConnectBudget, Load};
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
    /// How often these clients have changed their agent since the run began, which decides where in their
    /// streams they go on.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub moves: u32,
}

/// Shares that never moved have the digest that they had before shares could.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(moves: &u32) -> bool {
    *moves == 0
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

/// A share of the whole as an exact fraction: the numerators of all parts add up to the denominator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fraction {
    /// Clients of the part.
    pub part: u32,
    /// Clients of the whole, not 0.
    pub whole: u32,
}

/// What clients follow when they are spread over agents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SplitBy {
    /// The same number for each agent, give or take one.
    #[default]
    Evenly,
    /// In proportion to each agent's cores.
    Cores,
}

/// How to spread a plan's clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SplitRules {
    /// What clients follow.
    pub by: SplitBy,
    /// Workers per agent (`-j`); an agent's cores if absent. Never more than the agent has clients.
    pub workers_per_agent: Option<u32>,
}

/// Why clients cannot be spread.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SplitError {
    /// Nobody to give them to.
    #[error("no agent to give clients to")]
    NoAgents,
    /// An agent would have nothing to do.
    #[error(
        "{clients} clients over {agents} agents leave agent {agent} without any; raise -c or lower --agents"
    )]
    AgentWithoutClients {
        /// Clients of the plan.
        clients: u32,
        /// Agents asked for.
        agents: usize,
        /// The first one with nothing to do.
        agent: usize,
    },
}

impl Share {
    /// Clients of all its workers.
    #[must_use]
    pub fn clients(&self) -> u32 {
        self.workers.iter().fold(0, |sum, worker| sum.saturating_add(worker.clients))
    }

    /// The first of its clients.
    #[must_use]
    pub fn first_client(&self) -> ClientId {
        self.workers.first().map_or(ClientId(0), |worker| worker.first_client)
    }
}

impl WorkerShare {
    /// Its part of everything that is spread by clients, above all of the rate.
    #[must_use]
    pub fn fraction(&self, load: &Load) -> Fraction {
        Fraction { part: self.clients, whole: load.clients }
    }
}

impl Fraction {
    /// The part of a rate per second.
    #[must_use]
    pub fn of_rate(self, rate_per_s: f64) -> f64 {
        rate_per_s * f64::from(self.part) / f64::from(self.whole)
    }

    /// Mean distance in microseconds of the part's events, if those of the whole come at `rate_per_s`.
    /// With equal parts this is pgbench's own arithmetic, to the last bit.
    #[must_use]
    pub fn mean_gap_us(self, rate_per_s: f64) -> f64 {
        1_000_000.0 / rate_per_s * (f64::from(self.whole) / f64::from(self.part))
    }
}

/// Spreads a plan's clients over agents, given each agent's number of cores, and within an agent over
/// workers.
pub fn split(load: &Load, cores: &[u32], rules: SplitRules) -> Result<Vec<Share>, SplitError> {
    if cores.is_empty() {
        return Err(SplitError::NoAgents);
    }
    let weights: Vec<u64> = match rules.by {
        SplitBy::Evenly => vec![1; cores.len()],
        SplitBy::Cores => cores.iter().map(|&n| u64::from(n.max(1))).collect(),
    };
    let clients = largest_remainder(load.clients, &weights);
    if let Some(agent) = clients.iter().position(|&n| n == 0) {
        let agents = cores.len();
        return Err(SplitError::AgentWithoutClients { clients: load.clients, agents, agent });
    }
    let concurrency = connect_concurrency(&load.connect, &clients);
    let mut next = Next { worker: 0, client: 0 };
    let shares = clients.iter().zip(cores).zip(concurrency).map(|((&clients, &cores), opening)| {
        let wanted = rules.workers_per_agent.unwrap_or(cores).max(1);
        let part = Fraction { part: clients, whole: load.clients };
        Share {
            workers: next.workers(clients, wanted.min(clients)),
            connect_concurrency: opening,
            connect_rate_per_s: load.connect.rate_per_s.map(|rate| part.of_rate(rate)),
            moves: 0,
        }
    });
    Ok(shares.collect())
}

/// Spreads the clients of a lost share over the agents that take them, given each one's number of cores.
/// Clients keep their numbers, workers get new ones from `next_worker` on; an agent for which there is no
/// client gets nothing.
#[must_use]
pub fn move_share(
    load: &Load,
    lost: &Share,
    cores: &[u32],
    rules: SplitRules,
    next_worker: WorkerId,
) -> Vec<Share> {
    let agents = cores.len().min(lost.clients() as usize);
    let clients = largest_remainder(lost.clients(), &vec![1; agents]);
    let opening = ConnectBudget { concurrency: lost.connect_concurrency, ..load.connect };
    let concurrency = connect_concurrency(&opening, &clients);
    let mut next = Next { worker: next_worker.0, client: lost.first_client().0 };
    let shares = clients.iter().zip(cores).zip(concurrency).map(|((&clients, &cores), opening)| {
        let wanted = rules.workers_per_agent.unwrap_or(cores).max(1);
        let part = Fraction { part: clients, whole: lost.clients() };
        Share {
            workers: next.workers(clients, wanted.min(clients)),
            connect_concurrency: opening,
            connect_rate_per_s: lost.connect_rate_per_s.map(|rate| part.of_rate(rate)),
            moves: lost.moves + 1,
        }
    });
    shares.collect()
}

/// The numbers that the next worker gets.
struct Next {
    worker: u32,
    client: u32,
}

impl Next {
    /// pgbench's way: each worker takes its part of what is left, rounded up.
    fn workers(&mut self, clients: u32, workers: u32) -> Vec<WorkerShare> {
        let mut left = clients;
        let shares = (0..workers).rev().map(|others| {
            let clients = left.div_ceil(others + 1);
            left -= clients;
            let share = WorkerShare {
                worker: WorkerId(self.worker),
                first_client: ClientId(self.client),
                clients,
            };
            self.worker += 1;
            self.client += clients;
            share
        });
        shares.collect()
    }
}

/// Parts of the budget in proportion to clients, but at least 1 each: an agent that may open none
/// would never be ready. So they add up to the budget or to the number of agents, whichever is more.
fn connect_concurrency(budget: &ConnectBudget, clients: &[u32]) -> Vec<u32> {
    let agents = u32::try_from(clients.len()).unwrap_or(u32::MAX);
    let weights: Vec<u64> = clients.iter().map(|&n| u64::from(n)).collect();
    let beyond_one = largest_remainder(budget.concurrency.saturating_sub(agents), &weights);
    beyond_one.into_iter().map(|more| more.saturating_add(1)).collect()
}

/// Spreads `total` in proportion to `weights` (not all 0): everyone gets the whole part of their quota,
/// what is left goes one each to the largest remainders, the first of equals first.
fn largest_remainder(total: u32, weights: &[u64]) -> Vec<u32> {
    let all: u128 = weights.iter().map(|&w| u128::from(w)).sum();
    let quota = |weight: u64| u128::from(total) * u128::from(weight);
    let mut parts: Vec<u32> = weights
        .iter()
        .map(|&w| u32::try_from(quota(w) / all).expect("a part is at most the total, a u32"))
        .collect();
    let left = total - parts.iter().sum::<u32>();
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(quota(weights[i]) % all));
    for &i in order.iter().take(left as usize) {
        parts[i] += 1;
    }
    parts
}

#[cfg(test)]
mod tests;
