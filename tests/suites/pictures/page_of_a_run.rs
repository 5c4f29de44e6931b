//! `report.html` of a run, and the same made again.

use std::path::Path;

use pgsurge_tests::browser::{load, screenshot};
use pgsurge_tests::cluster::{Cluster, Report, Run, pgsurge};
use pgsurge_tests::process::Running;
use serde_json::Value;

use super::fixture::{PATIENCE, World, world};

/// Two agents, two scripts, a rate, statements: everything that a page can show.
fn run(world: &World) -> Report {
    let uri = world.server.uri();
    let arguments = ["-n", "-c", "4", "-j", "1", "-T", "3", "-R", "200", "-r"];
    let scripts = ["-b", "tpcb-like", "-b", "select-only@2", "--observe-interval", "0.5", &uri];
    let cluster = Cluster::start(2);
    cluster.run(&[&arguments[..], &scripts[..]].concat()).finish(PATIENCE).expect_code(0)
}

/// The values that a page shows, with the keys of the summary that they are.
fn shown(document: &str) -> Vec<(String, f64)> {
    let mut values = Vec::new();
    for element in document.split("<data data-key=\"").skip(1) {
        let (key, rest) = element.split_once('"').unwrap();
        let value = rest.split('"').nth(1).unwrap();
        values.push((key.replace('.', "/"), value.parse().unwrap()));
    }
    values
}

fn charts(document: &str) -> Vec<(&str, &str)> {
    let figures = document.split("<figure data-chart=\"").skip(1);
    figures.map(|figure| figure.split_once('"').unwrap()).collect()
}

#[test]
fn a_page_draws_every_chart_and_shows_the_figures_of_the_summary() {
    let world = world();
    let report = run(&world);
    let page = report.folder().join("report.html");
    let loaded = load(&page);
    assert_eq!(loaded.console, [""; 0], "the console is silent");

    let charts = charts(&loaded.document);
    let names: Vec<&str> = charts.iter().map(|(name, _)| *name).collect();
    let expected = [
        "throughput",
        "latency",
        "lag",
        "agents-throughput",
        "agents-latency",
        "agents-cpu",
        "scripts-throughput",
        "scripts-latency",
        "cache",
        "wal",
        "commits",
        "waits",
        "ramp",
        "percentiles",
        "distribution",
    ];
    assert_eq!(names, expected);
    for (name, drawn) in charts {
        assert!(drawn.contains("class=\"scatterlayer"), "{name} has no lines: {drawn:.2000}");
        assert!(drawn.contains("js-line"), "{name} has no lines: {drawn:.2000}");
    }

    let summary = report.summary();
    let shown = shown(&loaded.document);
    assert!(shown.len() > 20, "{shown:?}");
    for (key, value) in shown {
        let known = summary.pointer(&format!("/{key}")).and_then(Value::as_f64);
        assert_eq!(known, Some(value), "{key}");
    }
}

/// A chart's lines, as the page holds them.
fn lines(page: &Path, chart: &str) -> Value {
    let document = std::fs::read_to_string(page).unwrap();
    let (_, figure) = document.split_once(&format!("<figure data-chart=\"{chart}\"")).unwrap();
    let (_, json) = figure.split_once("<script type=\"application/json\">").unwrap();
    let json: Value = serde_json::from_str(json.split_once("</script>").unwrap().0).unwrap();
    json["data"].clone()
}

fn numbers(list: &Value) -> Vec<f64> {
    list.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

#[test]
fn the_servers_charts_are_the_growth_of_its_counters_and_the_ramp_has_every_session() {
    let world = world();
    let report = run(&world);
    let page = report.folder().join("report.html");
    let table = std::fs::read_to_string(report.folder().join("server.csv")).unwrap();
    for (chart, source, figure, unit) in [
        ("wal", "wal_position", "position_bytes", 1e6),
        ("commits", "database", "xact_commit", 1.0),
        ("cache", "database", "blks_hit", 1.0),
    ] {
        let of = format!(",{source},,{figure},");
        let readings: Vec<(f64, f64)> = table
            .lines()
            .filter_map(|line| line.split_once(&of))
            .map(|(t_s, value)| (t_s.parse().unwrap(), value.parse().unwrap()))
            .collect();
        assert!(readings.len() > 4, "{chart}: {readings:?}");
        let line = &lines(&page, chart)[0];
        let (times, rates) = (numbers(&line["x"]), numbers(&line["y"]));
        assert_eq!(times.len(), readings.len() - 1, "{chart}");
        for (n, pair) in readings.windows(2).enumerate() {
            let grew = (pair[1].1 - pair[0].1) / (pair[1].0 - pair[0].0) / unit;
            assert!((rates[n] - grew).abs() <= 1e-6 * grew.max(1.0), "{chart} at {}", times[n]);
        }
    }
    let ramp = &lines(&page, "ramp")[0];
    assert_eq!(numbers(&ramp["y"]), [0.0, 1.0, 2.0, 3.0, 4.0]);
    let seconds = report.figure("/connections/seconds");
    assert!(numbers(&ramp["x"]).iter().all(|t_s| *t_s <= seconds * 1.01), "{ramp}: {seconds}");
}

#[test]
fn temporary_files_have_a_chart_where_there_were_any() {
    let world = world();
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("sort.sql");
    let sort = "set work_mem = '64kB';\nselect max(g) from (select g from generate_series(1, 50000) g \
                order by g desc offset 1) sorted;\n";
    std::fs::write(&script, sort).unwrap();
    let (script, uri) = (script.to_str().unwrap(), world.server.uri());
    let arguments = ["-n", "-c", "2", "-T", "3", "-f", script, "--observe-interval", "0.5", &uri];
    let report = Run::local(&arguments).finish(PATIENCE).expect_code(0);
    let drawn = lines(&report.folder().join("report.html"), "temporary");
    let rates = drawn[0]["y"].as_array().unwrap();
    assert!(rates.iter().any(|rate| rate.as_f64().is_some_and(|rate| rate > 0.0)), "{drawn}");
}

#[test]
fn without_observation_the_server_has_no_charts() {
    let world = world();
    let uri = world.server.uri();
    let arguments = ["-n", "-S", "-c", "2", "-t", "20", "--no-observe", &uri];
    let report = Run::local(&arguments).finish(PATIENCE).expect_code(0);
    let document = std::fs::read_to_string(report.folder().join("report.html")).unwrap();
    for chart in ["cache", "wal", "commits", "waits", "temporary"] {
        assert!(!document.contains(&format!("data-chart=\"{chart}\"")), "{chart}");
    }
}

#[test]
fn a_page_has_the_size_of_its_window_and_is_not_empty() {
    let world = world();
    let report = run(&world);
    let folder = tempfile::tempdir().unwrap();
    let size = (1200, 2000);
    let picture = screenshot(&report.folder().join("report.html"), size, folder.path());
    let png = std::fs::read(picture).unwrap();
    // The first chunk of a PNG file holds its width and height.
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    assert_eq!((number(16), number(20)), size);
    assert!(png.len() > 50_000, "{} bytes", png.len());
}

#[test]
fn what_a_page_asks_of_the_network_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let policy = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
                  script-src 'unsafe-inline'\">";
    let script = "<script>fetch('http://127.0.0.1:9/').catch(() => 0);</script>";
    std::fs::write(&page, format!("<!doctype html>{policy}<p>hello</p>{script}")).unwrap();
    let loaded = load(&page);
    assert!(loaded.document.contains("hello"), "{}", loaded.document);
    assert!(loaded.console.iter().any(|line| line.contains("127.0.0.1:9")), "{:?}", loaded.console);
}

#[test]
fn a_page_can_be_made_again_and_left_out() {
    let world = world();
    let uri = world.server.uri();
    let arguments = ["-n", "-S", "-c", "2", "-t", "20", "--no-html", &uri];
    let report = Run::local(&arguments).finish(PATIENCE).expect_code(0);
    let page = report.folder().join("report.html");
    assert!(!page.exists());
    again(&report.folder());
    let first = std::fs::read(&page).unwrap();
    again(&report.folder());
    assert!(first == std::fs::read(&page).unwrap(), "the same files make the same page");
}

#[track_caller]
fn again(folder: &Path) {
    let mut command = pgsurge(&["report", folder.to_str().unwrap()]);
    let finished = Running::run("report", &mut command, PATIENCE).expect_code(0);
    assert_eq!(finished.stdout, format!("{}\n", folder.join("report.html").display()));
}
