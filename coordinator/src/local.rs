//! The agent's role in this program: as a process of its own, and as the agent inside `pgsurge run`.

use anyhow::Result;
use pgsurge_agent::load::LoadOptions;
use pgsurge_agent::session::{
    self, AgentOptions, Coordinator, LoadEngine, Shutdown, host_name, raise_file_limit,
};
use pgsurge_common::outcome::ExitCode;
use pgsurge_coordinator::cli::agent::AgentArgs;
use pgsurge_coordinator::cli::run::{StartLocalAgent, identity};
use pgsurge_coordinator::signals;

/// `pgsurge agent`.
pub async fn serve(args: AgentArgs) -> Result<ExitCode> {
    raise_file_limit();
    let interrupts = signals::interrupts()?;
    let options = AgentOptions {
        coordinator: Coordinator::Tcp {
            tls: identity(&args.tls())?,
            address: args.coordinator,
            insecure: args.insecure,
        },
        name: args.name.unwrap_or_else(host_name),
        once: args.once,
        give_up_after: args.give_up_after,
    };
    let allowed = LoadOptions {
        allow_shell: args.allow_shell,
        allow_targets: args.allow_target,
        max_clients: args.max_clients,
        log_anywhere: false,
    };
    let engine = LoadEngine { options: allowed };
    let shutdown = Shutdown { drain: interrupts.drain, abort: interrupts.abort };
    session::serve(options, engine, shutdown).await?;
    Ok(ExitCode::Done)
}

/// The agent inside `pgsurge run`. The coordinator hears the signals and ends the run through the
/// protocol, so this agent listens to none itself. It may run shell commands and write logs
/// anywhere: so would pgbench on this host.
pub fn agent() -> StartLocalAgent {
    // Also for a run of other agents: each of them takes a connection.
    raise_file_limit();
    Box::new(|pipes| {
        let options = AgentOptions {
            coordinator: Coordinator::Pipe(pipes),
            name: "local".to_owned(),
            once: true,
            give_up_after: None,
        };
        let allowed =
            LoadOptions { allow_shell: true, log_anywhere: true, ..LoadOptions::default() };
        let engine = LoadEngine { options: allowed };
        tokio::spawn(async move {
            if let Err(error) = session::serve(options, engine, Shutdown::default()).await {
                tracing::error!("the agent inside this process ended: {error}");
            }
        });
    })
}
