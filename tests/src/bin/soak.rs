//! `pgsurge-soak`: does memory grow with the length of a run? Real processes at full rate on a real server; a table of
//! what each of them held over time, and exit code 1 if one of them grew.

use std::io::{Write, stdout};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use pgsurge_tests::cluster::{Cluster, InProgress, free_address, measured, pgsurge};
use pgsurge_tests::postgres::{Postgres, Settings, Version};
use pgsurge_tests::process::{Running, let_pass};
use pgsurge_tests::usage;

/// Far beyond what starting and ending take.
const PATIENCE: Duration = Duration::from_secs(120);

/// The run at full rate: a closed loop, all statistics that cost memory, a log, clients that come back.
const LOAD: [&str; 9] =
    ["-S", "-n", "-P", "5", "-c", "16", "--reconnect", "-l", "--sampling-rate=0.01"];

/// The part of the run, from its beginning, whose memory is not judged: buffers, caches of the allocator, pages of
/// histograms that the first slow transactions fall into.
const SETTLING: f64 = 0.25;

/// What a process may grow by while it is judged: `.0` kibibytes, and `.1` for each second.
struct Bound(f64, f64);

/// Nothing is kept, so this is the allocator's chance and pages of histograms that are touched once. An interval that
/// is kept would be 190 KiB a second.
const AGENT: Bound = Bound(1024.0, 0.1);

/// The same, and up to the 3600th second a point with a packed histogram of each, some kB; from there on none.
const COORDINATOR: Bound = Bound(1024.0, 6.0);

/// Soaks a coordinator and two agents; what follows `--` goes to the run, over its own arguments.
#[derive(Parser)]
struct Arguments {
    /// Length of the run in minutes.
    #[arg(default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    minutes: u32,
    /// Seconds from one look at the memory to the next.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=60))]
    every: u32,
    /// Arguments of `pgsurge run`, such as `-R 5000`.
    #[arg(last = true)]
    run: Vec<String>,
}

/// What was seen at one moment.
struct Look {
    at_s: f64,
    coordinator_kib: u64,
    agents_kib: [u64; 2],
    transactions: u64,
    folder_bytes: u64,
}

fn main() -> std::io::Result<ExitCode> {
    let Arguments { minutes, every, run: further } = Arguments::parse();
    let server = Postgres::start(Version::V15, &Settings::new());
    let mut init = pgsurge(&["init", "-q", "-s", "10", &server.uri()]);
    let _ = Running::run("init", &mut init, PATIENCE).expect_code(0);
    let logs = tempfile::tempdir()?;
    let cluster = agents(logs.path());

    let seconds = (minutes * 60).to_string();
    let mut arguments = LOAD.to_vec();
    arguments.extend(["-T", &seconds]);
    arguments.extend(further.iter().map(String::as_str));
    writeln!(stdout(), "pgsurge run {} with 2 agents", arguments.join(" "))?;
    let uri = server.uri();
    arguments.push(&uri);
    let run = cluster.run(&arguments).start();
    let looks = watch(&cluster, run, Duration::from_secs(every.into()))?;
    judge(&looks)
}

/// Two agents that write their logs where they may.
fn agents(logs: &Path) -> Cluster {
    let mut cluster = Cluster::at(free_address());
    for name in ["a1", "a2"] {
        let mut command = pgsurge(&cluster.agent_arguments(name));
        command.current_dir(logs);
        cluster.add(command);
    }
    cluster
}

/// Looks at all processes until the run ends, and prints a line a minute.
fn watch(cluster: &Cluster, mut run: InProgress, every: Duration) -> std::io::Result<Vec<Look>> {
    writeln!(
        stdout(),
        "\n| minute | coordinator MiB | agent 1 MiB | agent 2 MiB | transactions | results kB |"
    )?;
    writeln!(stdout(), "|---|---|---|---|---|---|")?;
    run.process.wait_for_stderr("progress: ", PATIENCE);
    let begun = Instant::now();
    let mut looks: Vec<Look> = Vec::new();
    while !run.process.has_ended() {
        if let Some(look) = look(cluster, &run, begun) {
            if looks.last().is_none_or(|last| minute(last) < minute(&look)) {
                print(&look)?;
            }
            looks.push(look);
        }
        let_pass(every);
    }
    let report = run.finish(PATIENCE).expect_code(0);
    let verdict = report.finished.stdout.lines().find(|line| line.starts_with("verdict "));
    writeln!(stdout(), "\n{}", verdict.unwrap_or("no verdict"))?;
    Ok(looks)
}

fn minute(look: &Look) -> u64 {
    Duration::from_secs_f64(look.at_s).as_secs() / 60
}

/// Nothing if a process has just ended.
fn look(cluster: &Cluster, run: &InProgress, begun: Instant) -> Option<Look> {
    let agent = |index| usage::resident_kib(cluster.agent(index).pid());
    Some(Look {
        at_s: begun.elapsed().as_secs_f64(),
        coordinator_kib: usage::resident_kib(run.process.pid())?,
        agents_kib: [agent(0)?, agent(1)?],
        transactions: transactions(&run.partial_folder().join("intervals.csv")),
        folder_bytes: size(&run.partial_folder()),
    })
}

/// Transactions of the intervals that are written so far.
fn transactions(table: &Path) -> u64 {
    let Ok(table) = std::fs::read_to_string(table) else { return 0 };
    measured(&table, "transactions").iter().filter_map(|count| count.parse::<u64>().ok()).sum()
}

/// Bytes of all files of a folder; what goes away meanwhile counts nothing.
fn size(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let of = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => size(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    };
    entries.filter_map(Result::ok).map(of).sum()
}

fn print(look: &Look) -> std::io::Result<()> {
    let Look { coordinator_kib, agents_kib: [one, two], transactions, .. } = look;
    let [coordinator, one, two] = [coordinator_kib, one, two].map(|kib| *kib as f64 / 1024.0);
    let (minute, results) = (minute(look), look.folder_bytes / 1000);
    writeln!(
        stdout(),
        "| {minute} | {coordinator:.1} | {one:.1} | {two:.1} | {transactions} | {results} |"
    )
}

/// Holds the growth of each process against its bound.
fn judge(looks: &[Look]) -> std::io::Result<ExitCode> {
    let settled = looks.last().map_or(0.0, |last| last.at_s) * SETTLING;
    let grows = |who: &str, Bound(once, per_s): Bound, kib: fn(&Look) -> u64| {
        let judged = looks.iter().filter(|look| look.at_s >= settled);
        let points: Vec<_> = judged.map(|look| (look.at_s, kib(look) as f64)).collect();
        let span_s = points.last().map_or(0.0, |last| last.0) - settled;
        let (growth, bound) = (slope(&points) * span_s, once + per_s * span_s);
        let word = if growth > bound { "grows" } else { "flat" };
        writeln!(
            stdout(),
            "{who}: {word}, {growth:.0} KiB in {span_s:.0} s, at most {bound:.0} KiB"
        )?;
        std::io::Result::Ok(growth > bound)
    };
    let any = grows("coordinator", COORDINATOR, |look| look.coordinator_kib)?
        | grows("agent 1", AGENT, |look| look.agents_kib[0])?
        | grows("agent 2", AGENT, |look| look.agents_kib[1])?;
    Ok(if any { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The slope of the straight line that is nearest to these points by least squares.
fn slope(points: &[(f64, f64)]) -> f64 {
    let mean =
        |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / points.len() as f64;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let both: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    let squares: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
    if squares > 0.0 { both / squares } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::slope;

    #[test]
    fn the_slope_is_that_of_the_line_through_the_points() {
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} is not {b}");
        near(slope(&[(0.0, 5.0), (10.0, 25.0), (20.0, 45.0)]), 2.0);
        near(slope(&[(0.0, 1.0), (1.0, 2.0), (2.0, 1.0)]), 0.0);
        near(slope(&[(3.0, 1.0)]), 0.0);
    }
}
