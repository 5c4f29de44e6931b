//! What reaches the server in each protocol, and what comes back into variables.

use pgsurge_common::plan::Protocol;
use pgsurge_tests::loading::Loading;

use super::{server, with_tables};

const PROTOCOLS: [Protocol; 3] = [Protocol::Simple, Protocol::Extended, Protocol::Prepared];

#[test]
fn built_in_scripts_leave_one_row_of_history_for_each_transaction() {
    let server = server();
    with_tables(&server);
    for protocol in PROTOCOLS {
        for name in ["tpcb-like", "simple-update"] {
            server.execute("truncate pgbench_history");
            let loaded = Loading::builtin(server.port(), name)
                .clients(5, 2)
                .transactions(20)
                .protocol(protocol)
                .run();
            assert_eq!(loaded.totals.measured.transactions, 100);
            assert_eq!(loaded.by_client(), [20; 5]);
            assert_eq!(server.value("select count(*) from pgbench_history"), "100");
        }
    }
    let balances = server.query(
        "select (select sum(abalance) from pgbench_accounts) > 0 is not null,
            (select sum(tbalance) from pgbench_tellers) = (select sum(bbalance) from pgbench_branches)",
    );
    assert_eq!(balances[0][1].as_deref(), Some("t"), "tellers and branches agree");
}

#[test]
fn values_of_a_client_depend_on_its_number_and_not_on_the_number_of_workers() {
    let server = server();
    server.execute("create table drawn(round int, client int, n serial, value bigint)");
    let script = "\\set v random(1, 1000000000)\n\
        insert into drawn(round, client, value) values (:round, :client_id, :v);\n";
    for (round, workers) in [(1, 1), (2, 3), (3, 7)] {
        let mut loading = Loading::script(server.port(), script).clients(7, workers);
        loading.plan.workload.defines = vec![("round".into(), round.to_string())];
        let loaded = loading.run();
        assert_eq!(loaded.totals.measured.transactions, 70);
    }
    let distinct = server.value(
        "select count(distinct vs) from
         (select client, round, string_agg(value::text, ',' order by n) vs from drawn group by 1, 2) x",
    );
    assert_eq!(distinct, "7", "one sequence a client, the same in all rounds");
}

#[test]
fn results_are_stored_and_used_again() {
    let server = server();
    server.execute("create table seen(a text, b text, c text, d text)");
    let script = "select 1 as one, null as nothing \\gset p_\n\
        select 2 as two \\; select 3 as three \\aset\n\
        select 4 as four where false \\; select 5 as five \\aset\n\
        insert into seen values (':p_one', ':p_nothing', ':two :three', ':five');\n";
    let loaded = Loading::script(server.port(), script).transactions(1).run();
    assert_eq!(loaded.totals.measured.transactions, 1);
    let rows = server.query("select * from seen");
    let row: Vec<_> = rows[0].iter().flatten().map(String::as_str).collect();
    assert_eq!(row, ["1", "", "2 3", "5"]);
}

#[test]
fn a_pipeline_travels_whole_and_is_read_at_its_end() {
    let server = server();
    server.execute("create table piped(x int)");
    let script = "\\startpipeline\n\
        insert into piped values (1);\n\
        \\syncpipeline\n\
        insert into piped values (2);\n\
        insert into piped values (3);\n\
        \\endpipeline\n\
        \\startpipeline\n\
        \\endpipeline\n\
        select 1;\n";
    for protocol in [Protocol::Extended, Protocol::Prepared] {
        server.execute("truncate piped");
        let loaded = Loading::script(server.port(), script).clients(2, 1).protocol(protocol).run();
        assert_eq!(loaded.totals.measured.transactions, 20);
        assert_eq!(server.value("select count(*) from piped"), "60");
    }
}

#[test]
fn undefined_variables_are_null_and_values_are_text() {
    let server = server();
    server.execute("create table sent(a text, b text)");
    let script = "\\set x 1.5 * 2\ninsert into sent values (:x, :nobody);\n";
    for protocol in [Protocol::Extended, Protocol::Prepared] {
        let loading = Loading::script(server.port(), script).transactions(1).protocol(protocol);
        assert_eq!(loading.run().totals.measured.transactions, 1);
    }
    let rows = server.query("select * from sent");
    assert_eq!(rows, vec![vec![Some("3".into()), None]; 2]);
}

#[test]
fn shell_commands_run_only_where_they_are_allowed() {
    let server = server();
    let script = "\\setshell n echo 41\n\\shell test :n = 41\nselect 1 / (case when :n = 41 then 1 else 0 end);\n";
    let mut loading = Loading::script(server.port(), script).transactions(2);
    let refused = loading.prepare().unwrap_err().to_string();
    assert!(refused.contains("--allow-shell") && refused.contains("setshell"), "{refused}");
    loading.options.allow_shell = true;
    assert_eq!(loading.run().totals.measured.transactions, 2);
}

#[test]
fn each_command_is_timed_if_asked_for() {
    let server = server();
    let script = "\\set x 1\nselect pg_sleep(0.02);\nselect 1;\n";
    let mut loading = Loading::script(server.port(), script).clients(2, 2).transactions(3);
    loading.plan.workload.report_per_command = true;
    let loaded = loading.run();
    let commands = &loaded.totals.statements[0];
    let counts: Vec<_> = commands.iter().map(|command| command.latency.count).collect();
    assert_eq!(counts, [6, 6, 6]);
    assert!(commands[1].latency.min >= 20_000 && commands[0].latency.max < 20_000);
}
