//! Fingerprints of plans: SHA-256, in hexadecimal, over a canonical text.
//!
//! The canonical text is a line with its kind and version, then JSON without blanks, fields in the order
//! of declaration, floats in the shortest form that reads back the same. Secrets stand in it as `***`,
//! so a digest tells nothing about a password (I6). What changes which digest:
//!
//! | field | plan | workload |
//! |---|---|---|
//! | run id | no | no |
//! | script texts and weights, protocol, scale, `-D`, tries, `--continue-on-error` | yes | yes |
//! | clients, `-t` or `-T`, warm-up, rate, limit, `-C`, `--reconnect` | yes | yes |
//! | script names, `-r`, `--exit-on-abort`, `--verbose-errors` | yes | no |
//! | connection budget, `--allow-fewer-clients`, `--drain-timeout` | yes | no |
//! | seed, target, logs, split over agents and workers | yes | no |

use std::time::Duration;

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::split::Share;
use super::{End, Load, Log, Plan, Protocol, Seeds, Workload};
use crate::target::Target;

#[derive(Serialize)]
struct Everything<'a> {
    workload: &'a Workload,
    load: &'a Load,
    target: &'a Target,
    seeds: Seeds,
    log: Option<&'a Log>,
    shares: &'a [Share],
}

#[derive(Serialize)]
struct WhatIsRun<'a> {
    scripts: Vec<(&'a [u8], u32)>,
    protocol: Protocol,
    scale: i64,
    defines: &'a [(String, String)],
    max_tries: Option<u32>,
    continue_on_error: bool,
    clients: u32,
    end: End,
    warmup: Duration,
    rate_tps: Option<f64>,
    latency_limit_us: Option<u64>,
    connect_per_transaction: bool,
    /// Absent where it is not asked for, as before there was such a thing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    reconnect: bool,
}

/// Fingerprint of everything that fixes a run: two runs of one digest send the same statements, from the
/// same hosts' shares, to the same target.
#[must_use]
pub fn plan_digest(plan: &Plan, shares: &[Share]) -> String {
    // Destructured, so that a new field cannot be forgotten.
    let Plan { run_id: _, workload, load, target, seeds, log } = plan;
    let log = log.as_ref();
    let everything = Everything { workload, load, target, seeds: *seeds, log, shares };
    sha256_hex("pgsurge.plan/1", &everything)
}

/// Fingerprint of what is run, by which results are paired for comparison: no seed, target or fleet.
#[must_use]
pub fn workload_digest(plan: &Plan) -> String {
    let Workload {
        scripts,
        protocol,
        scale,
        defines,
        max_tries,
        continue_on_error,
        exit_on_abort: _,
        verbose_errors: _,
        report_per_command: _,
    } = &plan.workload;
    let Load {
        clients,
        end,
        warmup,
        rate_tps,
        latency_limit_us,
        connect_per_transaction,
        reconnect,
        connect: _,
        allow_fewer_clients: _,
        drain_timeout: _,
    } = &plan.load;
    let what = WhatIsRun {
        scripts: scripts.iter().map(|script| (script.text.as_slice(), script.weight)).collect(),
        protocol: *protocol,
        scale: *scale,
        defines,
        max_tries: *max_tries,
        continue_on_error: *continue_on_error,
        clients: *clients,
        end: *end,
        warmup: *warmup,
        rate_tps: *rate_tps,
        latency_limit_us: *latency_limit_us,
        connect_per_transaction: *connect_per_transaction,
        reconnect: *reconnect,
    };
    sha256_hex("pgsurge.workload/1", &what)
}

fn sha256_hex(kind: &str, value: &impl Serialize) -> String {
    let text = serde_json::to_vec(value).expect("plain structs with string keys serialize");
    let mut hash = Sha256::new();
    hash.update(kind.as_bytes());
    hash.update(b"\n");
    hash.update(&text);
    let digest = hash.finalize();
    let nibbles = digest.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    nibbles.filter_map(|nibble| char::from_digit(u32::from(nibble), 16)).collect()
}
