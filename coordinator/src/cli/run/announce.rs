//! Everything that `run` says: pgbench's lines where it has them, the program's name before the rest.
//!
//! The report goes to stdout, all else to stderr. A reader that has gone away is no error of the run.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::Path;

use anyhow::Result;
use pgsurge_common::outcome::ExitCode;
use pgsurge_common::target::{Address, Target};
use pgsurge_common::wording::counted;
use tokio_util::sync::CancellationToken;

use crate::cli::bench::{BenchArgs, Format};
use crate::cli::tell::{self, line, warning};
use crate::observe::Facts;
use crate::report::summary::PrewarmSummary;
use crate::report::{self, RunResult, summary};
use crate::run::Aborted;

/// What precedes the reason for which no load was generated.
pub const NOT_STARTED: &str = "the run did not start";

/// The seed, where the user named the way to it.
pub fn seed(args: &BenchArgs) {
    if args.seed.announced {
        line(&format_args!("setting random seed to {}", args.seed.value));
    }
}

/// Says that the first signal was heard, once it is.
pub async fn interrupt(drain: CancellationToken) {
    drain.cancelled().await;
    line(&"interrupted, what is in flight is finished; interrupt again to end it at once");
}

/// Agents on other hosts have a localhost of their own.
pub fn local_target(args: &BenchArgs, target: &Target) {
    if args.cluster.agents.is_some()
        && let Some(host) = target.local_host()
    {
        let host = match &host.address {
            Address::Unix(folder) => format!("socket in {}", folder.display()),
            Address::Tcp { .. } => format!("host {host}"),
        };
        warning(&format_args!(
            "the target's {host} means each agent's own host; agents elsewhere will not find it"
        ));
    }
}

/// `-s` has no effect on built-in scripts.
pub fn scale_ignored(scale: u32) {
    warning(&format_args!(
        "scale option ignored, using count from pgbench_branches table ({scale})"
    ));
}

/// Where agents can dial in.
pub fn waiting(agents: u32, address: SocketAddr) {
    line(&format_args!("waiting for {} on {address}", counted(agents.into(), "agent")));
}

/// The first line of the report.
pub fn banner(args: &BenchArgs, facts: &Facts) -> Result<()> {
    if !super::is_text(args) {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    tolerant(report::pgbench::banner(&mut out, &facts.version).and_then(|()| out.flush()))
}

/// The rest of it, or the summary document.
pub fn report(args: &BenchArgs, result: &RunResult) -> Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let printed = match args.cluster.format {
        Format::Text => report::pgbench::report(&mut out, result)
            .and_then(|()| report::cluster::report(&mut out, result))
            .and_then(|()| metrics(&mut out, args, result)),
        Format::Json => report::json(&mut out, &summary::Summary::from(result)),
        Format::Nothing => Ok(()),
    };
    tolerant(printed.and_then(|()| out.flush()))
}

fn metrics(out: &mut impl Write, args: &BenchArgs, result: &RunResult) -> io::Result<()> {
    if args.cluster.metrics_line {
        writeln!(out, "{}", report::metrics::line(result))?;
    }
    Ok(())
}

/// What is in the server's cache, and what is not.
pub fn prewarmed(warmed: &PrewarmSummary) {
    let PrewarmSummary { method, relations, blocks, seconds, shared_buffers_blocks, problems } =
        warmed;
    line(&format_args!(
        "prewarmed {relations} tables and indexes, {blocks} blocks in {seconds:.3} s by {method}"
    ));
    if blocks > shared_buffers_blocks {
        line(&format_args!("note: shared_buffers hold {shared_buffers_blocks} blocks of them"));
    }
    for problem in problems {
        line(&format_args!("note: prewarming: {problem}"));
    }
}

/// Where the results are.
pub fn results(place: &Path) {
    line(&format_args!("results are in {}", place.display()));
}

/// What could not be written, with the exit code of a run that is fine otherwise.
pub fn not_written(error: &anyhow::Error) -> ExitCode {
    tell::error(error);
    ExitCode::Usage
}

/// pgbench's last line when clients did not finish.
pub fn incomplete() {
    line(&"error: Run was aborted; the above results are incomplete.");
}

/// Why there is no report; pgbench has one line for `--exit-on-abort`.
pub fn aborted_run(aborted: &Aborted) {
    let reason = match aborted {
        Aborted::ClientEnded => "Run was aborted due to an error in a client",
        Aborted::Because(reason) => reason,
    };
    line(&format_args!("error: {reason}"));
}

fn tolerant(printed: io::Result<()>) -> Result<()> {
    match printed {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(anyhow::Error::from(error).context("cannot write the report to stdout"))
        }
        _ => Ok(()),
    }
}
