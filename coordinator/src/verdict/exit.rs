//! The exit code of a run that was started.

use pgsurge_common::outcome::ExitCode;

/// How a run ended, as far as the exit code goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, any mix of which occurs")]
pub struct Ending {
    /// Somebody ended it (a signal).
    pub interrupted: bool,
    /// A client did not finish.
    pub clients_unfinished: bool,
    /// The verdict is invalid, or has warnings where none were allowed (`--require valid`).
    pub invalid: bool,
    /// An expectation about the figures was missed.
    pub expectation_missed: bool,
}

/// The code: an interrupted run says so, otherwise the highest that applies wins.
#[must_use]
pub fn exit_code(ending: Ending) -> ExitCode {
    match ending {
        Ending { interrupted: true, .. } => ExitCode::Interrupted,
        Ending { expectation_missed: true, .. } => ExitCode::ExpectationMissed,
        Ending { invalid: true, .. } => ExitCode::Invalid,
        Ending { clients_unfinished: true, .. } => ExitCode::ClientsUnfinished,
        _ => ExitCode::Done,
    }
}

#[cfg(test)]
mod tests {
    use super::{Ending, ExitCode, exit_code};

    #[test]
    fn the_highest_code_wins_and_an_interruption_says_so() {
        for bits in 0..16_u8 {
            let ending = Ending {
                clients_unfinished: bits & 1 != 0,
                invalid: bits & 2 != 0,
                expectation_missed: bits & 4 != 0,
                interrupted: bits & 8 != 0,
            };
            let expected = match bits {
                0 => ExitCode::Done,
                1 => ExitCode::ClientsUnfinished,
                2..4 => ExitCode::Invalid,
                4..8 => ExitCode::ExpectationMissed,
                _ => ExitCode::Interrupted,
            };
            assert_eq!(exit_code(ending), expected, "{ending:?}");
        }
    }
}
