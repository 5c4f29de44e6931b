//! A test's own view of its server, usable from plain and from async tests alike.

use std::thread;

use tokio_postgres::{NoTls, SimpleQueryMessage};

use super::Postgres;

/// Rows of text values; `None` is NULL.
pub type Rows = Vec<Vec<Option<String>>>;

impl Postgres {
    /// Runs SQL as [`Postgres::query`] does, for its effect.
    ///
    /// # Panics
    /// With the server's message if a statement fails.
    pub fn execute(&self, sql: &str) {
        let _ = self.query(sql);
    }

    /// Runs SQL (also several statements) as `postgres` in the database `postgres` over the unix socket;
    /// all rows of all results.
    ///
    /// # Panics
    /// With the server's message if a statement fails.
    #[must_use]
    pub fn query(&self, sql: &str) -> Rows {
        self.query_in("postgres", sql)
    }

    /// The same in another database.
    ///
    /// # Panics
    /// With the server's message if a statement fails.
    #[must_use]
    pub fn query_in(&self, database: &str, sql: &str) -> Rows {
        self.try_query_in(database, sql).unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// The first value of the first row, as text.
    ///
    /// # Panics
    /// If there is none or it is NULL.
    #[must_use]
    pub fn value(&self, sql: &str) -> String {
        let rows = self.query(sql);
        let first = rows.into_iter().next().and_then(|row| row.into_iter().next()).flatten();
        first.unwrap_or_else(|| panic!("no value: {sql}"))
    }

    /// The same for a caller that expects an error; the text is the server's message.
    pub fn try_query_in(&self, database: &str, sql: &str) -> Result<Rows, String> {
        let conninfo = format!(
            "host={} port={} user=postgres dbname={database} application_name=harness",
            self.socket_dir().display(),
            self.port()
        );
        // A thread of its own, because a runtime cannot be entered from within another one.
        thread::scope(|scope| {
            scope.spawn(|| run(&conninfo, sql)).join().expect("the query thread does not panic")
        })
    }
}

fn run(conninfo: &str, sql: &str) -> Result<Rows, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let (client, connection) =
            tokio_postgres::connect(conninfo, NoTls).await.map_err(|error| chain(&error))?;
        let driver = tokio::spawn(connection);
        let messages = client.simple_query(sql).await.map_err(|error| chain(&error))?;
        drop(client);
        // Waited for, so that the session is over for the server too when this returns.
        let _ = driver.await;
        Ok(messages.into_iter().filter_map(row).collect())
    })
}

fn row(message: SimpleQueryMessage) -> Option<Vec<Option<String>>> {
    match message {
        SimpleQueryMessage::Row(row) => {
            Some((0..row.len()).map(|i| row.get(i).map(str::to_owned)).collect())
        }
        _ => None,
    }
}

fn chain(error: &tokio_postgres::Error) -> String {
    error.as_db_error().map_or_else(|| format!("{error:?}"), ToString::to_string)
}
