//! What the operator of this host lets a coordinator do with it. A plan that asks for more is refused before
//! a session is opened, and nothing that a plan carries can widen these bounds.

use pgsurge_common::plan::split::Share;
use pgsurge_common::plan::{Log, Plan};
use pgsurge_common::script::Program;
use pgsurge_common::target::{Address, Host, Target, TargetPattern, forbidden_host};

/// See the module; the default forbids shell commands and logs elsewhere, and nothing else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// `\shell` and `\setshell` may run commands on this host.
    pub allow_shell: bool,
    /// Every host of a target must fit one of these; without any every target will do.
    pub allow_targets: Vec<TargetPattern>,
    /// Clients at a time.
    pub max_clients: Option<u32>,
    /// `--log-prefix` may lead anywhere and existing files are overwritten, as under pgbench: the plan comes from
    /// the user of this host. Else logs stay below the working folder and are new files with the run's name.
    pub log_anywhere: bool,
}

/// A plan asks for more than this agent allows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Forbidden {
    /// A script runs shell commands.
    #[error(
        "script \"{script}\" uses \\{command}, which this agent does not allow; start it with --allow-shell"
    )]
    Shell {
        /// Name of the script.
        script: String,
        /// `shell` or `setshell`.
        command: String,
    },
    /// The target is none of the allowed ones.
    #[error(
        "target {place}/{database} is not among those that this agent allows ({allowed}); aim the run at \
         one of these, or start the agent with --allow-target for it"
    )]
    Target {
        /// The host.
        place: String,
        /// The database.
        database: String,
        /// The patterns.
        allowed: String,
    },
    /// A setting of the startup message would lead past the patterns.
    #[error(
        "the target's setting \"{0}\" is not allowed by an agent with --allow-target; leave it out"
    )]
    Setting(String),
    /// Logs would be written outside of the working folder.
    #[error(
        "log prefix \"{0}\" leads out of this agent's working folder; name a place below it with --log-prefix"
    )]
    Log(String),
    /// The share is too large.
    #[error(
        "{clients} clients are more than the {max} that this agent allows; lower -c, take more agents, or \
         start this one with a higher --max-clients"
    )]
    Clients {
        /// How many the share has.
        clients: u32,
        /// How many there may be.
        max: u32,
    },
}

impl LoadOptions {
    /// Checks a share of a plan, whose scripts are compiled.
    pub(crate) fn check(
        &self,
        plan: &Plan,
        share: &Share,
        program: &Program,
    ) -> Result<(), Forbidden> {
        self.check_target(&plan.target)?;
        self.check_log(plan.log.as_ref())?;
        // A sum that wrapped around would lead past the bound.
        self.check_clients(share.clients())?;
        if self.allow_shell { Ok(()) } else { refuse_shell(program) }
    }

    /// Checks a number of clients.
    pub(crate) fn check_clients(&self, clients: u32) -> Result<(), Forbidden> {
        match self.max_clients {
            Some(max) if clients > max => Err(Forbidden::Clients { clients, max }),
            _ => Ok(()),
        }
    }

    fn check_log(&self, log: Option<&Log>) -> Result<(), Forbidden> {
        match log {
            Some(log) if !self.log_anywhere && !log.stays_below() => {
                Err(Forbidden::Log(log.prefix.clone()))
            }
            _ => Ok(()),
        }
    }

    fn check_target(&self, target: &Target) -> Result<(), Forbidden> {
        // The server takes the last of two parameters of a name, and a replication session has every database.
        const ASIDE: [&str; 3] = ["database", "user", "replication"];
        if self.allow_targets.is_empty() {
            return Ok(());
        }
        if let Some((name, _)) = target.settings.iter().find(|(name, _)| ASIDE.contains(&&**name)) {
            return Err(Forbidden::Setting(name.clone()));
        }
        match forbidden_host(target, &self.allow_targets) {
            None => Ok(()),
            Some(host) => Err(Forbidden::Target {
                place: place(host),
                database: target.database.clone(),
                allowed: self
                    .allow_targets
                    .iter()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>()
                    .join(", "),
            }),
        }
    }
}

/// Where a host is, with the address that decides.
fn place(host: &Host) -> String {
    match &host.address {
        Address::Tcp { name, addr: Some(addr) } if !name.is_empty() => format!("{host} ({addr})"),
        Address::Tcp { .. } => host.to_string(),
        Address::Unix(folder) => format!("{}:{}", folder.display(), host.port),
    }
}

fn refuse_shell(program: &Program) -> Result<(), Forbidden> {
    for script in program.scripts() {
        let commands = script.commands().iter().map(|command| command.name().to_ascii_lowercase());
        for command in commands {
            if command == "shell" || command == "setshell" {
                return Err(Forbidden::Shell { script: script.name().to_owned(), command });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use pgsurge_common::plan::LogKind;

    use super::*;

    fn options(patterns: &[&str]) -> LoadOptions {
        let allow_targets = patterns.iter().map(|pattern| pattern.parse().unwrap()).collect();
        LoadOptions { allow_targets, max_clients: Some(10), ..LoadOptions::default() }
    }

    fn target(name: &str, addr: Option<&str>) -> Target {
        let addr = addr.map(|addr| addr.parse().unwrap());
        let address = Address::Tcp { name: name.to_owned(), addr };
        Target::new(vec![Host { address, port: 5432, password: None }], "u", "bench")
    }

    #[test]
    fn without_patterns_every_target_will_do() {
        assert_eq!(options(&[]).check_target(&target("db", None)), Ok(()));
    }

    #[test]
    fn a_target_that_is_not_allowed_is_named_with_the_address_that_decides() {
        let allowed = options(&["db", "10.0.0.*"]);
        assert_eq!(allowed.check_target(&target("db", None)), Ok(()));
        let refused =
            allowed.check_target(&target("db", Some("10.6.6.6"))).unwrap_err().to_string();
        assert!(refused.contains("target db:5432 (10.6.6.6)/bench is not among"), "{refused}");
        assert!(refused.contains("(db, 10.0.0.*)"), "{refused}");
    }

    #[test]
    fn a_setting_does_not_lead_past_the_patterns() {
        for name in ["database", "user", "replication"] {
            let mut target = target("db", None);
            target.settings.push((name.to_owned(), "other".to_owned()));
            let refused = options(&["*"]).check_target(&target);
            assert_eq!(refused, Err(Forbidden::Setting(name.to_owned())));
        }
    }

    #[test]
    fn logs_stay_below_the_working_folder() {
        let log = |prefix: &str| Log {
            prefix: prefix.to_owned(),
            kind: LogKind::Aggregates(1),
            failures_detailed: false,
            collect: false,
        };
        let strict = LoadOptions::default();
        assert_eq!(strict.check_log(None), Ok(()));
        assert_eq!(strict.check_log(Some(&log("logs/a"))), Ok(()));
        for prefix in ["/tmp/a", "../a"] {
            let refused = Err(Forbidden::Log(prefix.to_owned()));
            assert_eq!(strict.check_log(Some(&log(prefix))), refused);
            let own = LoadOptions { log_anywhere: true, ..LoadOptions::default() };
            assert_eq!(own.check_log(Some(&log(prefix))), Ok(()));
        }
    }

    #[test]
    fn clients_are_bounded() {
        assert_eq!(options(&[]).check_clients(10), Ok(()));
        assert!(options(&[]).check_clients(11).is_err());
        assert_eq!(LoadOptions::default().check_clients(u32::MAX), Ok(()));
    }
}
