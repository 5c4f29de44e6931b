//! An agent's totals.

use pgsurge_common::stats::{
    ClientCount, ConnectStats, LogTotals, Outage, Outages, StatementStats, Totals,
};

use super::stats::fraction;
use crate::error::{WireError, each, required};
use crate::wire;

impl From<&ConnectStats> for wire::ConnectStats {
    fn from(connect: &ConnectStats) -> Self {
        let ConnectStats {
            wanted,
            obtained,
            elapsed_us,
            latency,
            opened,
            errors,
            example,
            server_identity,
        } = connect;
        Self {
            wanted: *wanted,
            obtained: *obtained,
            elapsed_us: *elapsed_us,
            latency: Some(latency.into()),
            opened: Some(opened.into()),
            errors: Some(errors.into()),
            example: example.clone(),
            server_identity: server_identity.clone(),
        }
    }
}

impl TryFrom<wire::ConnectStats> for ConnectStats {
    type Error = WireError;

    fn try_from(wire: wire::ConnectStats) -> Result<Self, WireError> {
        if wire.obtained > wire.wanted {
            return Err(WireError::invalid("ConnectStats.obtained", &"more than wanted"));
        }
        Ok(Self {
            wanted: wire.wanted,
            obtained: wire.obtained,
            elapsed_us: wire.elapsed_us,
            latency: required(wire.latency, "ConnectStats.latency")?,
            opened: required(wire.opened, "ConnectStats.opened")?,
            errors: required(wire.errors, "ConnectStats.errors")?,
            example: wire.example,
            server_identity: wire.server_identity,
        })
    }
}

impl From<StatementStats> for wire::StatementStats {
    fn from(statement: StatementStats) -> Self {
        let StatementStats { latency, failures, retries } = statement;
        Self { latency: Some(latency.into()), failures, retries }
    }
}

impl TryFrom<wire::StatementStats> for StatementStats {
    type Error = WireError;

    fn try_from(wire: wire::StatementStats) -> Result<Self, WireError> {
        Ok(Self {
            latency: required(wire.latency, "StatementStats.latency")?,
            failures: wire.failures,
            retries: wire.retries,
        })
    }
}

impl From<&Outages> for wire::Outages {
    fn from(outages: &Outages) -> Self {
        let Outages { listed, more } = outages;
        Self { listed: listed.iter().map(Into::into).collect(), more: *more }
    }
}

impl TryFrom<wire::Outages> for Outages {
    type Error = WireError;

    fn try_from(wire: wire::Outages) -> Result<Self, WireError> {
        if wire.listed.len() > Self::MOST {
            return Err(WireError::invalid("Outages.listed", &wire.listed.len()));
        }
        Ok(Self { listed: each(wire.listed)?, more: wire.more })
    }
}

impl From<&Outage> for wire::Outage {
    fn from(outage: &Outage) -> Self {
        let Outage { start_us, end_us, over, clients, first_error, last_error } = outage;
        Self {
            start_us: *start_us,
            end_us: *end_us,
            over: *over,
            clients: *clients,
            first_error: first_error.clone(),
            last_error: last_error.clone(),
        }
    }
}

impl TryFrom<wire::Outage> for Outage {
    type Error = WireError;

    fn try_from(wire: wire::Outage) -> Result<Self, WireError> {
        let wire::Outage { start_us, end_us, over, clients, first_error, last_error } = wire;
        if end_us < start_us {
            return Err(WireError::invalid("Outage.end_us", &"before its start"));
        }
        Ok(Self { start_us, end_us, over, clients, first_error, last_error })
    }
}

impl From<&Totals> for wire::Totals {
    fn from(totals: &Totals) -> Self {
        let Totals {
            measured,
            warmup,
            extra_commits,
            commits_unpredictable,
            connect,
            errors,
            aborted,
            aborted_clients,
            start_offset_us,
            last_end_us,
            inherited_backlog,
            statements,
            clients,
            cpu_fraction,
            outages,
            reconnecting,
            log,
        } = totals;
        let statements = statements.iter().map(|script| wire::ScriptStatements {
            statements: script.iter().map(|statement| (*statement).into()).collect(),
        });
        let aborted = aborted
            .iter()
            .map(|(client, reason)| wire::Aborted { client: *client, reason: reason.clone() });
        Self {
            measured: Some((*measured).into()),
            warmup: Some((*warmup).into()),
            extra_commits: *extra_commits,
            commits_unpredictable: commits_unpredictable.clone(),
            connect: Some(connect.into()),
            errors: Some(errors.into()),
            aborted: aborted.collect(),
            aborted_clients: *aborted_clients,
            start_offset_us: *start_offset_us,
            last_end_us: *last_end_us,
            inherited_backlog: *inherited_backlog,
            statements: statements.collect(),
            clients: clients.iter().map(|count| count.client).collect(),
            client_transactions: clients.iter().map(|count| count.transactions).collect(),
            cpu_fraction: *cpu_fraction,
            outages: Some(outages.into()),
            reconnecting: Some(reconnecting.into()),
            log: log.map(Into::into),
        }
    }
}

impl TryFrom<wire::Totals> for Totals {
    type Error = WireError;

    fn try_from(wire: wire::Totals) -> Result<Self, WireError> {
        let statements = wire.statements.into_iter().map(|script| each(script.statements));
        Ok(Self {
            measured: required(wire.measured, "Totals.measured")?,
            warmup: required(wire.warmup, "Totals.warmup")?,
            extra_commits: wire.extra_commits,
            commits_unpredictable: wire.commits_unpredictable,
            connect: required(wire.connect, "Totals.connect")?,
            errors: required(wire.errors, "Totals.errors")?,
            aborted: wire.aborted.into_iter().map(|a| (a.client, a.reason)).collect(),
            aborted_clients: wire.aborted_clients,
            start_offset_us: wire.start_offset_us,
            last_end_us: wire.last_end_us,
            inherited_backlog: wire.inherited_backlog,
            statements: statements.collect::<Result<_, _>>()?,
            clients: client_counts(&wire.clients, &wire.client_transactions)?,
            cpu_fraction: fraction(wire.cpu_fraction, "Totals.cpu_fraction")?,
            outages: required(wire.outages, "Totals.outages")?,
            reconnecting: required(wire.reconnecting, "Totals.reconnecting")?,
            log: wire.log.map(Into::into),
        })
    }
}

impl From<LogTotals> for wire::LogTotals {
    fn from(log: LogTotals) -> Self {
        let LogTotals { files, lines, bytes, lost_lines } = log;
        Self { files, lines, bytes, lost_lines }
    }
}

impl From<wire::LogTotals> for LogTotals {
    fn from(wire: wire::LogTotals) -> Self {
        let wire::LogTotals { files, lines, bytes, lost_lines } = wire;
        Self { files, lines, bytes, lost_lines }
    }
}

fn client_counts(clients: &[u32], transactions: &[u64]) -> Result<Vec<ClientCount>, WireError> {
    if clients.len() != transactions.len() {
        return Err(WireError::invalid(
            "Totals.client_transactions",
            &"columns of different length",
        ));
    }
    let pairs = clients.iter().zip(transactions);
    Ok(pairs.map(|(&client, &transactions)| ClientCount { client, transactions }).collect())
}
