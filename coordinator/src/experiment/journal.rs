//! What an experiment has done so far, line by line, so that it can go on where it was interrupted, whatever interrupted it.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An open journal.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
}

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// It cannot be written or read.
    #[error("cannot use {}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the system says.
        #[source]
        error: io::Error,
    },
    /// A later version wrote it.
    #[error("{} is of schema {found}, this version reads {known}", path.display())]
    Foreign {
        /// Which.
        path: PathBuf,
        /// Its schema.
        found: String,
        /// The one that can be read.
        known: &'static str,
    },
    /// It is not what pgsurge writes.
    #[error("{} line {line}: {what}", path.display())]
    Malformed {
        /// Which.
        path: PathBuf,
        /// Where, from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
}

impl Journal {
    /// Begins one of this schema; the first line says what it is of.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn begin(
        path: &Path,
        schema: &'static str,
        head: &impl Serialize,
    ) -> Result<Self, JournalError> {
        let file = OpenOptions::new().create_new(true).append(true).open(path);
        let mut journal = Self { file: file.map_err(of(path))?, path: path.to_owned() };
        journal.add(&First { schema: schema.to_owned(), head })?;
        Ok(journal)
    }

    /// Goes on with one; returns its first line and the others. A last line that was cut off is taken away.
    ///
    /// # Errors
    /// It cannot be read, or is not one.
    pub fn resume<H: DeserializeOwned, T: DeserializeOwned>(
        path: &Path,
        schema: &'static str,
    ) -> Result<(Self, H, Vec<T>), JournalError> {
        let mut reader = BufReader::new(File::open(path).map_err(of(path))?);
        let (mut lines, mut whole) = (Vec::new(), 0);
        loop {
            let mut line = String::new();
            let length = reader.read_line(&mut line).map_err(of(path))?;
            if !line.ends_with('\n') {
                break;
            }
            whole += length as u64;
            lines.push(line);
        }
        let malformed = |line: usize, error: serde_json::Error| JournalError::Malformed {
            path: path.to_owned(),
            line,
            what: error.to_string(),
        };
        let head = lines.first().map_or("", String::as_str);
        let first: First<Value> =
            serde_json::from_str(head).map_err(|error| malformed(1, error))?;
        if first.schema != schema {
            let (path, found) = (path.to_owned(), first.schema);
            return Err(JournalError::Foreign { path, found, known: schema });
        }
        let head = serde_json::from_value(first.head).map_err(|error| malformed(1, error))?;
        let parsed = lines.iter().enumerate().skip(1);
        let parsed =
            parsed.map(|(n, line)| serde_json::from_str(line).map_err(|e| malformed(n + 1, e)));
        let entries = parsed.collect::<Result<_, _>>()?;
        let file = OpenOptions::new().append(true).open(path).map_err(of(path))?;
        file.set_len(whole).map_err(of(path))?;
        Ok((Self { file, path: path.to_owned() }, head, entries))
    }

    /// Adds a line; it is on disk afterwards.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn add(&mut self, entry: &impl Serialize) -> Result<(), JournalError> {
        let mut line = serde_json::to_string(entry).expect("an entry is plain JSON");
        line.push('\n');
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(of(&self.path))
    }
}

/// The first line.
#[derive(Serialize, Deserialize)]
struct First<H> {
    schema: String,
    head: H,
}

fn of(path: &Path) -> impl Fn(io::Error) -> JournalError {
    move |error| JournalError::File { path: path.to_owned(), error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_goes_on_where_it_was_cut_off() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal.jsonl");
        let mut journal = Journal::begin(&path, "it/1", &"head").expect("new");
        journal.add(&1).expect("a line");
        drop(journal);
        let mut file = OpenOptions::new().append(true).open(&path).expect("there");
        file.write_all(b"2").expect("half a line");
        let (mut journal, head, entries) =
            Journal::resume::<String, u32>(&path, "it/1").expect("there");
        assert_eq!((head.as_str(), &entries[..]), ("head", &[1][..]));
        journal.add(&3).expect("a line");
        assert_eq!(
            std::fs::read_to_string(&path).expect("there"),
            "{\"schema\":\"it/1\",\"head\":\"head\"}\n1\n3\n"
        );
        assert!(Journal::begin(&path, "it/1", &"head").is_err(), "one is there");
        let wrong = Journal::resume::<u32, u32>(&path, "it/1").expect_err("no number");
        assert!(wrong.to_string().contains("line 1"), "{wrong}");
        let later = Journal::resume::<String, u32>(&path, "it/0").expect_err("a later one");
        assert!(
            later.to_string().ends_with("is of schema it/1, this version reads it/0"),
            "{later}"
        );
    }
}
