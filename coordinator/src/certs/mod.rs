//! A fleet's certificates: one authority, a certificate for the coordinator, one for each agent.
//!
//! In reading order: what is asked for and in which order it is made (here), what the certificates say
//! (`authority`), how they get to disk (`folder`). Each holder has a folder of its own with the same three
//! file names, so that what is copied to a host is one folder and every command line is the same.
//!
//! Invariant: a folder appears whole, with keys that nobody else could read at any moment, and nothing that
//! is there is replaced unless that is asked for.

mod authority;
mod folder;

use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use thiserror::Error;

use authority::{Authority, Holder, Made, Times};

/// What to make.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Where.
    pub folder: PathBuf,
    /// Names and addresses under which agents dial the coordinator; none for no coordinator's certificate.
    pub names: Vec<String>,
    /// Certificates for so many agents: further ones, or with `renew` the first ones.
    pub agents: u32,
    /// How long certificates are good for.
    pub days: u32,
    /// Replace what is there.
    pub renew: bool,
}

/// What was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The authority is new; it is good until then.
    pub authority: Option<Timestamp>,
    /// The coordinator's folder, if it was made.
    pub coordinator: Option<PathBuf>,
    /// The agents' folders.
    pub agents: Vec<PathBuf>,
    /// Until when the certificates are good.
    pub until: Timestamp,
}

/// Why certificates were not made.
#[derive(Debug, Error)]
pub enum CertsError {
    /// There is no authority, and an authority without a coordinator's certificate is of no use.
    #[error("there is no authority in {0} yet, give --coordinator with the names that agents dial")]
    NoAuthority(PathBuf),
    /// Something is there.
    #[error(
        "{0} is there already and stays as it is; give --renew to replace its certificate, or leave out --coordinator to add agents only"
    )]
    Exists(PathBuf),
    /// There is nothing to renew.
    #[error("{0} is not there, so there is nothing to renew; leave out --renew to make it")]
    NotThere(PathBuf),
    /// The authority's files do not belong together, or not to this program.
    #[error("the authority in {0} cannot sign: {1}")]
    Unusable(PathBuf, String),
    /// A certificate cannot be made.
    #[error("cannot make a certificate: {0}")]
    Make(#[from] rcgen::Error),
    /// A file or folder cannot be written.
    #[error("cannot write {path}: {error}")]
    Write {
        /// Its name.
        path: PathBuf,
        /// The system's reason.
        error: std::io::Error,
    },
    /// A file cannot be read.
    #[error("cannot read {path}: {error}")]
    Read {
        /// Its name.
        path: PathBuf,
        /// The system's reason.
        error: std::io::Error,
    },
}

/// How long an authority is good for, at least; it outlives what it signs.
const AUTHORITY_DAYS: u32 = 3650;

/// Folder of the authority.
const AUTHORITY: &str = "authority";
/// Folder of the coordinator.
const COORDINATOR: &str = "coordinator";

/// Makes what is wanted. What was made before something failed stays: each folder is whole by itself.
///
/// # Errors
/// See [`CertsError`].
pub fn make(wanted: &Wanted, now: Timestamp) -> Result<Report, CertsError> {
    let times = Times::new(now, wanted.days);
    let coordinator = wanted.folder.join(COORDINATOR);
    if !wanted.names.is_empty() {
        check_presence(&coordinator, wanted.renew)?;
    }
    let agents = agents(wanted)?;
    let (authority, new) = authority(wanted, now)?;
    let mut report =
        Report { authority: new, coordinator: None, agents: Vec::new(), until: times.until };
    if !wanted.names.is_empty() {
        let made = authority.sign(&Holder::Coordinator(&wanted.names), times)?;
        put(&coordinator, &made, wanted.renew)?;
        report.coordinator = Some(coordinator);
    }
    for (name, folder) in agents {
        let made = authority.sign(&Holder::Agent(&name), times)?;
        put(&folder, &made, wanted.renew)?;
        report.agents.push(folder);
    }
    Ok(report)
}

/// The authority that is there, or a new one with the end of its time.
fn authority(
    wanted: &Wanted,
    now: Timestamp,
) -> Result<(Authority, Option<Timestamp>), CertsError> {
    let folder = wanted.folder.join(AUTHORITY);
    if folder.exists() {
        let read = |name| folder::read(&folder.join(name));
        let opened = Authority::open(read("ca.crt")?, &read("ca.key")?);
        return opened
            .map(|authority| (authority, None))
            .map_err(|reason| CertsError::Unusable(folder, reason));
    }
    if wanted.names.is_empty() {
        return Err(CertsError::NoAuthority(wanted.folder.clone()));
    }
    let times = Times::new(now, wanted.days.max(AUTHORITY_DAYS));
    let (authority, key) = Authority::create(times)?;
    folder::create(&folder, &[("ca.crt", authority.pem(), false), ("ca.key", key.expose(), true)])?;
    Ok((authority, Some(times.until)))
}

/// Names and folders of the agents: those that follow the ones that are there, or the first ones.
fn agents(wanted: &Wanted) -> Result<Vec<(String, PathBuf)>, CertsError> {
    let first = if wanted.renew { 1 } else { last_agent(&wanted.folder) + 1 };
    let numbers = (first..).take(wanted.agents as usize);
    let agents = numbers.map(|number| format!("agent-{number}"));
    let agents: Vec<_> = agents.map(|name| (name.clone(), wanted.folder.join(name))).collect();
    for (_, folder) in &agents {
        check_presence(folder, wanted.renew)?;
    }
    Ok(agents)
}

/// The highest number of an agent's folder; 0 where there is none.
fn last_agent(folder: &Path) -> u32 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let numbers = names.filter_map(|name| name.strip_prefix("agent-")?.parse().ok());
    numbers.max().unwrap_or(0)
}

fn check_presence(folder: &Path, wanted: bool) -> Result<(), CertsError> {
    match (folder.exists(), wanted) {
        (true, false) => Err(CertsError::Exists(folder.to_owned())),
        (false, true) => Err(CertsError::NotThere(folder.to_owned())),
        _ => Ok(()),
    }
}

fn put(folder: &Path, made: &Made, replace: bool) -> Result<(), CertsError> {
    // The key comes last: whoever reads in between finds a pair that does not fit and waits for the rest.
    let files = [
        ("ca.crt", made.authority.as_str(), false),
        ("tls.crt", made.certificate.as_str(), false),
        ("tls.key", made.key.expose(), true),
    ];
    if replace { folder::replace(folder, &files) } else { folder::create(folder, &files) }
}

/// The end of a number of days from a moment.
fn after(now: Timestamp, days: u32) -> Timestamp {
    let span = SignedDuration::from_hours(24 * i64::from(days));
    now.checked_add(span).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests;
