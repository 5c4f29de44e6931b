//! Answers of experiments as documents in their folders: written once, read again for their pages.

use std::fs::File;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{capacity, sweep, tune};
use crate::picture::Sheet;
use crate::report::summary::read::ReadError;

/// Makes the page of a document.
type Page = fn(&Path) -> Result<Sheet, ReadError>;

/// Names of the documents with how their pages are made.
const PAGES: [(&str, Page); 3] = [
    ("sweep.json", |path| Ok(sweep::page(&read(path, sweep::SCHEMA)?))),
    ("tune.json", |path| Ok(tune::page(&read(path, tune::SCHEMA)?))),
    ("capacity.json", |path| Ok(capacity::page(&read(path, capacity::SCHEMA)?))),
];

/// Puts a document into a folder.
///
/// # Errors
/// It cannot be written; the file is named.
pub fn write(path: &Path, document: &impl Serialize) -> Result<(), (PathBuf, std::io::Error)> {
    let written = File::create(path).and_then(|file| {
        serde_json::to_writer_pretty(&file, document)?;
        file.sync_all()
    });
    written.map_err(|error| (path.to_owned(), error))
}

/// The page of an experiment's folder; none if it is not one.
///
/// # Errors
/// Its document cannot be read, or a later version wrote it.
pub fn page_of(folder: &Path) -> Result<Option<Sheet>, ReadError> {
    let documents = PAGES.iter().map(|(name, page)| (folder.join(name), page));
    let there = documents.into_iter().find(|(path, _)| path.is_file());
    there.map(|(path, page)| page(&path)).transpose()
}

/// Reads a document of this schema.
fn read<T: DeserializeOwned>(path: &Path, schema: &'static str) -> Result<T, ReadError> {
    let malformed = |what: String| ReadError::Malformed { path: path.to_owned(), what };
    let text = std::fs::read(path).map_err(|error| malformed(error.to_string()))?;
    let document: Value =
        serde_json::from_slice(&text).map_err(|error| malformed(error.to_string()))?;
    match document.get("schema").and_then(Value::as_str) {
        Some(found) if found == schema => {
            serde_json::from_value(document).map_err(|error| malformed(error.to_string()))
        }
        found => Err(ReadError::Foreign {
            path: path.to_owned(),
            found: found.unwrap_or("none").to_owned(),
            known: schema,
        }),
    }
}
