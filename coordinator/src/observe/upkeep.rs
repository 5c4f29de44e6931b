//! What pgbench does to its tables before each run: vacuum, and empty `pgbench_history`.
//!
//! Failures are told and otherwise ignored, because custom scripts may come without these tables.

use std::io::Write;

use super::session::Session;

/// Does it and tells so on `err`; `accounts` is `-v`.
pub async fn upkeep(session: &mut Session, accounts: bool, err: &mut dyn Write) {
    let small = ["vacuum pgbench_branches", "vacuum pgbench_tellers", "truncate pgbench_history"];
    step(session, "starting vacuum...", &small, err).await;
    if accounts {
        let large = ["vacuum analyze pgbench_accounts"];
        step(session, "starting vacuum pgbench_accounts...", &large, err).await;
    }
}

async fn step(session: &mut Session, title: &str, statements: &[&str], err: &mut dyn Write) {
    // Standard error that is gone is no reason to skip the upkeep.
    let _ = write!(err, "{title}");
    for sql in statements {
        let outcome = session.execute(sql).await;
        for notice in session.notices() {
            let _ = writeln!(err, "{notice}");
        }
        if let Err(error) = outcome {
            let _ = writeln!(err, "pgsurge: error: {}", error.message);
            let _ = writeln!(err, "pgsurge: detail: (ignoring this error and continuing anyway)");
        }
    }
    let _ = writeln!(err, "end.");
}
