//! `server.csv`: every figure of every reading, one a row, written as it comes and kept nowhere (I7).
//!
//! The columns are documented in `docs/measurement.md`. Values are the server's own, not differences.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::PathBuf;

use serde::Serialize;

use super::reading::{Reading, Row};
use super::source::{INDEX, TABLE};

/// Relations of one kind that have rows of their own.
const MOST_NAMED: usize = 50;
/// What the others are called together.
const OTHERS: &str = "(others)";

#[derive(Serialize)]
struct Line<'a> {
    t_s: f64,
    source: &'a str,
    object: &'a str,
    figure: &'a str,
    value: f64,
}

/// The file; the first error ends it.
pub(super) struct Table {
    path: PathBuf,
    csv: csv::Writer<File>,
    named: BTreeSet<(&'static str, String)>,
    failed: Option<io::Error>,
}

impl Table {
    pub(super) fn create(path: PathBuf) -> Result<Self, (PathBuf, io::Error)> {
        match File::create(&path) {
            Ok(file) => {
                let csv = csv::Writer::from_writer(file);
                Ok(Self { path, csv, named: BTreeSet::new(), failed: None })
            }
            Err(error) => Err((path, error)),
        }
    }

    /// Writes a reading through to the file. Relations get rows of their own in the order in which they are first
    /// used, `base` being the first reading; what that says of them comes with it.
    pub(super) fn write(
        &mut self,
        reading: &Reading,
        base: &Reading,
        t_s: impl Fn(&Reading) -> f64,
    ) {
        if self.failed.is_none() {
            self.failed = self.try_write(reading, base, t_s).err();
        }
    }

    fn try_write(
        &mut self,
        reading: &Reading,
        base: &Reading,
        t_s: impl Fn(&Reading) -> f64,
    ) -> io::Result<()> {
        let at = t_s(reading);
        for row in reading.rows.iter().filter(|row| !is_relation(row)) {
            self.row(at, &row.object, row)?;
        }
        for source in [TABLE, INDEX] {
            let mut others = Row { source, object: OTHERS.into(), figures: Vec::new() };
            for row in reading.rows.iter().filter(|row| row.source == source) {
                let before =
                    base.rows.iter().find(|b| b.source == source && b.object == row.object);
                match self.standing(row, before) {
                    Standing::Named => self.row(at, &row.object, row)?,
                    Standing::New => {
                        if let Some(before) = before.filter(|_| !std::ptr::eq(reading, base)) {
                            self.row(t_s(base), &before.object, before)?;
                        }
                        self.row(at, &row.object, row)?;
                    }
                    Standing::Other => add(&mut others, row),
                }
            }
            self.row(at, OTHERS, &others)?;
        }
        self.csv.flush()
    }

    fn standing(&mut self, row: &Row, before: Option<&Row>) -> Standing {
        let key = (row.source, row.object.clone());
        if self.named.contains(&key) {
            return Standing::Named;
        }
        let of_its_kind = self.named.iter().filter(|(source, _)| *source == row.source).count();
        if of_its_kind >= MOST_NAMED || before.is_some_and(|before| before.figures == row.figures) {
            return Standing::Other;
        }
        self.named.insert(key);
        Standing::New
    }

    /// What is nothing so far needs no row.
    fn row(&mut self, t_s: f64, object: &str, row: &Row) -> io::Result<()> {
        for (figure, value) in row.figures.iter().filter(|(_, value)| *value != 0.0) {
            let t_s = (t_s * 1000.0).round() / 1000.0;
            let line = Line { t_s, source: row.source, object, figure, value: *value };
            self.csv.serialize(line)?;
        }
        Ok(())
    }

    /// Ends the file and sees it on disk.
    pub(super) fn finish(self) -> Result<(), (PathBuf, io::Error)> {
        let Self { path, csv, failed, .. } = self;
        let ended = match failed {
            Some(error) => Err(error),
            None => csv.into_inner().map_err(csv::IntoInnerError::into_error),
        };
        ended.and_then(|file| file.sync_all()).map_err(|error| (path, error))
    }
}

enum Standing {
    Named,
    /// From now on.
    New,
    Other,
}

fn is_relation(row: &Row) -> bool {
    [TABLE, INDEX].contains(&row.source)
}

fn add(sum: &mut Row, row: &Row) {
    for (name, value) in &row.figures {
        match sum.figures.iter_mut().find(|(known, _)| known == name) {
            Some((_, total)) => *total += value,
            None => sum.figures.push((name, *value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fold::tests::reading;
    use super::*;

    #[test]
    fn a_table_is_named_from_its_first_use_on_and_zeros_are_left_out() {
        let folder = tempfile::tempdir().expect("there is room for one");
        let path = folder.path().join("server.csv");
        let mut table = Table::create(path.clone()).expect("the folder is ours");
        let base = reading(100.0, 7.0);
        let mut second = reading(0.0, 9.0);
        second.rows[0].figures[0].1 = 0.0;
        table.write(&base, &base, |_| -1.0);
        table.write(
            &second,
            &base,
            |read| if std::ptr::eq(read, &raw const base) { -1.0 } else { 5.0 },
        );
        table.finish().expect("the disk is not full");
        let text = std::fs::read_to_string(path).expect("it was written");
        let expected = "t_s,source,object,figure,value\n\
            -1.0,wal,,wal_bytes,100.0\n-1.0,database,,blks_read,10.0\n-1.0,database,,blks_hit,7.0\n\
            -1.0,wait,running,sessions,3.0\n\
            -1.0,table,(others),heap_blks_hit,7.0\n-1.0,table,(others),heap_blks_read,1.0\n\
            5.0,database,,blks_read,10.0\n5.0,database,,blks_hit,9.0\n5.0,wait,running,sessions,3.0\n\
            -1.0,table,public.t,heap_blks_hit,7.0\n-1.0,table,public.t,heap_blks_read,1.0\n\
            5.0,table,public.t,heap_blks_hit,9.0\n5.0,table,public.t,heap_blks_read,1.0\n";
        assert_eq!(text, expected);
    }
}
