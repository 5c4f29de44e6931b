//! The rules of a plan that every client follows, as plain values: how to send, when to stop, when to
//! try again.

use std::time::Duration;

use pgsurge_common::plan::{End, Plan, Protocol};

/// See the module.
#[allow(clippy::struct_excessive_bools)] // each is an option of the command line
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rules {
    /// How statements travel.
    pub(crate) protocol: Protocol,
    /// Measured transactions of each client (`-t`).
    pub(crate) transactions: Option<u64>,
    /// A new connection for every transaction (`-C`).
    pub(crate) connect_each: bool,
    /// A client whose session is lost opens another (`--reconnect`).
    pub(crate) reconnect: bool,
    /// How long it tries. In a run of a given length it tries to the end; one of a number of transactions
    /// would else never end.
    pub(crate) give_up_after: Option<Duration>,
    /// Due times come from a rate (`-R`), not from the client.
    pub(crate) rate_limited: bool,
    /// `None` is unlimited.
    pub(crate) max_tries: Option<u32>,
    /// No further try once a transaction has taken so long (`-L`).
    pub(crate) latency_limit_us: Option<u64>,
    /// Other SQL errors fail the transaction instead of ending the client.
    pub(crate) continue_on_error: bool,
    /// The first aborted client ends the whole run.
    pub(crate) exit_on_abort: bool,
    /// Each error, retry and failure becomes a notice.
    pub(crate) verbose_errors: bool,
    /// Each command is timed (`-r`).
    pub(crate) time_commands: bool,
}

impl Rules {
    /// The rules of a plan.
    pub(crate) fn of(plan: &Plan) -> Self {
        let (workload, load) = (&plan.workload, &plan.load);
        Self {
            protocol: workload.protocol,
            transactions: match load.end {
                End::Transactions(count) => Some(count),
                End::Duration(_) => None,
            },
            connect_each: load.connect_per_transaction,
            reconnect: load.reconnect,
            give_up_after: match load.end {
                End::Transactions(_) => Some(load.connect.timeout),
                End::Duration(_) => None,
            },
            rate_limited: load.rate_tps.is_some(),
            max_tries: workload.max_tries,
            latency_limit_us: load.latency_limit_us,
            continue_on_error: workload.continue_on_error,
            exit_on_abort: workload.exit_on_abort,
            verbose_errors: workload.verbose_errors,
            time_commands: workload.report_per_command,
        }
    }

    /// Whether a transaction that was tried `tries` times and has taken `elapsed_us` may be tried again.
    pub(crate) fn may_retry(&self, tries: u32, elapsed_us: u64) -> bool {
        self.max_tries.is_none_or(|most| tries < most)
            && self.latency_limit_us.is_none_or(|limit| elapsed_us <= limit)
    }
}
