//! The server's settings: changed with ALTER SYSTEM, put into force by a reload or a restart, seen to be in force, and put back.
//!
//! Everything that can be known is checked before the first change ([`Server::look`]); whatever happens later,
//! [`Server::restore`] leaves what was there before.

use std::collections::BTreeMap;
use std::time::Duration;

use pgsurge_common::target::Target;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

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

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

impl Server {
    /// Looks at the settings that are to take these values; changes nothing. `originals` are those of an earlier attempt
    /// that did not get to put them back.
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
        let mut session = Session::open(&target).await.map_err(refused)?;
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
            self.wait_until_up(started.ok().as_deref()).await?;
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
        let from_outside = async {
            self.ways.put_back(&self.originals).await?;
            self.ways.restart().await?;
            self.wait_until_up(None).await
        };
        from_outside.await.map_err(|outside| ServerError::Broken(self.left_to_do(&why, &outside)))
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

    /// Waits until the server answers, and is not the one that started then.
    async fn wait_until_up(&self, before: Option<&str>) -> Result<(), String> {
        let deadline = Instant::now() + self.ways.patience;
        loop {
            let why = match Session::open(&self.target).await {
                Ok(mut session) => {
                    let now = started(&mut session).await;
                    session.close().await;
                    match now {
                        Ok(now) if Some(now.as_str()) != before => return Ok(()),
                        Ok(_) => "it was not restarted".to_owned(),
                        Err(error) => error.to_string(),
                    }
                }
                Err(error) => error.to_string(),
            };
            if Instant::now() >= deadline {
                return Err(why);
            }
            tokio::time::sleep(POLL).await;
        }
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

async fn started(session: &mut Session) -> Result<String, TargetError> {
    let row = session.row("select pg_catalog.pg_postmaster_start_time()::text").await?;
    Ok(row.into_iter().next().flatten().unwrap_or_default())
}

type Looked = (BTreeMap<String, Setting>, Vec<Original>);

async fn look(
    session: &mut Session,
    ways: &Ways,
    wanted: &[(String, Vec<String>)],
) -> Result<Looked, ServerError> {
    let refused = |error: TargetError| ServerError::Refused(error.to_string());
    let names: Vec<&str> = wanted.iter().map(|(name, _)| name.as_str()).collect();
    let found = settings(session, &names).await.map_err(refused)?;
    for (name, values) in wanted {
        let setting = found.iter().find(|setting| setting.name == *name);
        let setting = setting
            .ok_or_else(|| ServerError::Refused(format!("the server has no setting {name}")))?;
        let why = setting.unchangeable().or_else(|| values.iter().find_map(|v| setting.refuses(v)));
        if let Some(why) = why.or_else(|| lacks_a_way(setting, ways)) {
            return Err(ServerError::Refused(why));
        }
    }
    may_alter(session).await?;
    same_directory(session, ways).await?;
    let originals = originals(session, &names).await.map_err(refused)?;
    Ok((found.into_iter().map(|setting| (setting.name.clone(), setting)).collect(), originals))
}

fn lacks_a_way(setting: &Setting, ways: &Ways) -> Option<String> {
    let name = &setting.name;
    if !setting.needs_restart() {
        return None;
    }
    if !ways.can_restart() {
        return Some(format!(
            "setting {name} takes a restart: --restart-cmd says how, or --data-directory where pg_ctl can do it"
        ));
    }
    (!ways.can_recover()).then(|| {
        format!(
            "setting {name} can keep the server from starting, which ALTER SYSTEM cannot undo from outside: \
             --data-directory or --recover-cmd is needed"
        )
    })
}

/// Only who may change everything can be sure to put everything back.
async fn may_alter(session: &mut Session) -> Result<(), ServerError> {
    let row = session.row("select current_setting('is_superuser'), current_user").await;
    let row = row.map_err(|error| ServerError::Refused(error.to_string()))?;
    let mut row = row.into_iter().flatten();
    if row.next().as_deref() == Some("on") {
        return Ok(());
    }
    let role = row.next().unwrap_or_default();
    Err(ServerError::Refused(format!("role {role} may not change settings: it is no superuser")))
}

async fn same_directory(session: &mut Session, ways: &Ways) -> Result<(), ServerError> {
    let Some(given) = &ways.data_directory else { return Ok(()) };
    let row = session.row("select current_setting('data_directory')").await;
    let row = row.map_err(|error| ServerError::Refused(error.to_string()))?;
    let of_server = row.into_iter().next().flatten().unwrap_or_default();
    let real = |path: &std::path::Path| path.canonicalize().ok();
    if real(given).is_some() && real(given) == real(std::path::Path::new(&of_server)) {
        return Ok(());
    }
    Err(ServerError::Refused(format!(
        "--data-directory {} is not that of the server, which is {of_server}",
        given.display()
    )))
}

async fn settings(session: &mut Session, names: &[&str]) -> Result<Vec<Setting>, TargetError> {
    let names = names.iter().map(|name| literal(name)).collect::<Vec<_>>().join(", ");
    let sql = format!(
        "select name, setting, unit, context, vartype, min_val, max_val, \
         pg_catalog.array_to_string(enumvals, ','), source, pg_catalog.current_setting(name) from pg_catalog.pg_settings where name in ({names})"
    );
    let rows = session.rows(&sql).await?;
    Ok(rows.into_iter().map(setting).collect())
}

fn setting(row: Vec<Option<String>>) -> Setting {
    let mut row = row.into_iter();
    let mut next = || row.next().flatten();
    let mut text = || next().unwrap_or_default();
    let (name, value) = (text(), text());
    let unit = next();
    let mut text = || next().unwrap_or_default();
    let (context, kind, low, high) = (text(), text(), text(), text());
    let (words, source, shown) = (text(), text(), text());
    let range = low.parse().ok().zip(high.parse().ok());
    let words = words.split(',').filter(|word| !word.is_empty()).map(str::to_owned).collect();
    Setting { name, value, shown, unit, context, kind, range, words, source }
}

async fn originals(session: &mut Session, names: &[&str]) -> Result<Vec<Original>, TargetError> {
    let listed = names.iter().map(|name| literal(name)).collect::<Vec<_>>().join(", ");
    let sql = format!(
        "select name, setting from pg_catalog.pg_file_settings where name in ({listed}) and sourcefile = \
         current_setting('data_directory') || '/postgresql.auto.conf' order by seqno"
    );
    let rows = session.rows(&sql).await?;
    let of = |name: &&str| {
        let mut row = rows.iter().rev().filter(|row| row[0].as_deref() == Some(*name));
        Original { name: (*name).to_owned(), value: row.next().and_then(|row| row[1].clone()) }
    };
    Ok(names.iter().map(of).collect())
}
