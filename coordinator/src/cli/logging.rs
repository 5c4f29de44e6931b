//! Logs of the program about itself: stderr only, levels by role, `PGSURGE_LOG` for more.
//!
//! What belongs to a benchmark's own output (progress, notices of clients) is not a log and does not
//! pass through here.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

/// Sets up logging for the life of the process. `default` is a filter such as `warn` or `pgsurge=debug`;
/// `PGSURGE_LOG` overrides it, and `PGSURGE_LOG_FORMAT=json` prints one JSON object a line.
pub fn start(default: &str) {
    let filter = EnvFilter::try_from_env("PGSURGE_LOG").unwrap_or_else(|_| EnvFilter::new(default));
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false)
        // A standard error that is gone is no reason to fail.
        .log_internal_errors(false);
    if std::env::var("PGSURGE_LOG_FORMAT").is_ok_and(|format| format == "json") {
        builder.json().init();
    } else {
        builder.compact().init();
    }
}
