//! Answers to what benchmark clients ask about a server before and after their load, so that the fake
//! passes for PostgreSQL 18 at scale 1.
//!
//! Its sessions' process ids are not those of their keys, as behind a pooler: a client must not check
//! its books against this server's counters, which stand still.

use super::answer::{Reply, Rows, Rule, Value};

/// The rules; the first that applies to a statement counts.
pub fn rules() -> Vec<Rule> {
    let none = || Value::Null;
    let text = |text: &str| Value::Text(text.to_owned());
    let row = |values: Vec<Value>| {
        let columns: Vec<(&str, Value)> = values.into_iter().map(|v| ("column", v)).collect();
        Reply::Rows(Rows::one(&columns))
    };
    let numbers = |numbers: &[i64]| row(numbers.iter().map(|n| Value::Int8(*n)).collect());
    let done = |tag: &str| Reply::Done(tag.to_owned());
    [
        ("current_setting('server_version_num')", numbers(&[180_000, 0, 1_700_000_000_000_000])),
        ("has_function_privilege", row(vec![text("1700000000.0"), Value::Int4(0), text("f")])),
        ("from pg_catalog.pg_control_system", numbers(&[7_000_000_000_000_000_000])),
        ("current_setting('max_connections')", numbers(&[100_000, 0, 0, 1, 0, -1, -1, 0, 0, 0])),
        ("from pg_catalog.pg_settings", Reply::Rows(Rows::none(&["name", "setting"]))),
        ("from pgbench_branches", numbers(&[1])),
        // It has no statistics.
        ("has_column_privilege", Reply::Rows(Rows::none(&["view", "column", "readable"]))),
        ("to_regclass('pgbench_accounts')", row(vec![none(), Value::Int8(0)])),
        (
            "from pg_catalog.pg_stat_activity",
            Reply::Rows(Rows::none(&["pid", "type", "name", "activity"])),
        ),
        ("select pg_catalog.pg_backend_pid()", numbers(&[0])),
        ("current_setting('autovacuum')", row(vec![text("off")])),
        ("current_setting('application_name')", row(vec![text("pgsurge")])),
        ("pg_postmaster_start_time", numbers(&[1_700_000_000_000_000])),
        ("pg_stat_force_next_flush", row(vec![none()])),
        (
            "from pg_catalog.pg_stat_database",
            row(vec![Value::Int8(0), Value::Int8(0), Value::Int8(0), Value::Int8(0), none()]),
        ),
        ("count(*) from pgbench_history", numbers(&[0])),
        ("pg_is_in_recovery", row(vec![text("f"), text("off")])),
        ("statement_timeout", done("SET")),
        ("max_parallel_workers_per_gather", done("SET")),
        ("vacuum", done("VACUUM")),
        ("truncate", done("TRUNCATE TABLE")),
    ]
    .into_iter()
    .map(|(contains, reply)| Rule::new(contains, reply))
    .collect()
}
