//! What an experiment can vary, and the values it takes. Pure.

use serde::{Deserialize, Serialize};

/// Something that can be turned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Knob {
    /// `-c`.
    Clients,
    /// `-R`.
    Rate,
    /// `-b` or, where it looks like a file, `-f`.
    Workload,
    /// `-M`.
    Protocol,
    /// The scale of pgbench's tables, which are made anew for it.
    Scale,
    /// A setting of the server.
    Setting(String),
    /// Something of the operating system, by two commands of the user's.
    System(SystemKnob),
}

/// A setting of the operating system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemKnob {
    /// What the user calls it.
    pub name: String,
    /// Prints the present value.
    pub get: String,
    /// Sets it to `$VALUE`.
    pub set: String,
}

/// A knob with the values that it is to take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axis {
    /// What is varied.
    pub knob: Knob,
    /// As users write them.
    pub values: Vec<String>,
}

/// Options of `run` by their knob: the name, the option, other spellings of it that a user may have given.
const OPTIONS: [(&str, Knob, &[&str]); 5] = [
    ("clients", Knob::Clients, &["client"]),
    ("rate", Knob::Rate, &["rate"]),
    ("workload", Knob::Workload, &["builtin", "file", "select-only", "skip-some-updates"]),
    ("protocol", Knob::Protocol, &["protocol"]),
    ("scale", Knob::Scale, &["scale"]),
];

impl Knob {
    /// Of a name as an axis has it.
    #[must_use]
    pub fn of_run(name: &str) -> Option<Self> {
        OPTIONS.iter().find(|(known, ..)| *known == name).map(|(_, knob, _)| knob.clone())
    }

    /// Names that [`Knob::of_run`] knows.
    #[must_use]
    pub fn names() -> String {
        OPTIONS.map(|(name, ..)| name).join(", ")
    }

    /// As users write it.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Setting(name) => name,
            Self::System(knob) => &knob.name,
            _ => self.option().map_or("", |(name, ..)| *name),
        }
    }

    /// Long options of `run` that set the same.
    #[must_use]
    pub fn rivals(&self) -> &'static [&'static str] {
        self.option().map_or(&[], |(.., rivals)| *rivals)
    }

    /// Options of `run` that set it so.
    #[must_use]
    pub fn arguments(&self, value: &str) -> Vec<String> {
        let option = match self {
            Self::Clients => "-c",
            Self::Rate => "-R",
            Self::Protocol => "-M",
            Self::Workload if is_file(value) => "-f",
            Self::Workload => "-b",
            Self::Scale | Self::Setting(_) | Self::System(_) => return Vec::new(),
        };
        vec![option.to_owned(), value.to_owned()]
    }

    /// Another value makes another question: figures over it are not compared with each other.
    #[must_use]
    pub fn is_another_question(&self) -> bool {
        matches!(self, Self::Workload | Self::Scale | Self::Rate)
    }

    fn option(&self) -> Option<&'static (&'static str, Knob, &'static [&'static str])> {
        OPTIONS.iter().find(|(_, knob, _)| knob == self)
    }
}

fn is_file(value: &str) -> bool {
    let (path, _) = value.rsplit_once('@').unwrap_or((value, ""));
    path.contains('/') || std::path::Path::new(path).extension().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_become_options_of_run() {
        for (name, value, options) in [
            ("clients", "50", "-c 50"),
            ("rate", "100", "-R 100"),
            ("protocol", "prepared", "-M prepared"),
            ("workload", "tpcb-like", "-b tpcb-like"),
            ("workload", "select-only@3", "-b select-only@3"),
            ("workload", "./own", "-f ./own"),
            ("workload", "own.sql@2", "-f own.sql@2"),
            ("scale", "10", ""),
        ] {
            let knob = Knob::of_run(name).expect(name);
            assert_eq!(knob.arguments(value).join(" "), options);
            assert_eq!(knob.name(), name);
        }
        assert_eq!(Knob::of_run("shared_buffers"), None);
    }
}
