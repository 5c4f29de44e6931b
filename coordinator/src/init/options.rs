//! What to make: the steps and the shape of the tables.

/// Options of an initialization, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// In the order of execution.
    pub steps: Vec<Step>,
    /// Branches; a tenth of the tellers, a hundred thousandth of the accounts.
    pub scale: u32,
    /// Percent, 10 to 100.
    pub fillfactor: u32,
    /// Progress every 5 seconds instead of every 100000 rows.
    pub quiet: bool,
    /// Tables without write-ahead log.
    pub unlogged: bool,
    /// Partitions of `pgbench_accounts`.
    pub partitioning: Option<Partitioning>,
    /// Of the tables.
    pub tablespace: Option<String>,
    /// Of the primary keys.
    pub index_tablespace: Option<String>,
}

impl Default for Options {
    /// pgbench's defaults.
    fn default() -> Self {
        use Step::{CreateTables, DropTables, GenerateHere, PrimaryKeys, Vacuum};
        Self {
            steps: vec![DropTables, CreateTables, GenerateHere, Vacuum, PrimaryKeys],
            scale: 1,
            fillfactor: 100,
            quiet: false,
            unlogged: false,
            partitioning: None,
            tablespace: None,
            index_tablespace: None,
        }
    }
}

/// How `pgbench_accounts` is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partitioning {
    /// By range or by hash of `aid`.
    pub method: PartitionMethod,
    /// At least 1.
    pub count: u32,
}

/// `--partition-method`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartitionMethod {
    /// Equal ranges of `aid`.
    Range,
    /// Remainders of its hash.
    Hash,
}

/// One step, by pgbench's letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// `d`.
    DropTables,
    /// `t`.
    CreateTables,
    /// `g`: rows made here and copied in.
    GenerateHere,
    /// `G`: rows made by the server.
    GenerateThere,
    /// `v`.
    Vacuum,
    /// `p`.
    PrimaryKeys,
    /// `f`.
    ForeignKeys,
}

impl Step {
    /// The step of a letter.
    #[must_use]
    pub fn of_letter(letter: char) -> Option<Self> {
        Some(match letter {
            'd' => Self::DropTables,
            't' => Self::CreateTables,
            'g' => Self::GenerateHere,
            'G' => Self::GenerateThere,
            'v' => Self::Vacuum,
            'p' => Self::PrimaryKeys,
            'f' => Self::ForeignKeys,
            _ => return None,
        })
    }

    /// The line before it.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::DropTables => "dropping old tables...",
            Self::CreateTables => "creating tables...",
            Self::GenerateHere => "generating data (client-side)...",
            Self::GenerateThere => "generating data (server-side)...",
            Self::Vacuum => "vacuuming...",
            Self::PrimaryKeys => "creating primary keys...",
            Self::ForeignKeys => "creating foreign keys...",
        }
    }

    /// Its name in the last line.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::DropTables => "drop tables",
            Self::CreateTables => "create tables",
            Self::GenerateHere => "client-side generate",
            Self::GenerateThere => "server-side generate",
            Self::Vacuum => "vacuum",
            Self::PrimaryKeys => "primary keys",
            Self::ForeignKeys => "foreign keys",
        }
    }
}
