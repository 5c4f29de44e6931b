//! The one binary: reads what it is to be, and is it. The only files that know both the coordinator's
//! library and the agent's are this one and `local.rs`.

mod local;

use std::io::Write;

use anyhow::{Context, Result};
use pgsurge_common::outcome::ExitCode;
use pgsurge_coordinator::cli::run::Surroundings;
use pgsurge_coordinator::cli::{self, Invocation, Verbosity, logging, tell};
use pgsurge_coordinator::{secrecy, signals};

fn main() -> std::process::ExitCode {
    let variable = |name: &str| std::env::var(name).ok();
    let outcome = secrecy::keep_memory_private(variable(secrecy::OPEN).as_deref())
        .context("cannot keep memory private")
        .and_then(|()| Ok(Invocation::read(std::env::args_os().skip(1), variable)?))
        .and_then(execute);
    let code = outcome.unwrap_or_else(|error| {
        tell::error(&error);
        ExitCode::Usage
    });
    std::process::ExitCode::from(code as u8)
}

fn execute(invocation: Invocation) -> Result<ExitCode> {
    match invocation {
        Invocation::Show(text) => {
            // A pager that was closed is no error.
            let _ = std::io::stdout().write_all(text.as_bytes());
            Ok(ExitCode::Done)
        }
        Invocation::Tell(text) => {
            let _ = std::io::stderr().write_all(text.as_bytes());
            Ok(ExitCode::Done)
        }
        Invocation::Run(args, connection, verbosity) => {
            logging::start(filter(verbosity));
            block_on(async {
                let surroundings = Surroundings {
                    local_agent: local::agent(),
                    interrupts: signals::interrupts()?,
                    page: None,
                };
                cli::run::run(*args, &connection, surroundings).await
            })
        }
        Invocation::Init(args, connection, verbosity) => {
            logging::start(filter(verbosity));
            block_on(async { cli::init::init(args, &connection, signals::interrupts()?).await })
        }
        Invocation::Certs(args) => {
            let text = cli::certs::certs(&args)?;
            // The certificates are there, whoever listens.
            let _ = std::io::stdout().write_all(text.as_bytes());
            Ok(ExitCode::Done)
        }
        Invocation::Capacity(args) => {
            logging::start(filter(Verbosity::Normal));
            block_on(async { cli::capacity::capacity(args, each_run()?).await })
        }
        Invocation::Sweep(args) => {
            logging::start(filter(Verbosity::Normal));
            block_on(async { cli::sweep::sweep(args, each_run()?).await })
        }
        Invocation::Tune(args) => {
            logging::start(filter(Verbosity::Normal));
            block_on(async { cli::tune::tune(args, each_run()?).await })
        }
        Invocation::Compare(args) => cli::compare::compare_sets(&args),
        Invocation::Man(args) => {
            let pages = cli::man::write(&args)?;
            tell::line(&format_args!("{pages} pages are in {}", args.folder.display()));
            Ok(ExitCode::Done)
        }
        Invocation::Report(args) => {
            let text = cli::report::report(&args)?;
            let _ = std::io::stdout().write_all(text.as_bytes());
            Ok(ExitCode::Done)
        }
        Invocation::Agent(args) => {
            logging::start("info");
            block_on(local::serve(args))
        }
    }
}

/// What each run of an experiment gets.
fn each_run() -> Result<impl Fn() -> Result<Surroundings>> {
    let interrupts = signals::interrupts()?;
    Ok(move || {
        let (local_agent, interrupts) = (local::agent(), interrupts.clone());
        Ok(Surroundings { local_agent, interrupts, page: None })
    })
}

fn filter(verbosity: Verbosity) -> &'static str {
    match verbosity {
        Verbosity::Normal => "warn",
        Verbosity::Debug => "debug,h2=info,hyper=info,tonic=info,tower=info",
    }
}

/// One thread is enough for everything that is not load: workers have runtimes of their own.
fn block_on(work: impl Future<Output = Result<ExitCode>>) -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let outcome = runtime.block_on(work);
    // A look-up of a name that nobody waits for any more may take the resolver half a minute.
    runtime.shutdown_background();
    outcome
}
