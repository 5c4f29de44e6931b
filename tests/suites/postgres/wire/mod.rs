//! The frontend protocol against real servers: authentication, encryption, choosing a host, cancelling.

mod auth;
mod choosing;
mod encryption;
mod session;

use std::io;
use std::path::{Path, PathBuf};

use pgsurge_agent::wire::{ConnectError, Connection, Connector, Message};
use pgsurge_common::target::{File, Request, Secret, Surroundings, Target, resolve};

/// Surroundings with files, but without environment or home: what a test says is all there is.
struct Bare;

impl Surroundings for Bare {
    fn env(&self, _name: &str) -> Option<String> {
        None
    }

    fn read(&self, path: &Path) -> io::Result<File> {
        let text = std::fs::read_to_string(path)?;
        Ok(File { text, mode: 0o600, owned_by_root: false, plain: true })
    }

    fn home(&self) -> Option<PathBuf> {
        None
    }

    fn os_user(&self) -> Result<String, String> {
        Ok("nobody".to_owned())
    }

    fn socket_directory(&self) -> PathBuf {
        "/nonexistent".into()
    }

    fn system_directory(&self) -> PathBuf {
        "/nonexistent".into()
    }
}

/// The target that a connection string means.
fn target(conninfo: &str) -> Target {
    let request = Request { database: Some(Secret::new(conninfo)), ..Request::default() };
    resolve(&request, &Bare).unwrap_or_else(|error| panic!("{conninfo}: {error}")).target
}

/// Runs a test's async part on a runtime like a worker's.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(future)
}

async fn try_connect(conninfo: &str) -> Result<Connection, ConnectError> {
    Connector::new(&target(conninfo))?.connect().await
}

async fn connect(conninfo: &str) -> Connection {
    let connection = try_connect(conninfo).await;
    connection.unwrap_or_else(|error| panic!("{conninfo}: {error}"))
}

/// The error of a connection that must not come about.
async fn refusal(conninfo: &str) -> ConnectError {
    match try_connect(conninfo).await {
        Ok(_) => panic!("{conninfo}: connected"),
        Err(error) => error,
    }
}

/// The first value that a query returns.
async fn ask(connection: &mut Connection, sql: &str) -> String {
    connection.query(sql.as_bytes()).unwrap();
    connection.flush().await.unwrap();
    let mut answer = String::new();
    loop {
        match connection.next_message().await.unwrap() {
            Message::DataRow(row) => {
                let value = row.values().next().unwrap().unwrap().unwrap_or_default();
                answer = String::from_utf8(value.to_vec()).unwrap();
            }
            Message::Error(fields) => panic!("{sql}: {}", fields.to_error()),
            Message::ReadyForQuery(_) => return answer,
            _ => {}
        }
    }
}
