//! What goes wrong, how it is counted, and what is said of it: pgbench's rules and words.

use pgsurge_common::plan::Protocol;
use pgsurge_tests::loading::{Loaded, Loading};
use pgsurge_tests::postgres::Postgres;

use super::server;

/// A function that shows its argument and fails in two of three calls.
const FLAKY: &str =
    "create sequence calls; create function flaky(v bigint, state text) returns void
    language plpgsql as $$ begin
        raise notice 'called with %', v;
        if nextval('calls') % 3 <> 0 then raise 'not now' using errcode = state; end if;
    end $$";

fn aborted(loaded: &Loaded) -> &str {
    assert_eq!(loaded.totals.aborted_clients, 1, "{:?}", loaded.totals.aborted);
    let (client, reason) = &loaded.totals.aborted[0];
    assert_eq!(*client, 0);
    loaded.assert_notice(reason);
    reason
}

fn run_once(server: &Postgres, script: &str, protocol: Protocol) -> Loaded {
    Loading::script(server.port(), script).transactions(1).protocol(protocol).run()
}

#[test]
fn serialization_failures_are_tried_again_with_the_same_values() {
    let server = server();
    server.execute(FLAKY);
    let script = "\\set v random(1, 1000000000)\nbegin;\nselect flaky(:v, '40001');\nend;\n";
    for protocol in [Protocol::Simple, Protocol::Extended, Protocol::Prepared] {
        let mut loading = Loading::script(server.port(), script).protocol(protocol);
        loading.plan.workload.max_tries = Some(10);
        loading.plan.workload.report_per_command = true;
        let loaded = loading.run();
        let measured = &loaded.totals.measured;
        assert_eq!((measured.transactions, measured.failed()), (10, 0));
        assert_eq!((measured.retried, measured.retries), (10, 20));
        assert_eq!(loaded.totals.errors.0.get("40001"), Some(&20));
        assert_eq!(loaded.totals.statements[0][2].retries, 20);
        let calls: Vec<_> =
            loaded.notices.iter().filter(|notice| notice.contains("called with")).collect();
        assert_eq!(calls.len(), 30);
        assert!(calls.chunks(3).all(|tries| tries[0] == tries[1] && tries[1] == tries[2]));
        assert_ne!(calls[0], calls[3]);
    }
}

#[test]
fn failures_are_counted_by_class_and_do_not_end_the_client() {
    let server = server();
    server.execute(FLAKY);
    for (state, field) in [("40001", 0), ("40P01", 1)] {
        server.execute("select setval('calls', 3)");
        let script = format!("select flaky(1, '{state}');\n");
        let mut loading = Loading::script(server.port(), &script).transactions(9);
        loading.plan.workload.report_per_command = true;
        let loaded = loading.run();
        let measured = &loaded.totals.measured;
        let failures = [measured.serialization_failures, measured.deadlock_failures];
        assert_eq!((measured.transactions, failures[field], measured.failed()), (3, 6, 6));
        assert_eq!(loaded.totals.statements[0][0].failures, 6);
        assert_eq!((measured.retried, loaded.totals.aborted_clients), (0, 0));
    }
}

#[test]
fn verbose_errors_tell_each_try() {
    let server = server();
    server.execute(FLAKY);
    server.execute("select setval('calls', 3)");
    let mut loading = Loading::script(server.port(), "select flaky(1, '40001');\n").transactions(1);
    loading.plan.workload.max_tries = Some(2);
    loading.plan.workload.verbose_errors = true;
    let loaded = loading.run();
    loaded.assert_notice("client 0 got an error in command 0 (SQL) of script 0; ERROR:  not now");
    loaded.assert_notice("client 0 repeats the transaction after the error (try 1/2)");
    loaded.assert_notice("client 0 ends the failed transaction (try 2/2)");
}

#[test]
fn other_errors_end_the_client_in_the_words_of_pgbench() {
    let server = server();
    let cases = [
        (
            "select 1;\nselect 1/0;\n",
            "client 0 script 0 aborted in command 1 query 0: ERROR:  division by zero",
        ),
        (
            "select 1 \\; selec 2;\n",
            "client 0 script 0 aborted in command 0 query 0: ERROR:  syntax error",
        ),
        (
            "select 1 where false \\gset\n",
            "client 0 script 0 command 0 query 0: expected one row, got 0",
        ),
        (
            "select 1 \\; select * from generate_series(1, 2) \\gset\n",
            "client 0 script 0 command 0 query 1: expected one row, got 2",
        ),
        (
            "drop table if exists nobody \\gset\n",
            "client 0 script 0 command 0 query 0: expected one row, got 0",
        ),
        (
            "select 1 as \"no name\" \\gset\n",
            "client 0 script 0 command 0 query 0: error storing into variable no name",
        ),
        ("copy pg_class to stdout;\n", "COPY is not supported in pgbench, aborting"),
        (
            "create temp table x(y int);\ncopy x from stdin;\n",
            "COPY is not supported in pgbench, aborting",
        ),
        (
            "select 1;\n\\set x 1/0\n",
            "client 0 aborted in command 1 (set) of script 0; evaluation of meta-command failed",
        ),
        (
            "\\startpipeline\n",
            "client 0 aborted in command 0 (startpipeline) of script 0; cannot use pipeline mode with the simple query protocol",
        ),
    ];
    for (script, words) in cases {
        let loaded = run_once(&server, script, Protocol::Simple);
        assert!(aborted(&loaded).starts_with(words), "{:?}", loaded.totals.aborted);
        assert_eq!(loaded.totals.measured.transactions, 0, "{script}");
        assert_eq!(loaded.totals.measured.failed(), 0, "{script}");
    }
    let division = run_once(&server, "\\set x 1/0\nselect 1;\n", Protocol::Simple);
    division.assert_notice("division by zero");
}

#[test]
fn errors_point_into_the_statement() {
    let server = server();
    let loaded = run_once(&server, "\\set x 1\nselect :x as a, nothing;\n", Protocol::Simple);
    let reason = aborted(&loaded);
    assert!(reason.contains("LINE 1: select 1 as a, nothing;"), "{reason}");
    assert!(reason.ends_with('^'), "{reason}");
}

#[test]
fn a_statement_that_cannot_be_prepared_is_missed_when_it_is_executed() {
    let server = server();
    let loaded = run_once(&server, "selec 1;\n", Protocol::Prepared);
    loaded.assert_notice("syntax error");
    assert!(aborted(&loaded).contains("prepared statement \"P_0\" does not exist"));
}

#[test]
fn a_pipeline_that_fails_or_stays_open_ends_the_client() {
    let server = server();
    let cases = [
        (
            "\\startpipeline\nselect 1;\n",
            "client 0 aborted: end of script reached with pipeline open",
        ),
        (
            "\\startpipeline\nselect 1/0;\n\\syncpipeline\nselect 1;\n\\endpipeline\n",
            "client 0 script 0 aborted in command 4 query 0: ERROR:  division by zero",
        ),
        (
            "\\startpipeline\nselect 1 \\gset\n\\endpipeline\n",
            "client 0 aborted in command 1 (gset) of script 0; \\gset is not allowed in pipeline mode",
        ),
    ];
    for (script, words) in cases {
        for protocol in [Protocol::Extended, Protocol::Prepared] {
            let loaded = run_once(&server, script, protocol);
            assert!(aborted(&loaded).starts_with(words), "{:?}", loaded.totals.aborted);
        }
    }
}

#[test]
fn a_block_left_open_counts_and_then_ends_the_client() {
    let server = server();
    let loaded = Loading::script(server.port(), "begin;\nselect 1;\n").run();
    assert_eq!(loaded.totals.measured.transactions, 1);
    assert_eq!(
        aborted(&loaded),
        "client 0 aborted: end of script reached without completing the last transaction"
    );
}

#[test]
fn errors_may_fail_the_transaction_instead_of_the_client() {
    let server = server();
    let script = "begin;\nselect 1/(random(1, 2) - 1);\nend;\n".replace("random(1, 2)", ":v");
    let script = format!("\\set v random(1, 2)\n{script}");
    let mut loading = Loading::script(server.port(), &script).transactions(40);
    loading.plan.workload.continue_on_error = true;
    let loaded = loading.run();
    let measured = &loaded.totals.measured;
    assert_eq!(measured.transactions + measured.other_failures, 40);
    assert!(measured.transactions > 5 && measured.other_failures > 5, "{measured:?}");
    assert_eq!(loaded.totals.errors.0.get("22012"), Some(&measured.other_failures));
    assert_eq!(loaded.totals.aborted_clients, 0);
}

#[test]
fn a_session_ended_by_the_server_ends_its_client_and_no_other() {
    let server = server();
    let script = "select pg_terminate_backend(pg_backend_pid()) where :client_id = 1;\nselect 1;\n";
    let loaded = Loading::script(server.port(), script).clients(3, 1).run();
    assert_eq!(loaded.by_client(), [10, 0, 10]);
    assert_eq!(loaded.totals.aborted_clients, 1);
    loaded.assert_notice("FATAL:  terminating connection due to administrator command");
    assert_eq!(loaded.totals.errors.0.get("57P01"), Some(&1));
}

#[test]
fn the_first_aborted_client_may_end_the_run() {
    let server = server();
    let script = "select 1/(:client_id - 1);\n";
    let mut loading = Loading::script(server.port(), script)
        .clients(3, 3)
        .duration(std::time::Duration::from_secs(300));
    loading.plan.workload.exit_on_abort = true;
    let loaded = loading.run();
    assert_eq!(loaded.abort_run, Some((pgsurge_common::ids::WorkerId(1), None)));
}

#[test]
fn a_storm_of_errors_is_cut_short() {
    let server = server();
    let script = "do $$ begin for i in 1..3000 loop raise notice 'n'; end loop; end $$;\n";
    let loaded = Loading::script(server.port(), script).transactions(2).run();
    assert!(loaded.notices.len() <= 3010, "{} notices", loaded.notices.len());
}
