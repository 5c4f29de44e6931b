//! `--web`: a run watched while it goes on, in a browser and by Prometheus.

use std::io::{Read, Write};
use std::net::TcpStream;

use pgsurge_tests::browser::load_address;
use pgsurge_tests::cluster::{Cluster, InProgress, Run, pgsurge};
use pgsurge_tests::process::{Running, eventually};

use super::fixture::{PATIENCE, world};

/// The address that a run has told.
fn address(run: &InProgress) -> String {
    address_of(&run.process)
}

fn address_of(process: &Running) -> String {
    let line = process.wait_for_stderr("can be watched on", PATIENCE);
    let url = line.split_whitespace().last().unwrap();
    url.trim_start_matches("http://").trim_end_matches('/').to_owned()
}

/// One request, with all that comes back.
fn ask(address: &str, method: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(stream, "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// What an element of the page has in it.
fn inside<'a>(document: &'a str, id: &str) -> &'a str {
    let (_, rest) = document.split_once(&format!("id=\"{id}\">")).unwrap();
    rest.split_once('<').unwrap().0
}

#[test]
fn a_browser_that_watches_ends_with_the_figures_of_the_report() {
    let world = world();
    let uri = world.server.uri();
    let arguments = ["-n", "-c", "4", "-j", "1", "-T", "6", "-b", "tpcb-like", "-b", "select-only"];
    let more = ["--web", "127.0.0.1:0", uri.as_str()];
    let cluster = Cluster::start(2);
    let run = cluster.run(&[&arguments[..], &more[..]].concat()).start();
    let page = load_address(&format!("http://{}/", address(&run)));
    let report = run.finish(PATIENCE).expect_code(0);

    assert_eq!(page.console, [""; 0], "the console is silent");
    assert_eq!(inside(&page.document, "stage"), "done");
    let transactions = report.figure("/totals/transactions");
    assert_eq!(inside(&page.document, "transactions"), format!("{transactions}"));
    for chart in ["throughput", "latency", "agents-throughput", "agents-cpu", "scripts-latency"] {
        let drawn = page.document.split_once(&format!("data-chart=\"{chart}\"")).unwrap().1;
        assert!(drawn.contains("js-line"), "{chart} has no lines");
    }
    for agent in ["a1", "a2"] {
        assert!(page.document.contains(&format!("<td>{agent}</td>")), "{agent} is not listed");
    }
}

#[test]
fn figures_grow_and_nothing_can_be_changed() {
    let world = world();
    let uri = world.server.uri();
    let arguments =
        ["-n", "-S", "-c", "2", "-T", "600", "--web", "127.0.0.1:0", "--drain-timeout", "1"];
    let run = Run::local(&[&arguments[..], &[&uri]].concat()).start();
    let address = address(&run);
    assert!(ask(&address, "GET", "/healthz").ends_with("ok\n"));
    let counted = || {
        let metrics = ask(&address, "GET", "/metrics");
        let line = metrics.lines().find(|line| line.starts_with("pgsurge_transactions_total "));
        line.map_or(0, |line| line.split_once(' ').unwrap().1.parse().unwrap())
    };
    eventually("transactions are counted", PATIENCE, || counted() > 0);
    let before: u64 = counted();
    eventually("more of them", PATIENCE, || counted() > before);
    for (method, path, status) in [
        ("POST", "/", "405"),
        ("DELETE", "/metrics", "405"),
        ("GET", "/etc/passwd", "404"),
        ("GET", "/../../etc/passwd", "404"),
    ] {
        let answer = ask(&address, method, path);
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{method} {path}: {answer:.200}"
        );
    }
    run.process.signal(rustix::process::Signal::INT);
    let report = run.finish(PATIENCE).expect_code(130);
    assert!(TcpStream::connect(&address).is_err(), "the page went with the run");
    assert!(report.figure("/totals/transactions") > 0.0);
}

#[test]
fn viewers_that_do_not_read_and_many_of_them_do_not_hold_up_a_run() {
    let world = world();
    let uri = world.server.uri();
    let arguments = ["-n", "-S", "-c", "2", "-T", "5", "--web", "127.0.0.1:0", &uri];
    let run = Run::local(&arguments).start();
    let address = address(&run);
    let open = |_| {
        let mut stream = TcpStream::connect(&address).unwrap();
        write!(stream, "GET /events HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        stream
    };
    let viewers: Vec<TcpStream> = (0..100).map(open).collect();
    let _ = run.finish(PATIENCE).expect_code(0);
    drop(viewers);
}

#[test]
fn an_address_that_cannot_be_had_is_told_before_anything_is_done() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let nowhere = "postgresql://127.0.0.1:1/nowhere";
    for (address, code, said) in [
        (port.as_str(), 1, "cannot serve the page on 127.0.0.1"),
        ("everywhere", 1, "invalid value \"everywhere\" for option --web"),
        ("127.0.0.1", 1, "invalid value \"127.0.0.1\" for option --web"),
    ] {
        let report = Run::local(&["-t", "1", "--web", address, nowhere]).finish(PATIENCE);
        let finished = report.expect_code(code).finished;
        assert!(finished.stderr.contains(said), "{finished}");
        assert!(!finished.stderr.contains("connection to server"), "{finished}");
    }
}

#[test]
fn the_runs_of_a_sweep_are_watched_at_one_address() {
    let world = world();
    let results = tempfile::tempdir().unwrap();
    let mut command = pgsurge(&["sweep", "--axis", "clients=1,2", "--repeats", "1", "--results"]);
    command.arg(results.path().join("sweep"));
    command.args(["-n", "-S", "-T", "4", "--web", "127.0.0.1:0"]).arg(world.server.uri());
    let sweep = Running::start("sweep", &mut command);
    let address = address_of(&sweep);
    let clients = || {
        let metrics = ask(&address, "GET", "/metrics");
        let line = metrics.lines().find(|line| line.starts_with("pgsurge_clients "));
        line.map_or(0.0, |line| line.split_once(' ').unwrap().1.parse::<f64>().unwrap())
    };
    eventually("the first run is shown", PATIENCE, || clients() > 0.5);
    // A stream ends with its run; the next one begins with the figures of the run that goes on then.
    let mut first = TcpStream::connect(&address).unwrap();
    write!(first, "GET /events HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    first.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut events = String::new();
    let _ = first.read_to_string(&mut events);
    assert!(events.contains("\"stage\":\"done\""), "{events:.2000}");
    assert!(events.contains("\"several\":true"), "{events:.2000}");
    assert!(ask(&address, "GET", "/healthz").ends_with("ok\n"), "between runs");
    eventually("the second run is shown", PATIENCE, || clients() > 1.5);
    let finished = sweep.wait(PATIENCE).expect_code(0);
    assert!(TcpStream::connect(&address).is_err(), "the page went with the sweep: {finished}");
}
