//! The three scripts that need no file, under pgbench's names and with the statements that its users
//! know from their logs.

use std::fmt::Write as _;

use thiserror::Error;

use crate::plan::ScriptSource;

/// One built-in script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Builtin {
    /// As `-b` names it.
    pub name: &'static str,
    /// As reports name it.
    pub description: &'static str,
    /// The script itself.
    pub text: &'static str,
}

/// Why a name given to `-b` or `--show-script` selects no built-in script. The message ends with the
/// list of what there is, as in pgbench.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum BuiltinError {
    /// Nothing begins like that.
    #[error("no builtin script found for name \"{0}\"\n{list}", list = builtin_list())]
    Unknown(String),
    /// More than one begins like that.
    #[error(
        "ambiguous builtin name: {matches} builtin scripts found for prefix \"{prefix}\"\n{list}",
        list = builtin_list()
    )]
    Ambiguous {
        /// What was given.
        prefix: String,
        /// How many scripts begin with it.
        matches: usize,
    },
}

/// All of them, in the order of the list that users see.
pub const BUILTINS: [Builtin; 3] = [
    Builtin {
        name: "tpcb-like",
        description: "<builtin: TPC-B (sort of)>",
        text: "\\set aid random(1, 100000 * :scale)\n\
               \\set bid random(1, 1 * :scale)\n\
               \\set tid random(1, 10 * :scale)\n\
               \\set delta random(-5000, 5000)\n\
               BEGIN;\n\
               UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;\n\
               SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n\
               UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;\n\
               UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;\n\
               INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) \
               VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);\n\
               END;\n",
    },
    Builtin {
        name: "simple-update",
        description: "<builtin: simple update>",
        text: "\\set aid random(1, 100000 * :scale)\n\
               \\set bid random(1, 1 * :scale)\n\
               \\set tid random(1, 10 * :scale)\n\
               \\set delta random(-5000, 5000)\n\
               BEGIN;\n\
               UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;\n\
               SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n\
               INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) \
               VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);\n\
               END;\n",
    },
    Builtin {
        name: "select-only",
        description: "<builtin: select only>",
        text: "\\set aid random(1, 100000 * :scale)\n\
               SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n",
    },
];

impl Builtin {
    /// The script as part of a workload.
    #[must_use]
    pub fn source(&self, weight: u32) -> ScriptSource {
        ScriptSource {
            name: self.description.to_owned(),
            text: self.text.as_bytes().to_vec(),
            weight,
            builtin: true,
        }
    }

    /// What `--show-script` prints.
    #[must_use]
    pub fn shown(&self) -> String {
        format!("-- {}: {}\n{}\n", self.name, self.description, self.text)
    }
}

/// The one built-in script whose name begins with `prefix` (case matters).
pub fn find_builtin(prefix: &str) -> Result<&'static Builtin, BuiltinError> {
    let mut matching = BUILTINS.iter().filter(|builtin| builtin.name.starts_with(prefix));
    match (matching.next(), matching.count()) {
        (Some(only), 0) => Ok(only),
        (None, _) => Err(BuiltinError::Unknown(prefix.to_owned())),
        (Some(_), more) => {
            Err(BuiltinError::Ambiguous { prefix: prefix.to_owned(), matches: more + 1 })
        }
    }
}

/// What `-b list` prints.
#[must_use]
pub fn builtin_list() -> String {
    let mut list = String::from("Available builtin scripts:\n");
    for Builtin { name, description, .. } in BUILTINS {
        let _ = writeln!(list, "  {name:>13}: {description}");
    }
    list.push('\n');
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unambiguous_prefix_selects_a_script() {
        let table = [("t", 0), ("tpcb-like", 0), ("si", 1), ("se", 2), ("select-only", 2)];
        for (prefix, index) in table {
            assert_eq!(find_builtin(prefix), Ok(&BUILTINS[index]), "{prefix}");
        }
    }

    #[test]
    fn other_names_are_refused_with_the_list() {
        let message = |name| find_builtin(name).expect_err("no such script").to_string();
        let list = "Available builtin scripts:\n      tpcb-like: <builtin: TPC-B (sort of)>\n  \
                    simple-update: <builtin: simple update>\n    select-only: <builtin: select only>\n\n";
        let table = [
            ("s", "ambiguous builtin name: 2 builtin scripts found for prefix \"s\""),
            ("", "ambiguous builtin name: 3 builtin scripts found for prefix \"\""),
            ("no-such-builtin", "no builtin script found for name \"no-such-builtin\""),
            ("Select", "no builtin script found for name \"Select\""),
        ];
        for (name, first) in table {
            assert_eq!(message(name), format!("{first}\n{list}"));
        }
    }
}
