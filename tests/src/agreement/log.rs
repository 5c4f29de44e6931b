//! What reached a real server: its own log of statements, one list a session.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde_json::Value;

use crate::postgres::{Postgres, Settings, Version, wait_until};

/// The server's log file.
#[derive(Debug)]
pub struct Log<'a> {
    server: &'a Postgres,
    read: Mutex<Read>,
}

/// How far it has been read.
#[derive(Debug, Default)]
struct Read {
    bytes: u64,
    marks: u32,
    /// Statements by application name and session.
    sessions: HashMap<String, Vec<(String, Vec<String>)>>,
}

/// What a server says of a client that went away in the middle of a COPY, and in general.
const GONE: [&str; 5] = [
    "during COPY from stdin",
    "COPY from stdin failed",
    "protocol synchronization was lost",
    "could not send data to client",
    "unexpected EOF on client connection",
];

/// A server that logs what it is asked for.
#[must_use]
pub fn logging_server(version: Version) -> Postgres {
    let settings = Settings::new()
        .set("logging_collector", "on")
        .set("log_destination", "jsonlog")
        .set("log_directory", "statements")
        .set("log_filename", "all")
        .set("log_rotation_size", "0")
        .set("log_rotation_age", "0")
        .set("log_statement", "all");
    Postgres::start(version, &settings)
}

impl<'a> Log<'a> {
    /// The log of a server that [`logging_server`] has started.
    pub fn new(server: &'a Postgres) -> Self {
        Self { server, read: Mutex::default() }
    }

    /// The statements of every session of an application, sorted; the sessions have to be over.
    ///
    /// # Panics
    /// If the server does not write its log.
    pub fn sessions_of(&self, application: &str) -> Vec<Vec<String>> {
        let mut read = self.read.lock().expect("reading a log does not panic");
        read.marks += 1;
        // Everything that was logged before the mark is in the file once the mark is.
        let mark = format!("select 'mark {}'", read.marks);
        self.server.execute(&mark);
        wait_until("the server's log is complete", || read.on(&self.path(), &mark));
        let sessions = read.sessions.remove(application).unwrap_or_default();
        let mut statements: Vec<Vec<String>> =
            sessions.into_iter().map(|(_, statements)| without_question(statements)).collect();
        statements.sort();
        statements
    }

    fn path(&self) -> PathBuf {
        self.server.data_dir().join("statements").join("all.json")
    }
}

impl Read {
    /// Reads on; whether the mark has been met.
    fn on(&mut self, path: &Path, mark: &str) -> bool {
        let new = self.new_lines(path).unwrap_or_default();
        let mut met = false;
        for line in new.lines() {
            let entry: Value = serde_json::from_str(line).unwrap_or_default();
            met |= entry["message"].as_str().is_some_and(|message| message.ends_with(mark));
            self.note(&entry);
        }
        met
    }

    /// What has been written since, as far as its lines are whole.
    fn new_lines(&mut self, path: &Path) -> io::Result<String> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(self.bytes))?;
        let mut new = Vec::new();
        file.read_to_end(&mut new)?;
        new.truncate(new.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1));
        self.bytes += new.len() as u64;
        Ok(String::from_utf8_lossy(&new).into_owned())
    }

    fn note(&mut self, entry: &Value) {
        let text = |name: &str| entry[name].as_str().unwrap_or_default();
        let (application, session) = (text("application_name"), text("session_id"));
        let statement = match text("error_severity") {
            "LOG" => format!("{}{}", text("message"), detail(text("detail"))),
            severity => format!("{severity} {}: {}", text("message"), text("statement")),
        };
        // Its own questions, by which pgsurge learns where it is connected, name the catalog.
        let own = statement.contains("pg_catalog.") || statement.contains("current_setting(");
        // Whatever a session says once its client is gone may come too late to be read.
        let afterwards = GONE.iter().any(|message| text("message").contains(message));
        if application.is_empty() || own || afterwards {
            return;
        }
        let sessions = self.sessions.entry(application.to_owned()).or_default();
        match sessions.iter_mut().find(|(id, _)| id == session) {
            Some((_, statements)) => statements.push(statement),
            None => sessions.push((session.to_owned(), vec![statement])),
        }
    }
}

/// The same without the end of a block that pgsurge sends when a prepared statement is missing, to ask whether a
/// pooler has lost it.
fn without_question(mut statements: Vec<String>) -> Vec<String> {
    if let [.., error, rollback] = &statements[..]
        && error.starts_with("ERROR prepared statement")
        && rollback == "statement: ROLLBACK"
    {
        statements.pop();
    }
    statements
}

fn detail(detail: &str) -> String {
    if detail.is_empty() { String::new() } else { format!(" [{detail}]") }
}
