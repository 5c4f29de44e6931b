//! The rows of pgbench's tables in COPY's text format, made a chunk at a time.

use bytes::Bytes;

use super::tables::{ACCOUNTS, TELLERS};

/// Filled up to about this size before it is sent: far above the cost of a message, far below memory.
const CHUNK: usize = 64 * 1024;
/// No row is longer.
const ROW: usize = 64;

/// One of the three tables that have rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Table {
    Branches,
    Tellers,
    Accounts,
}

impl Table {
    /// In pgbench's order of loading.
    pub(super) const ALL: [Self; 3] = [Self::Branches, Self::Tellers, Self::Accounts];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Branches => "pgbench_branches",
            Self::Tellers => "pgbench_tellers",
            Self::Accounts => "pgbench_accounts",
        }
    }

    /// Rows of a branch.
    pub(super) fn per_branch(self) -> u64 {
        match self {
            Self::Branches => 1,
            Self::Tellers => TELLERS,
            Self::Accounts => ACCOUNTS,
        }
    }

    /// Columns after the balance: NULL, or for accounts an empty string that the server pads.
    fn tail(self) -> &'static [u8] {
        match self {
            Self::Branches | Self::Tellers => b"\t0\t\\N\n",
            Self::Accounts => b"\t0\t\n",
        }
    }
}

/// Rows `first..=last` (numbered from 1) up to a chunk's size, and the number of the last one written.
pub(super) fn chunk(table: Table, first: u64, last: u64) -> (Bytes, u64) {
    let mut text = Vec::with_capacity(CHUNK + ROW);
    let mut digits = itoa::Buffer::new();
    let per_branch = table.per_branch();
    let mut id = first;
    loop {
        text.extend_from_slice(digits.format(id).as_bytes());
        if per_branch > 1 {
            text.push(b'\t');
            text.extend_from_slice(digits.format((id - 1) / per_branch + 1).as_bytes());
        }
        text.extend_from_slice(table.tail());
        if id >= last || text.len() >= CHUNK {
            return (text.into(), id);
        }
        id += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_those_of_pgbench() {
        let text =
            |table, first, last| String::from_utf8_lossy(&chunk(table, first, last).0).into_owned();
        assert_eq!(text(Table::Branches, 1, 2), "1\t0\t\\N\n2\t0\t\\N\n");
        assert_eq!(text(Table::Tellers, 10, 11), "10\t1\t0\t\\N\n11\t2\t0\t\\N\n");
        assert_eq!(text(Table::Accounts, 100_000, 100_001), "100000\t1\t0\t\n100001\t2\t0\t\n");
    }

    #[test]
    fn chunks_join_without_gap_or_overlap() {
        let (mut next, mut all) = (1, Vec::new());
        while next <= 20_000 {
            let (text, last) = chunk(Table::Accounts, next, 20_000);
            assert!(text.len() <= CHUNK + ROW);
            all.extend_from_slice(&text);
            next = last + 1;
        }
        let ids = all.split(|&b| b == b'\n').filter(|line| !line.is_empty()).map(|line| {
            let id = line.split(|&b| b == b'\t').next().unwrap_or_default();
            String::from_utf8_lossy(id).parse::<u64>()
        });
        assert!(ids.eq((1..=20_000).map(Ok)));
    }
}
