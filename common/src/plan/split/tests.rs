//! Parts add up, numbers are consecutive, rates are exact.
#![allow(clippy::unwrap_used)]
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::plan::End;

fn load(clients: u32, concurrency: u32, connect_rate: Option<f64>) -> Load {
    Load {
        clients,
        end: End::Transactions(10),
        warmup: Duration::ZERO,
        rate_tps: None,
        latency_limit_us: None,
        connect_per_transaction: false,
        reconnect: false,
        connect: ConnectBudget {
            rate_per_s: connect_rate,
            concurrency,
            timeout: Duration::from_secs(60),
        },
        allow_fewer_clients: false,
        drain_timeout: None,
    }
}

fn clients_of(shares: &[Share]) -> Vec<u32> {
    shares.iter().map(Share::clients).collect()
}

fn workers_of(share: &Share) -> Vec<u32> {
    share.workers.iter().map(|worker| worker.clients).collect()
}

#[test]
fn a_thousand_clients_over_seven_agents_differ_by_one() {
    let shares = split(&load(1000, 100, None), &[4; 7], SplitRules::default()).unwrap();
    assert_eq!(clients_of(&shares), [143, 143, 143, 143, 143, 143, 142]);
    assert_eq!(workers_of(&shares[0]), [36, 36, 36, 35]);
    assert_eq!(shares[6].first_client(), ClientId(858));
    assert_eq!(shares[6].workers[0].worker, WorkerId(24));
}

#[test]
fn workers_take_what_is_left_rounded_up_as_pgbench_does() {
    for (clients, workers, expected) in
        [(10, 4, vec![3, 3, 2, 2]), (7, 3, vec![3, 2, 2]), (2, 8, vec![1, 1]), (5, 1, vec![5])]
    {
        let rules = SplitRules { by: SplitBy::Evenly, workers_per_agent: Some(workers) };
        let shares = split(&load(clients, 10, None), &[64], rules).unwrap();
        assert_eq!(workers_of(&shares[0]), expected, "-c {clients} -j {workers}");
    }
}

#[test]
fn following_cores_gives_the_larger_host_more() {
    let rules = SplitRules { by: SplitBy::Cores, workers_per_agent: None };
    let shares = split(&load(100, 10, None), &[2, 8, 6], rules).unwrap();
    assert_eq!(clients_of(&shares), [13, 50, 37]);
    assert_eq!(shares[1].workers.len(), 8);
}

#[test]
fn nobody_to_load_is_an_error_that_says_what_to_change() {
    let rules = SplitRules::default();
    assert_eq!(split(&load(1, 1, None), &[], rules), Err(SplitError::NoAgents));
    let error = split(&load(2, 1, None), &[1, 1, 1], rules).unwrap_err();
    assert_eq!(
        error.to_string(),
        "2 clients over 3 agents leave agent 2 without any; raise -c or lower --agents"
    );
}

#[test]
fn a_rate_of_1001_over_seven_agents_adds_up_exactly() {
    let load = load(1000, 100, None);
    let shares = split(&load, &[4; 7], SplitRules::default()).unwrap();
    let workers = shares.iter().flat_map(|share| &share.workers);
    // 1001 tps times part over whole, compared without rounding.
    let thousandths: u64 =
        workers.map(|worker| 1001 * u64::from(worker.fraction(&load).part)).sum();
    assert_eq!(thousandths, 1001 * 1000);
}

#[test]
fn equal_parts_have_the_mean_gap_of_pgbench_to_the_last_bit() {
    for (rate, threads) in [(100.0, 3u32), (1001.0, 7), (0.3, 12), (98_765.4, 5)] {
        let pgbench = 1_000_000.0 / rate * f64::from(threads);
        let ours = Fraction { part: 8, whole: 8 * threads }.mean_gap_us(rate);
        assert_eq!(ours.to_bits(), pgbench.to_bits());
    }
}

proptest! {
    #[test]
    fn parts_add_up_and_numbers_are_consecutive(
        cores in proptest::collection::vec(0..128u32, 1..60),
        extra in 0..5000u32,
        jobs in proptest::option::of(1..200u32),
        by_cores: bool,
        concurrency in 1..500u32,
        connect_rate in proptest::option::of(0.1..1e6f64),
    ) {
        let clients = u32::try_from(cores.len()).unwrap() + extra;
        let load = load(clients, concurrency, connect_rate);
        let by = if by_cores { SplitBy::Cores } else { SplitBy::Evenly };
        let rules = SplitRules { by, workers_per_agent: jobs };
        let shares = match split(&load, &cores, rules) {
            Ok(shares) => shares,
            Err(SplitError::AgentWithoutClients { .. }) if by_cores => return Ok(()),
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        };
        prop_assert_eq!(shares.len(), cores.len());

        let workers: Vec<WorkerShare> =
            shares.iter().flat_map(|share| share.workers.clone()).collect();
        let mut next = 0;
        for (number, worker) in (0u32..).zip(&workers) {
            prop_assert_eq!(worker.worker, WorkerId(number));
            prop_assert_eq!(worker.first_client, ClientId(next));
            prop_assert!(worker.clients >= 1);
            next += worker.clients;
        }
        prop_assert_eq!(next, clients);

        let counts = clients_of(&shares);
        if !by_cores {
            prop_assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1);
        }
        for (share, &cores) in shares.iter().zip(&cores) {
            let sizes = workers_of(share);
            prop_assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1);
            let wanted = jobs.unwrap_or(cores).max(1).min(share.clients());
            prop_assert_eq!(sizes.len(), wanted as usize);
        }

        let opening: u32 = shares.iter().map(|share| share.connect_concurrency).sum();
        prop_assert_eq!(opening as usize, (concurrency as usize).max(shares.len()));
        if let Some(rate) = connect_rate {
            let sum: f64 = shares.iter().filter_map(|share| share.connect_rate_per_s).sum();
            prop_assert!((sum / rate - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn following_cores_stays_within_one_client_of_the_exact_proportion(
        cores in proptest::collection::vec(1..256u32, 1..40), clients in 1..100_000u32,
    ) {
        let weights: Vec<u64> = cores.iter().map(|&n| u64::from(n)).collect();
        let parts = largest_remainder(clients, &weights);
        prop_assert_eq!(parts.iter().sum::<u32>(), clients);
        let all: u64 = weights.iter().sum();
        for (part, weight) in parts.iter().zip(weights) {
            let quota = f64::from(clients) * weight as f64 / all as f64;
            prop_assert!((f64::from(*part) - quota).abs() < 1.0);
        }
    }
}
