//! What reached the server, from its log: statements, parameters and errors, session by session.
//!
//! The server has to log with [`settings`]. Statements by which the programs look at the server itself are
//! not part of a workload and are left out.

use std::collections::{BTreeMap, HashMap};

use crate::postgres::Settings;

/// What only stands in such statements.
const OBSERVATION: [&str; 3] = ["pg_catalog.", "current_setting(", "set local statement_timeout"];

/// Settings under which the log can be read.
#[must_use]
pub fn settings() -> Settings {
    Settings::new()
        .set("log_statement", "all")
        .set("log_line_prefix", "@@%a|%c|")
        .set("deadlock_timeout", "100ms")
}

/// The sessions of each application: what each of them sent, in order.
#[derive(Debug, Default)]
pub struct Seen {
    applications: HashMap<String, BTreeMap<String, Vec<String>>>,
}

impl Seen {
    /// Reads a server's whole log.
    #[must_use]
    pub fn read(log: &str) -> Self {
        let mut seen = Self::default();
        let mut entry = String::new();
        for line in log.lines() {
            if line.starts_with("@@") {
                seen.add(&entry);
                entry.clear();
                entry.push_str(line);
            } else {
                entry.push('\n');
                // Further lines of an entry are indented by the server.
                entry.push_str(line.strip_prefix('\t').unwrap_or(line));
            }
        }
        seen.add(&entry);
        seen
    }

    fn add(&mut self, entry: &str) -> Option<()> {
        let (application, rest) = entry.strip_prefix("@@")?.split_once('|')?;
        let (session, rest) = rest.split_once('|')?;
        let (severity, message) = rest.split_once(":  ")?;
        let sessions = self.applications.entry(application.to_owned()).or_default();
        let sent = sessions.entry(session.to_owned()).or_default();
        match severity {
            "LOG" => sent.push(statement(message)?),
            "DETAIL" => {
                // Capitalised since version 18.
                let values = message.strip_prefix("Parameters: ");
                let values = values.or_else(|| message.strip_prefix("parameters: "))?;
                let last = sent.last_mut()?;
                last.push_str(" -- ");
                last.push_str(values);
            }
            "STATEMENT" => {
                let last = sent.last_mut()?;
                last.push_str(" in ");
                last.push_str(message);
            }
            "ERROR" | "FATAL" | "WARNING" => sent.push(format!("{severity}: {message}")),
            _ => {}
        }
        Some(())
    }

    /// What the sessions of an application sent, the sessions in an order that does not depend on who
    /// came first.
    #[must_use]
    pub fn sessions(&self, application: &str) -> Vec<Vec<String>> {
        let sessions = self.applications.get(application).into_iter().flat_map(BTreeMap::values);
        let own = |sent: &String| !OBSERVATION.iter().any(|mark| sent.contains(mark));
        let mut sessions: Vec<Vec<String>> = sessions
            .map(|sent| sent.iter().filter(|sent| own(sent)).cloned().collect())
            .filter(|sent: &Vec<String>| !sent.is_empty())
            .collect();
        sessions.sort();
        sessions
    }
}

/// A statement with the name that it was prepared under, or nothing for the server's other messages.
fn statement(message: &str) -> Option<String> {
    if let Some(text) = message.strip_prefix("statement: ") {
        return Some(text.to_owned());
    }
    let (name, text) = message.strip_prefix("execute ")?.split_once(": ")?;
    Some(format!("[{name}] {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_becomes_sessions() {
        let log = "starting\n\
            @@app|2.1|LOG:  statement: select 2;\n\
            @@app|1.1|LOG:  statement: select\n\t 1;\n\
            @@other|3.1|LOG:  statement: select 3;\n\
            @@app|1.1|LOG:  statement: select pg_catalog.pg_backend_pid()\n\
            @@app|1.1|LOG:  execute P_0: select $1\n\
            @@app|1.1|DETAIL:  Parameters: $1 = '5'\n\
            @@app|1.1|ERROR:  division by zero\n\
            @@app|1.1|STATEMENT:  select 1/0;\n\
            @@app|4.1|LOG:  disconnection\n";
        let seen = Seen::read(log);
        let first = [
            "select\n 1;",
            "[P_0] select $1 -- $1 = '5'",
            "ERROR: division by zero in select 1/0;",
        ];
        assert_eq!(
            seen.sessions("app"),
            [first.map(str::to_owned).to_vec(), vec!["select 2;".to_owned()]]
        );
        assert_eq!(seen.sessions("nobody"), Vec::<Vec<String>>::new());
    }
}
