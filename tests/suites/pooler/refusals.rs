//! What cannot work through a pooler: said once, with the setting that makes it work.

use pgsurge_tests::cluster::{Cluster, Report, Run};
use pgsurge_tests::pgbouncer::Pooling;
use pgsurge_tests::postgres::Settings;

use super::fixture::{PATIENCE, World, errors, run};

/// Clients meet each other's statements at once.
fn shared() -> Pooling {
    Pooling::transaction().set("default_pool_size", "2")
}

#[track_caller]
fn assert_one_error_that_names_the_settings(report: &Report) {
    let [line] = errors(report)[..] else { panic!("not one error\n{}", report.finished) };
    for word in ["pool_mode = session", "max_prepared_statements", "-M extended", "P_"] {
        assert!(line.contains(word), "{word}: {line}");
    }
}

#[test]
fn prepared_statements_in_a_transaction_pool_end_the_run_with_one_error() {
    let world = World::start(&Settings::new());
    let pooler = world.pooler(&shared());
    // The second finds what the first has left in the sessions of the pool, with other parameters.
    for script in ["tpcb-like", "select-only"] {
        let arguments = ["-n", "-c", "40", "-j", "2", "-T", "600", "-M", "prepared", "-b", script];
        let report = run(&pooler, &arguments).expect_code(2);
        assert_one_error_that_names_the_settings(&report);
    }
}

#[test]
fn agents_do_not_repeat_each_other_about_prepared_statements() {
    let world = World::start(&Settings::new());
    let pooler = world.pooler(&shared());
    let cluster = Cluster::start(3);
    let arguments = ["-n", "-c", "30", "-j", "2", "-T", "600", "-M", "prepared", &pooler.uri()];
    let report = cluster.run(&arguments).finish(PATIENCE).expect_code(2);
    assert_one_error_that_names_the_settings(&report);
}

#[test]
fn without_a_pooler_the_scripts_own_prepared_statements_fail_as_in_pgbench() {
    let world = World::start(&Settings::new());
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script.sql");
    // The second statement is to be prepared under the name that the first has used.
    std::fs::write(&script, "prepare \"P_1\" as select 1;\nselect 2;\n").unwrap();
    let uri = world.server.uri();
    let file = script.to_str().unwrap();
    let arguments = ["-n", "-c", "1", "-t", "3", "-M", "prepared", "-f", file, &uri];
    let report = Run::local(&arguments).finish(PATIENCE);
    let stderr = &report.finished.stderr;
    assert!(stderr.contains("prepared statement \"P_1\" already exists"), "{}", report.finished);
    assert!(!stderr.contains("pooler"), "{}", report.finished);
}

#[test]
fn a_refused_startup_parameter_is_told_with_the_poolers_setting() {
    let world = World::start(&Settings::new());
    let strict = world.pooler(&Pooling::transaction());
    let lenient =
        world.pooler(&Pooling::transaction().set("ignore_startup_parameters", "options,geqo"));
    for (name, value) in [("PGOPTIONS", "-c work_mem=5MB"), ("PGGEQO", "off")] {
        let with = |uri: &str| {
            let mut run = Run::local(&["-S", "-n", "-c", "2", "-t", "5", uri]);
            run.command.env(name, value);
            run.finish(PATIENCE)
        };
        let refused = with(&strict.uri()).expect_code(1);
        let stderr = &refused.finished.stderr;
        assert!(stderr.contains("unsupported startup parameter"), "{}", refused.finished);
        assert_eq!(stderr.matches("ignore_startup_parameters").count(), 1, "{}", refused.finished);
        assert!(stderr.contains(name), "{}", refused.finished);
        let _ = with(&lenient.uri()).expect_code(0);
    }
}
