//! How each finding is brought about: by a fault of the kind that it is about, in a run that a user could
//! have started.

use std::time::Duration;

use pgsurge_tests::cluster::{Cluster, Report, Run, free_address, pgsurge};
use pgsurge_tests::process::eventually;
use pgsurge_tests::proxy::Proxy;
use pgsurge_tests::wall_clock;
use rustix::process::Signal;

use super::liar::{self, Lie};
use super::stage::{PATIENCE, Ration, Stage, finish_rationed};

/// One finding and the run that shows it.
pub struct Demonstration {
    pub code: &'static str,
    pub how: &'static str,
    pub run: fn(&Stage) -> Report,
}

const fn demonstration(
    code: &'static str,
    how: &'static str,
    run: fn(&Stage) -> Report,
) -> Demonstration {
    Demonstration { code, how, run }
}

/// All of them.
pub const DEMONSTRATIONS: [Demonstration; 15] = [
    demonstration("agent-lost", "one of two agents is killed in the third second", agent_lost),
    demonstration(
        "intervals-missing",
        "an agent keeps its intervals from the third on to itself",
        intervals_missing,
    ),
    demonstration(
        "count-mismatch",
        "an agent counts 1000 transactions that never were, everywhere in the same way",
        count_mismatch,
    ),
    demonstration(
        "histogram-clipped",
        "a statement of 37 s, measured by a clock that runs a hundred times as fast",
        histogram_clipped,
    ),
    demonstration(
        "no-transactions",
        "a statement that would run for ten minutes, interrupted twice",
        no_transactions,
    ),
    demonstration(
        "start-spread",
        "one of two agents is stopped for 400 of every 440 ms, the start among them",
        start_spread,
    ),
    demonstration(
        "clock-unstable",
        "an agent behind a network with a round trip of 40 ms",
        clock_unstable,
    ),
    demonstration("client-bound", "an agent is stopped for 120 of every 200 ms", client_bound),
    demonstration(
        "schedule-lag",
        "-R 100 for two clients whose statement takes 50 ms: 40 a second are possible",
        schedule_lag,
    ),
    demonstration(
        "outage",
        "the server ends all sessions in the third second, --reconnect",
        outage,
    ),
    demonstration(
        "log-incomplete",
        "-l --collect-logs, and one of two agents is killed before it can send its log",
        log_incomplete,
    ),
    demonstration(
        "clients-missing",
        "five clients for a role that may have three sessions, --allow-fewer-clients",
        clients_missing,
    ),
    demonstration("clients-aborted", "one of four clients divides by zero", clients_aborted),
    demonstration("cut-short", "interrupted after a second of a minute", cut_short),
    demonstration("short-run", "ten transactions", short_run),
];

fn agent_lost(stage: &Stage) -> Report {
    let mut cluster = Cluster::start(2);
    let run = cluster.run(&["-c", "4", "-T", "30", "-P", "1", "--lease", "2", "-n", &stage.uri]);
    let run = run.start();
    run.process.wait_for_stderr("progress: 3.0 s", PATIENCE);
    drop(cluster.take(1));
    run.finish(PATIENCE)
}

fn with_liar(stage: &Stage, lie: Lie) -> Report {
    let listen = free_address();
    let liar = liar::start(listen, lie);
    let listen = listen.to_string();
    let arguments = ["-c", "4", "-j", "1", "-T", "5", "-n", "--agents", "1", "--listen", &listen];
    let mut run = Run::local(&arguments);
    run.command.arg(&stage.uri);
    let report = run.finish(PATIENCE);
    liar.join().expect("the liar ends with the run");
    report
}

fn intervals_missing(stage: &Stage) -> Report {
    with_liar(stage, Lie::Silence)
}

fn count_mismatch(stage: &Stage) -> Report {
    with_liar(stage, Lie::Boast(1000))
}

fn histogram_clipped(stage: &Stage) -> Report {
    let script = stage.script("long.sql", "select pg_sleep(37);\n");
    let patient = ["--lease", "600", "--connect-wait", "6000"];
    let mut run = Run::local(&["-t", "1", "-n", "-f", &script]);
    run.command.args(patient).arg(&stage.uri);
    wall_clock::hasten(&mut run.command, 100);
    run.finish(PATIENCE)
}

fn no_transactions(stage: &Stage) -> Report {
    let script = stage.script("ages.sql", "select pg_sleep(600);\n");
    let run = Run::local(&["-T", "60", "-n", "-f", &script, &stage.uri]).start();
    let asleep = "select count(*) from pg_stat_activity where state = 'active' \
                  and query like '%pg_sleep(600)%' and pid <> pg_backend_pid()";
    eventually("the statement runs", PATIENCE, || stage.server.value(asleep) == "1");
    run.process.signal(Signal::INT);
    run.process.wait_for_stderr("interrupt again", PATIENCE);
    run.process.signal(Signal::INT);
    run.finish(PATIENCE)
}

fn start_spread(stage: &Stage) -> Report {
    let cluster = Cluster::start(2);
    let run = cluster.run(&["-c", "4", "-T", "3", "-S", "-n", &stage.uri]).start();
    run.process.wait_for_stdout("pgsurge (", PATIENCE);
    let ration = Ration { stopped: Duration::from_millis(400), going: Duration::from_millis(40) };
    finish_rationed(run, cluster.agent(1), ration)
}

fn clock_unstable(stage: &Stage) -> Report {
    let mut cluster = Cluster::start(1);
    let proxy = Proxy::start(cluster.listen());
    proxy.delay(Duration::from_millis(20));
    let address = proxy.address().to_string();
    cluster.add(pgsurge(&["agent", "--coordinator", &address, "--name", "far"]));
    cluster.run(&["-c", "4", "-T", "3", "-S", "-n", &stage.uri]).finish(PATIENCE)
}

fn log_incomplete(stage: &Stage) -> Report {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mut cluster = Cluster::at(free_address());
    for name in ["a1", "a2"] {
        let mut command = pgsurge(&cluster.agent_arguments(name));
        command.current_dir(folder.path());
        cluster.add(command);
    }
    let arguments = ["-S", "-c", "4", "-T", "30", "-P", "1", "--lease", "2", "-n", "-l"];
    let run = cluster.run(&[&arguments[..], &["--collect-logs", &stage.uri]].concat()).start();
    run.process.wait_for_stderr("progress: 2.0 s", PATIENCE);
    drop(cluster.take(1));
    run.finish(PATIENCE)
}

fn client_bound(stage: &Stage) -> Report {
    let cluster = Cluster::start(1);
    let run = cluster.run(&["-c", "4", "-T", "5", "-P", "1", "-S", "-n", &stage.uri]).start();
    run.process.wait_for_stderr("progress: 1.0 s", PATIENCE);
    let ration = Ration { stopped: Duration::from_millis(120), going: Duration::from_millis(80) };
    finish_rationed(run, cluster.agent(0), ration)
}

fn schedule_lag(stage: &Stage) -> Report {
    let script = stage.script("slow.sql", "select pg_sleep(0.05);\n");
    let arguments = ["-c", "2", "-T", "8", "-R", "100", "-n", "-f", &script, &stage.uri];
    Run::local(&arguments).finish(PATIENCE)
}

fn outage(stage: &Stage) -> Report {
    let arguments = ["-c", "4", "-T", "5", "-P", "1", "--reconnect", "-n", &stage.uri];
    let run = Run::local(&arguments).start();
    run.process.wait_for_stderr("progress: 2.0 s", PATIENCE);
    stage.server.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity \
         where application_name like 'pgsurge%' and pid <> pg_backend_pid()",
    );
    run.finish(PATIENCE)
}

fn clients_missing(stage: &Stage) -> Report {
    stage.server.execute("drop role if exists few");
    stage.server.execute("create role few login connection limit 3");
    let script = stage.script("one.sql", "select 1;\n");
    let uri = stage.server.uri_for("few", "postgres");
    let arguments = ["-c", "5", "-t", "100", "-n", "-f", &script, "--connect-wait", "2"];
    let mut run = Run::local(&arguments);
    run.command.args(["--allow-fewer-clients", &uri]);
    run.finish(PATIENCE)
}

fn clients_aborted(stage: &Stage) -> Report {
    let script = stage
        .script("zero.sql", "\\if :client_id = 0\nselect 1 / 0;\n\\else\nselect 1;\n\\endif\n");
    Run::local(&["-c", "4", "-t", "1000", "-n", "-f", &script, &stage.uri]).finish(PATIENCE)
}

fn cut_short(stage: &Stage) -> Report {
    let run = Run::local(&["-T", "60", "-P", "1", "-n", &stage.uri]).start();
    run.process.wait_for_stderr("progress: 1.0 s", PATIENCE);
    run.process.signal(Signal::INT);
    run.finish(PATIENCE)
}

fn short_run(stage: &Stage) -> Report {
    Run::local(&["-t", "10", "-n", &stage.uri]).finish(PATIENCE)
}
