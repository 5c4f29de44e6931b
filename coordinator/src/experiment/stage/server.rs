//! The server's settings: changed with ALTER SYSTEM, put into force by a reload or a restart, seen to be in force, and put back.
//!
//! Everything that can be known is checked before the first change ([`Server::look`]); whatever happens later,
//! [`Server::restore`] leaves what was there before.

use std::collections::BTreeMap;
use std::time::Duration;

use pgsurge_common::target::Target;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::look::{look, settings};
use super::setting::Setting;
use super::ways::Ways;
use crate::observe::{Session, TargetError};

/// How long a reload may take to be seen.
const RELOADED_WITHIN: Duration = Duration::from_secs(15);
const POLL: Duration = Duration::from_millis(200);

/// What ALTER SYSTEM had set before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Original {
    /// Of which setting.
    pub name: String,
    /// None if it had set nothing.
    pub value: Option<String>,
}

/// Why the server is not as it was asked to be.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// Nothing was changed.
    #[error("{0}")]
    Refused(String),
    /// With these settings it does not work; the original ones are in force again.
    #[error("{0}")]
    Unsuitable(String),
    /// It is in a state that only the user can mend.
    #[error("{0}")]
    Broken(String),
}

/// A server whose settings are varied.
#[derive(Debug)]
pub struct Server {
    target: Target,
    ways: Ways,
    settings: BTreeMap<String, Setting>,
    originals: Vec<Original>,
    /// What ALTER SYSTEM holds of them now, as far as that is known.
    held: BTreeMap<String, Option<String>>,
    /// Something was changed since the start.
    touched: bool,
}

impl Original {
    /// The line that ALTER SYSTEM would keep of it.
    pub(super) fn line(&self) -> Option<String> {
        let value = self.value.as_ref()?;
        Some(format!("{} = {}", self.name, literal(value)))
    }

    fn statement(&self) -> String {
        statement(&self.name, self.value.as_deref())
    }
}

/// ALTER SYSTEM.
#[must_use]
pub fn statement(name: &str, value: Option<&str>) -> String {
    match value {
        Some(value) => format!("ALTER SYSTEM SET {name} = {}", literal(value)),
        None => format!("ALTER SYSTEM RESET {name}"),
    }
}

/// A string for a statement.
pub(super) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

impl Server {
    /// Looks at the settings that are to take these values; changes nothing. `originals` are those of an earlier attempt
    /// that did not get to put them back; if it left a server that does not start, they are put back now.
    ///
    /// # Errors
    /// The server is not there, or something of it will not do.
    pub async fn look(
        target: Target,
        mut ways: Ways,
        wanted: &[(String, Vec<String>)],
        originals: Option<Vec<Original>>,
    ) -> Result<Self, ServerError> {
        let refused = |error: TargetError| ServerError::Refused(error.to_string());
        let mut session = match (Session::open(&target).await, &originals) {
            (Err(error), Some(originals)) if !originals.is_empty() && ways.can_restart() => {
                let started = start_as_before(&target, &ways, originals).await;
                started.map_err(|why| ServerError::Refused(format!("{error}; {why}")))?
            }
            (opened, _) => opened.map_err(refused)?,
        };
        let found = look(&mut session, &ways, wanted).await;
        session.close().await;
        let (settings, found) = found?;
        ways.note_log();
        Ok(Self {
            target,
            ways,
            settings,
            touched: originals.is_some(),
            originals: originals.unwrap_or(found),
            held: BTreeMap::new(),
        })
    }

    /// What was there before.
    #[must_use]
    pub fn originals(&self) -> &[Original] {
        &self.originals
    }

    /// The present value of a setting, as it can be given back.
    #[must_use]
    pub fn present(&self, name: &str) -> Option<&str> {
        self.settings.get(name).map(|setting| setting.shown.as_str())
    }

    /// Whether a change of it takes a restart.
    #[must_use]
    pub fn needs_restart(&self, name: &str) -> bool {
        self.settings.get(name).is_some_and(Setting::needs_restart)
    }

    /// Puts values into force.
    ///
    /// # Errors
    /// See [`ServerError`].
    pub async fn apply(&mut self, wanted: &BTreeMap<String, String>) -> Result<(), ServerError> {
        let changes: Vec<(String, Option<String>)> = wanted
            .iter()
            .map(|(name, value)| (name.clone(), Some(value.clone())))
            .filter(|(name, value)| self.held.get(name) != Some(value))
            .collect();
        if changes.is_empty() {
            return Ok(());
        }
        let names = changes
            .iter()
            .map(|(name, value)| format!("{name} = {}", value.as_deref().unwrap_or_default()));
        let names = names.collect::<Vec<_>>().join(", ");
        match self.change(&changes).await {
            Ok(()) => Ok(()),
            Err(why) => {
                self.bring_back().await?;
                Err(ServerError::Unsuitable(format!("{names}: {why}")))
            }
        }
    }

    /// Leaves what was there before.
    ///
    /// # Errors
    /// It could not be put back; the message says what is left to do.
    pub async fn restore(&mut self) -> Result<(), ServerError> {
        if !self.touched {
            return Ok(());
        }
        let originals = self.originals.iter();
        let changes: Vec<(String, Option<String>)> =
            originals.map(|original| (original.name.clone(), original.value.clone())).collect();
        if self.change(&changes).await.is_err() {
            self.bring_back().await?;
        }
        self.touched = false;
        Ok(())
    }

    /// Changes, puts into force and looks; on failure the server may be down.
    async fn change(&mut self, changes: &[(String, Option<String>)]) -> Result<(), String> {
        let mut session = Session::open(&self.target).await.map_err(|e| e.to_string())?;
        self.touched = true;
        let mut done = Ok(());
        for (name, value) in changes {
            self.held.remove(name);
            done = session.execute(&statement(name, value.as_deref())).await;
            if done.is_err() {
                break;
            }
            self.held.insert(name.clone(), value.clone());
        }
        let started = started(&mut session).await;
        let restart = changes
            .iter()
            .any(|(name, _)| self.settings.get(name).is_some_and(Setting::needs_restart));
        if done.is_ok() && !restart {
            done = session.execute("select pg_catalog.pg_reload_conf()").await;
        }
        session.close().await;
        done.map_err(|error| error.to_string())?;
        if restart {
            self.ways.restart().await?;
            let session = until_up(&self.target, &self.ways, started.ok().as_deref()).await?;
            session.close().await;
        }
        self.see(changes).await
    }

    /// After a failure: the original settings, from inside where the server can be asked, else from outside.
    async fn bring_back(&mut self) -> Result<(), ServerError> {
        self.held.clear();
        let originals: Vec<(String, Option<String>)> =
            self.originals.iter().map(|o| (o.name.clone(), o.value.clone())).collect();
        let answers = Session::open(&self.target).await;
        let by_itself = match answers {
            Ok(session) => {
                session.close().await;
                Box::pin(self.change(&originals)).await
            }
            Err(error) => Err(error.to_string()),
        };
        let Err(why) = by_itself else { return Ok(()) };
        match start_as_before(&self.target, &self.ways, &self.originals).await {
            Ok(session) => {
                session.close().await;
                Ok(())
            }
            Err(outside) => Err(ServerError::Broken(self.left_to_do(&why, &outside))),
        }
    }

    fn left_to_do(&self, why: &str, outside: &str) -> String {
        let statements = self.originals.iter().map(Original::statement);
        let statements = statements.collect::<Vec<_>>().join("; ");
        let restart = self.settings.values().any(Setting::needs_restart);
        let then = if restart { "a restart" } else { "a reload" };
        format!(
            "the server's settings could not be put back ({why}; {outside}); once it runs: {statements}; then {then}"
        )
    }

    /// Waits until new sessions have the values.
    async fn see(&self, changes: &[(String, Option<String>)]) -> Result<(), String> {
        let deadline = Instant::now() + RELOADED_WITHIN;
        loop {
            let different = self.different(changes).await?;
            let Some(different) = different else { return Ok(()) };
            if Instant::now() >= deadline {
                return Err(different);
            }
            tokio::time::sleep(POLL).await;
        }
    }

    async fn different(
        &self,
        changes: &[(String, Option<String>)],
    ) -> Result<Option<String>, String> {
        let mut session = Session::open(&self.target).await.map_err(|e| e.to_string())?;
        let names: Vec<&str> = changes.iter().map(|(name, _)| name.as_str()).collect();
        let present = settings(&mut session, &names).await;
        session.close().await;
        let present = present.map_err(|error| error.to_string())?;
        Ok(changes.iter().find_map(|(name, value)| {
            let value = value.as_ref()?;
            let setting = present.iter().find(|setting| setting.name == *name)?;
            (!setting.is(&setting.value, value)).then(|| {
                let (found, source) = (&setting.value, &setting.source);
                format!("{name} is {found} instead of {value} (source: {source})")
            })
        }))
    }
}

/// Starts a server with what it had before, put back from outside.
async fn start_as_before(
    target: &Target,
    ways: &Ways,
    originals: &[Original],
) -> Result<Session, String> {
    ways.put_back(originals).await?;
    ways.restart().await?;
    until_up(target, ways, None).await
}

/// Waits until the server answers, and is not the one that started then.
async fn until_up(target: &Target, ways: &Ways, before: Option<&str>) -> Result<Session, String> {
    let deadline = Instant::now() + ways.patience;
    loop {
        let why = match Session::open(target).await {
            Ok(mut session) => match started(&mut session).await {
                Ok(now) if Some(now.as_str()) != before => return Ok(session),
                now => {
                    session.close().await;
                    now.err().map_or("it was not restarted".to_owned(), |error| error.to_string())
                }
            },
            Err(error) => error.to_string(),
        };
        if Instant::now() >= deadline {
            return Err(why);
        }
        tokio::time::sleep(POLL).await;
    }
}

async fn started(session: &mut Session) -> Result<String, TargetError> {
    let row = session.row("select pg_catalog.pg_postmaster_start_time()::text").await?;
    Ok(row.into_iter().next().flatten().unwrap_or_default())
}
