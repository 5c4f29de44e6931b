//! Results that a script stores in variables: `\gset` and `\aset`.
//!
//! Buffers are kept from one statement to the next. Knows nothing of variables: it hands out names and
//! values once the round trip is over.

use crate::wire::{DataRow, RowDescription, WireError};

/// Which results are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The last result, which must be one row (`\gset`).
    #[default]
    OnlyRow,
    /// The last row of each result (`\aset`).
    LastRows,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Capture {
    kind: Kind,
    columns: Vec<Vec<u8>>,
    /// Values of the current result's last row; NULL is the empty string.
    row: Vec<Vec<u8>>,
    /// Rows of the current result.
    rows: u64,
    /// What is to be stored.
    kept: Vec<Column>,
    /// Number and row count of the last result.
    last: Option<(u32, u64)>,
}

/// One value to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: Vec<u8>,
    /// NULL is the empty string.
    pub(crate) value: Vec<u8>,
    /// Number of the result that it is from.
    pub(crate) query: u32,
}

/// A result that `\gset` cannot take: how many rows it has, and which result it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotOneRow {
    pub(crate) rows: u64,
    pub(crate) query: u32,
}

impl Capture {
    /// Makes ready for a statement.
    pub(crate) fn begin(&mut self, kind: Kind) {
        self.kind = kind;
        self.columns.clear();
        self.row.clear();
        self.kept.clear();
        self.rows = 0;
        self.last = None;
    }

    pub(super) fn columns(&mut self, columns: &RowDescription<'_>) -> Result<(), WireError> {
        self.columns.clear();
        for name in columns.names() {
            self.columns.push(name?.to_vec());
        }
        Ok(())
    }

    pub(super) fn row(&mut self, row: &DataRow<'_>) -> Result<(), WireError> {
        self.rows += 1;
        self.row.clear();
        for value in row.values() {
            self.row.push(value?.unwrap_or_default().to_vec());
        }
        Ok(())
    }

    /// A result is complete.
    pub(super) fn end_result(&mut self, query: u32) {
        if self.kind == Kind::OnlyRow {
            self.kept.clear();
        }
        let values = self.columns.drain(..).zip(self.row.drain(..));
        if self.rows > 0 {
            self.kept.extend(values.map(|(name, value)| Column { name, value, query }));
        }
        self.last = Some((query, std::mem::take(&mut self.rows)));
    }

    /// What is to be stored after a round trip without error.
    pub(crate) fn finish(&self) -> Result<&[Column], NotOneRow> {
        match (self.kind, self.last) {
            (Kind::OnlyRow, Some((query, rows))) if rows != 1 => Err(NotOneRow { rows, query }),
            (Kind::OnlyRow, None) => Err(NotOneRow { rows: 0, query: 0 }),
            _ => Ok(&self.kept),
        }
    }
}
