//! `pgsurge-fleet`: what a fleet of simulated agents costs its coordinator. Not a test: figures are for people.

use std::io::{Write, stdout};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use pgsurge_agent::session::raise_file_limit;
use pgsurge_tests::simulated_fleet::{Observed, Size, Used, observe};

/// Runs a coordinator under simulated agents, which send what agents send and have no load.
#[derive(Parser)]
struct Arguments {
    /// Agents.
    #[arg(default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    agents: u32,
    /// Seconds of the measured part.
    #[arg(default_value_t = 60, value_parser = clap::value_parser!(u32).range(3..))]
    seconds: u32,
    /// Clients of each agent.
    #[arg(long, default_value_t = 10)]
    clients: u32,
    /// Transactions of each client in a second.
    #[arg(long, default_value_t = 100)]
    transactions: u32,
}

fn main() -> std::io::Result<ExitCode> {
    let Arguments { agents, seconds, clients, transactions } = Arguments::parse();
    raise_file_limit();
    let observed = observe(Size { agents, clients, transactions, seconds });
    let finished = &observed.report.finished;
    let complete = finished.code() == Some(0);
    if complete {
        print(&observed)?;
    } else {
        writeln!(stdout(), "{finished}")?;
    }
    Ok(if complete { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn print(observed: &Observed) -> std::io::Result<()> {
    let Observed { report, diary, attaching, measuring, peak_kib, shown_after, made_after } =
        observed;
    let spread = report.finished.stdout.lines().find_map(|line| line.strip_prefix("start spread "));
    let [before, after] = peak_kib.map(|kib| kib as f64 / 1024.0);
    let cores = |used: &Used, s: f64| s / used.elapsed.as_secs_f64();
    for (what, value) in [
        ("from dialling to the start", format!("{:.2} s", attaching.elapsed.as_secs_f64())),
        ("coordinator's CPU until then", cpu_s(attaching)),
        ("start spread", spread.unwrap_or("unknown").trim().to_owned()),
        (
            "coordinator's CPU after it",
            format!(
                "{:.2} cores ({:.2} user, {:.2} system)",
                cores(measuring, measuring.user_s + measuring.system_s),
                cores(measuring, measuring.user_s),
                cores(measuring, measuring.system_s)
            ),
        ),
        ("peak memory at the start", format!("{before:.0} MiB")),
        ("peak memory at the end", format!("{after:.0} MiB")),
        ("interval shown after its end", times(shown_after)),
        ("last agent had made it after", times(made_after)),
        ("transactions", diary.transactions().to_string()),
    ] {
        writeln!(stdout(), "{what:<29} {value}")?;
    }
    Ok(())
}

fn cpu_s(used: &Used) -> String {
    let Used { user_s, system_s, .. } = used;
    format!("{:.2} s ({user_s:.2} user, {system_s:.2} system)", user_s + system_s)
}

fn times(times: &[Duration]) -> String {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let ms = |at: usize| sorted.get(at).map_or(0.0, |time| time.as_secs_f64() * 1000.0);
    let last = sorted.len().saturating_sub(1);
    format!("{:.0} ms in the median, {:.0} ms at most", ms(last / 2), ms(last))
}
