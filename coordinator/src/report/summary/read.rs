//! A summary document that was written earlier, perhaps by another version.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{SCHEMA, Summary};

/// Why a folder's summary is of no use.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It has none, or it cannot be read.
    #[error("{} holds no results: cannot read {}", folder.display(), path.display())]
    Unreadable {
        /// The folder.
        folder: PathBuf,
        /// Which file.
        path: PathBuf,
        /// What the system says.
        #[source]
        error: io::Error,
    },
    /// It is not what pgsurge writes.
    #[error("{}: {what}", path.display())]
    Malformed {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A later version wrote it.
    #[error("{} is of schema {found}, this version reads {known}", path.display())]
    Foreign {
        /// Which file.
        path: PathBuf,
        /// Its schema.
        found: String,
        /// The one that can be read.
        known: &'static str,
    },
}

/// The summary in a results folder.
///
/// # Errors
/// See [`ReadError`].
pub fn read(folder: &Path) -> Result<Summary, ReadError> {
    let path = folder.join("summary.json");
    let text = std::fs::read(&path).map_err(|error| ReadError::Unreadable {
        folder: folder.to_owned(),
        path: path.clone(),
        error,
    })?;
    let malformed = |error: serde_json::Error| ReadError::Malformed {
        path: path.clone(),
        what: error.to_string(),
    };
    let document: Value = serde_json::from_slice(&text).map_err(malformed)?;
    match document.get("schema").and_then(Value::as_str) {
        Some(SCHEMA) => serde_json::from_value(document).map_err(malformed),
        found => {
            let found = found.unwrap_or("none").to_owned();
            Err(ReadError::Foreign { found, path, known: SCHEMA })
        }
    }
}
