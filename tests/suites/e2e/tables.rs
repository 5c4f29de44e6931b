//! `run` works on the tables it finds; `init` alone makes them.

use pgsurge_tests::cluster::Run;

use super::fixture::{PATIENCE, World};

/// What tells a table from one made anew, dropped or emptied: its file, and its rows.
fn state(world: &World, tables: &str) -> String {
    let files = "select string_agg(relname || ' ' || relfilenode || ' ' || oid, ', ' order by relname) \
         from pg_class where relnamespace = 'public'::regnamespace";
    let rows: Vec<String> =
        tables.split(' ').map(|table| format!("{table} {}", world.count(table))).collect();
    format!("{}\n{}", world.server.value(files), rows.join(", "))
}

const ALL: &str = "pgbench_accounts pgbench_branches pgbench_history pgbench_tellers";

#[test]
fn a_select_only_run_leaves_every_table_as_it_was() {
    let world = World::with_tables();
    world.server.execute("insert into pgbench_history (tid) values (1)");
    let before = state(&world, ALL);
    let run = Run::local(&["-S", "-n", "-c", "2", "-t", "20", &world.uri]);
    let _ = run.finish(PATIENCE).expect_code(0);
    assert_eq!(state(&world, ALL), before);
}

#[test]
fn a_tpcb_run_adds_rows_to_the_history_and_makes_no_table_anew() {
    let world = World::with_tables();
    let unchanged = "pgbench_accounts pgbench_branches pgbench_tellers";
    let before = state(&world, unchanged);
    let run = Run::local(&["-n", "-c", "2", "-t", "20", &world.uri]);
    let _ = run.finish(PATIENCE).expect_code(0);
    assert_eq!(state(&world, unchanged), before);
    assert_eq!(world.history_rows(), 40);
}
