//! Whom servers run as: PostgreSQL refuses root, so a test that is root lends them an account.

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// An unprivileged account of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    uid: u32,
    gid: u32,
}

impl Account {
    /// `None` where the test itself is unprivileged; else `postgres`, or `nobody` where that is missing.
    pub fn for_servers() -> io::Result<Option<Self>> {
        if !rustix::process::geteuid().is_root() {
            return Ok(None);
        }
        let passwd = fs::read_to_string("/etc/passwd")?;
        ["postgres", "nobody"]
            .iter()
            .find_map(|name| Self::in_passwd(&passwd, name))
            .map(Some)
            .ok_or_else(|| io::Error::other("neither postgres nor nobody is in /etc/passwd"))
    }

    fn in_passwd(passwd: &str, name: &str) -> Option<Self> {
        let line = passwd.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut ids = line.split(':').skip(2).map(str::parse);
        Some(Self { uid: ids.next()?.ok()?, gid: ids.next()?.ok()? })
    }

    /// Numbers of user and group.
    pub fn ids(self) -> (u32, u32) {
        (self.uid, self.gid)
    }

    /// Whether this account may pass through all folders above `path`.
    pub fn reaches(self, path: &Path) -> bool {
        Command::new("test")
            .args(["-x".as_ref(), path.as_os_str()])
            .uid(self.uid)
            .gid(self.gid)
            .status()
            .is_ok_and(|status| status.success())
    }
}

/// A command that runs as the account, if there is one to lend.
pub fn command(account: Option<&Account>, program: &Path) -> Command {
    let mut command = Command::new(program);
    if let Some(account) = account {
        command.uid(account.uid).gid(account.gid);
    }
    command
}

/// Gives a file or folder to the account.
pub fn give(account: Option<&Account>, path: &Path) -> io::Result<()> {
    match account {
        Some(account) => chown(path, Some(account.uid), Some(account.gid)),
        None => Ok(()),
    }
}

/// Lets the server's account and everybody else create files in a folder made by the test.
pub fn open_to_all(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o777))
}
