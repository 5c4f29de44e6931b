//! Checks that `\if`, `\elif`, `\else` and `\endif` fit together and turns them into jumps.

use super::command::{Command, Kind, Otherwise};

/// An open `\if`.
struct Open {
    /// Command whose condition decides whether the next branch is looked at; none behind `\else`.
    undecided: Option<usize>,
    /// Commands that end a taken branch.
    branch_ends: Vec<usize>,
}

/// Sets the targets of all jumps; or gives the number of the offending command, counted from 1, and
/// what is wrong with it.
pub fn link_conditionals(commands: &mut [Command]) -> Result<(), (usize, &'static str)> {
    let mut open: Vec<Open> = Vec::new();
    for index in 0..commands.len() {
        let wrong = |message| Err((index + 1, message));
        match commands[index].kind {
            Kind::If { .. } => {
                open.push(Open { undecided: Some(index), branch_ends: Vec::new() });
            }
            Kind::Elif { .. } => {
                let Some(innermost) = open.last_mut() else {
                    return wrong("\\elif without matching \\if");
                };
                let Some(before) = innermost.undecided.replace(index) else {
                    return wrong("\\elif after \\else");
                };
                innermost.branch_ends.push(index);
                set_otherwise(&mut commands[before], index, true);
            }
            Kind::Else { .. } => {
                let Some(innermost) = open.last_mut() else {
                    return wrong("\\else without matching \\if");
                };
                let Some(before) = innermost.undecided.take() else {
                    return wrong("\\else after \\else");
                };
                innermost.branch_ends.push(index);
                set_otherwise(&mut commands[before], index + 1, false);
            }
            Kind::Endif => {
                let Some(innermost) = open.pop() else {
                    return wrong("\\endif without matching \\if");
                };
                if let Some(before) = innermost.undecided {
                    set_otherwise(&mut commands[before], index + 1, false);
                }
                for branch_end in innermost.branch_ends {
                    set_end(&mut commands[branch_end], index + 1);
                }
            }
            _ => {}
        }
    }
    if open.is_empty() {
        Ok(())
    } else {
        Err((commands.len() + 1, "\\if without matching \\endif"))
    }
}

fn set_otherwise(command: &mut Command, target: usize, is_condition: bool) {
    if let Kind::If { otherwise, .. } | Kind::Elif { otherwise, .. } = &mut command.kind {
        *otherwise = Otherwise { target, is_condition };
    }
}

fn set_end(command: &mut Command, target: usize) {
    if let Kind::Elif { end, .. } | Kind::Else { end } = &mut command.kind {
        *end = target;
    }
}
