//! `pgsurge completions`: a script that teaches a shell the program's words.

use clap::{Command, Parser};
use clap_complete::Shell;

use super::help::{self, Mode};

/// Print a script that completes pgsurge's options for a shell
#[derive(Clone, Debug, Parser)]
#[command(
    name = "completions",
    display_name = "pgsurge-completions",
    bin_name = "pgsurge completions",
    version = super::version::number()
)]
pub struct CompletionsArgs {
    /// the shell that is to read it
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

/// The script.
#[must_use]
pub fn script(args: &CompletionsArgs) -> String {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut completed(), "pgsurge", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// The program with the options of a run and of `init` also where they may stand without that word: at the top, as
/// in pgbench, and behind the options of an experiment.
fn completed() -> Command {
    const TAKE_RUN_OPTIONS: [&str; 3] = ["capacity", "sweep", "tune"];
    let (run, init) = (help::subcommand(Mode::Run), help::subcommand(Mode::Init));
    let program = TAKE_RUN_OPTIONS.into_iter().fold(help::program(), |program, name| {
        program.mut_subcommand(name, |experiment| with_options_of(&run, experiment))
    });
    with_options_of(&init, with_options_of(&run, program))
}

/// Adds the options that are not there yet, neither by their long name nor by their letter.
fn with_options_of(other: &Command, command: Command) -> Command {
    other.get_opts().filter(|opt| !matches!(opt.get_id().as_str(), "help" | "version")).fold(
        command,
        |command, opt| {
            let taken = command.get_arguments().any(|known| {
                known.get_id() == opt.get_id()
                    || known.get_long() == opt.get_long()
                    || (known.get_short().is_some() && known.get_short() == opt.get_short())
            });
            if taken { command } else { command.arg(opt.clone()) }
        },
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use clap::ValueEnum as _;

    use super::*;

    #[test]
    fn every_shell_gets_a_script_that_names_the_options() {
        completed().debug_assert();
        for shell in Shell::value_variants() {
            let script = script(&CompletionsArgs { shell: *shell });
            for word in ["agents", "coordinator", "slo", "fillfactor"] {
                assert!(script.contains(word), "{shell}: no {word}");
            }
        }
    }

    #[test]
    fn an_experiment_keeps_its_own_options_and_takes_those_of_a_run() {
        let program = completed();
        let capacity = program.find_subcommand("capacity").unwrap();
        let named = |long| capacity.get_arguments().filter(move |arg| arg.get_long() == Some(long));
        assert_eq!(named("results").count(), 1);
        assert_eq!(named("agents").count(), 1);
        assert_eq!(named("fillfactor").count(), 0);
    }
}
