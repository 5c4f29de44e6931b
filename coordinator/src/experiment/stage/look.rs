//! What can be known of a server before anything of it is changed: its settings, what ALTER SYSTEM has set of them, who asks,
//! and whether there is a way to restart it and a way back.

use std::collections::BTreeMap;

use super::server::{Original, ServerError, literal};
use super::setting::Setting;
use super::ways::Ways;
use crate::observe::{Session, TargetError};

/// Settings by name, and what ALTER SYSTEM has set of them.
pub(super) type Looked = (BTreeMap<String, Setting>, Vec<Original>);

/// Reads the settings that are to take these values, and refuses what will not do.
pub(super) async fn look(
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

/// Reads settings by their names.
pub(super) async fn settings(
    session: &mut Session,
    names: &[&str],
) -> Result<Vec<Setting>, TargetError> {
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
