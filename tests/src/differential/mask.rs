//! What differs between two runs by nature: times, the programs' names, what only a cluster says.
//!
//! Counts stay: a run of `-t` transactions has the same ones whoever makes it.

use super::sides::{SEED, Side};

/// How an output is looked at.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// Whose output it is.
    pub side: Side,
    /// Amounts depend on the clock too: mask every figure.
    pub loose: bool,
    /// Several clients speak in an order of their own.
    pub unordered: bool,
}

/// Lines of standard output up to the block that pgbench does not have.
#[must_use]
pub fn stdout(text: &str, view: View) -> Vec<String> {
    let pgbenchs = text.split("\n\nrun 2").next().unwrap_or_default();
    // Version 15 goes on where nothing was counted.
    let lines = pgbenchs.trim_end().lines().filter(|line| !line.contains("(NaN%)")).map(|line| {
        let banner = line.starts_with("pgbench (") || line.starts_with("pgsurge (");
        if banner { "banner".to_owned() } else { report_line(&neutral(line)) }
    });
    lines.map(|line| if view.loose { figures(&line) } else { line }).collect()
}

/// A line of the report without the figures that are times.
fn report_line(line: &str) -> String {
    // Workers are told per agent and counted over all of them.
    if line.starts_with("number of threads: ") {
        return figures(line);
    }
    if let Some((label, _)) = line.split_once(" ms latency limit: ") {
        return format!("{label} ms latency limit: N");
    }
    if line.starts_with("rate limit schedule lag: ") {
        return figures(line);
    }
    // Rows of -r: a time, then counts and the command.
    let mut words = line.split_whitespace();
    let first = words.next().unwrap_or_default();
    if line.starts_with(' ') && first.contains('.') && first.parse::<f64>().is_ok() {
        let words: Vec<&str> = words.collect();
        return format!("N {}", words.join(" "));
    }
    match line.split_once(" = ") {
        Some((label, value)) if value.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
            format!("{label} = {}", figures(value))
        }
        _ => line.to_owned(),
    }
}

/// Lines of standard error without what only one of the programs says.
#[must_use]
pub fn stderr(text: &str, view: View) -> Vec<String> {
    let seed = format!(": setting random seed to {SEED}");
    let lines = text.lines().filter(|line| !is_of_the_cluster(line) && !line.ends_with(&seed));
    let mut lines: Vec<String> = lines
        .map(|line| {
            let line = neutral(line);
            if line.starts_with("progress: ") {
                return figures(without_fleet(&line));
            }
            let line = if view.side == Side::Cluster { without_agent(&line) } else { line };
            let timed = line.starts_with("done in ") || line.contains(" (elapsed ");
            if view.loose || timed { figures(&line) } else { line }
        })
        .collect();
    if view.unordered || view.loose {
        lines.sort();
    }
    if view.loose {
        lines.dedup();
    }
    lines
}

/// Sessions as lines.
#[must_use]
pub fn sent(sessions: &[Vec<String>], view: View) -> Vec<String> {
    if view.loose {
        let mut all: Vec<String> = sessions.iter().flatten().map(|sent| figures(sent)).collect();
        all.sort();
        all.dedup();
        return all;
    }
    let session = |(number, sent): (usize, &Vec<String>)| {
        let lines = sent.iter().map(move |sent| format!("{number}: {sent}"));
        lines.collect::<Vec<_>>()
    };
    sessions.iter().enumerate().flat_map(session).collect()
}

/// Names and lines of log files with figures masked; process ids are figures too, and equal lines count
/// once.
#[must_use]
pub fn logs(logs: &[(String, String)]) -> Vec<String> {
    let of_file = |(name, text): &(String, String)| {
        let mut lines: Vec<String> = text.lines().map(figures).collect();
        lines.dedup();
        let name = figures(name);
        lines.into_iter().map(move |line| format!("{name}: {line}")).collect::<Vec<_>>()
    };
    logs.iter().flat_map(of_file).collect()
}

/// Either program's name becomes the same word.
fn neutral(line: &str) -> String {
    for name in ["pgbench", "pgsurge"] {
        if let Some(rest) = line.strip_prefix(name).and_then(|rest| rest.strip_prefix(": ")) {
            // Minor versions of before August 2026 call the option wrongly.
            let rest = rest.replace("-c/--clients", "-c/--client");
            return rest.replace(&format!("\"{name} "), "\"TOOL ");
        }
    }
    if let Some((before, after)) = line.split_once("...pgbench: ") {
        return format!("{before}...{after}");
    }
    if let Some((before, after)) = line.split_once("...pgsurge: ") {
        return format!("{before}...{after}");
    }
    // getopt speaks with the path of the program, and without calling it an error.
    match line.split_once("/bin/pgbench: ") {
        Some((path, rest)) if path.starts_with('/') => format!("error: {rest}"),
        _ => line.to_owned(),
    }
}

fn is_of_the_cluster(line: &str) -> bool {
    let told = [
        "pgsurge: warning: the target's host ",
        "pgsurge: waiting for ",
        // On a starved machine.
        "pgsurge: warning: the start was called off",
    ];
    told.iter().any(|start| line.starts_with(start))
}

/// A progress line without the number of clients and agents at its end.
fn without_fleet(line: &str) -> &str {
    let is_fleet = |part: &&str| {
        let word = part.trim_start_matches(|c: char| c.is_ascii_digit());
        matches!(word, " client" | " clients" | " agent" | " agents")
    };
    let fleet: usize = line.rsplit(", ").take_while(is_fleet).map(|part| part.len() + 2).sum();
    &line[..line.len() - fleet]
}

/// In a cluster a client's message names its agent.
fn without_agent(line: &str) -> String {
    ["a1: ", "a2: "].iter().fold(line.to_owned(), |line, agent| line.replacen(agent, "", 1))
}

/// Every number becomes `N`, and every run of blanks one: a figure's width is its own business.
#[must_use]
pub fn figures(line: &str) -> String {
    let mut masked = String::new();
    for c in line.chars() {
        let c = if c.is_ascii_digit() { 'N' } else { c };
        if !(matches!(c, 'N' | ' ') && masked.ends_with(c)) {
            masked.push(c);
        }
    }
    masked
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: View = View { side: Side::Local, loose: false, unordered: false };

    #[test]
    fn counts_stay_and_times_go() {
        let text = "pgsurge (0.1.0, server 18.6)\nnumber of threads: 2\n\
            number of transactions actually processed: 10/20\nlatency average = 0.125 ms\n \
            - number of transactions actually processed: 5 (tps = 12.5)\n\
            \x20        0.012           3  SELECT  1;\ntps = 17.250000 (without x)\n\nrun 2026: more\n";
        assert_eq!(
            stdout(text, OURS),
            [
                "banner",
                "number of threads: N",
                "number of transactions actually processed: 10/20",
                "latency average = N.N ms",
                " - number of transactions actually processed: 5 (tps = N.N)",
                "N 3 SELECT 1;",
                "tps = N.N (without x)"
            ]
        );
    }

    #[test]
    fn what_an_agent_is_called_and_what_follows_progress_is_left_out() {
        let text = "pgsurge: waiting for 2 agents on 127.0.0.1:1\n\
            pgsurge: error: a1: client 0 aborted\n\
            progress: 1.0 s, 12.5 tps, 0 failed, 2 clients, 2 agents\n";
        let view = View { side: Side::Cluster, ..OURS };
        let lines = ["error: client 0 aborted", "progress: N.N s, N.N tps, N failed"];
        assert_eq!(stderr(text, view), lines);
    }
}
