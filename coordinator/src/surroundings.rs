//! The real surroundings in which a target is resolved: environment, files and account of this process.
//!
//! Knows nothing of what the options mean; see `pgsurge_common::target`.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use pgsurge_common::target::{File, Surroundings};

/// Debian's and Red Hat's folder of unix sockets, and the one of `PostgreSQL`'s own sources.
const SOCKET_DIRECTORIES: [&str; 2] = ["/var/run/postgresql", "/tmp"];

/// Debian's folder of the system-wide service file, Red Hat's, and the one of the sources.
const SYSTEM_DIRECTORIES: [&str; 3] =
    ["/etc/postgresql-common", "/etc/sysconfig/pgsql", "/usr/local/pgsql/etc"];

/// The process's own surroundings.
#[derive(Clone, Copy, Debug, Default)]
pub struct Process;

impl Surroundings for Process {
    fn env(&self, name: &str) -> Option<String> {
        std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
    }

    fn read(&self, path: &Path) -> io::Result<File> {
        let metadata = fs::metadata(path)?;
        let plain = metadata.is_file();
        // Anything else is never opened: reading a pipe could take for ever.
        let bytes = if plain { fs::read(path)? } else { Vec::new() };
        Ok(File {
            text: String::from_utf8_lossy(&bytes).into_owned(),
            mode: metadata.mode(),
            owned_by_root: metadata.uid() == 0,
            plain,
        })
    }

    fn home(&self) -> Option<PathBuf> {
        let home = std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
        home.or_else(|| local_user().map(|user| user.home))
    }

    fn os_user(&self) -> Result<String, String> {
        if let Some(user) = local_user() {
            return Ok(user.name);
        }
        // Users of a network directory are not in the file; `id` asks where the system asks.
        let answer = Command::new("id").arg("-un").output();
        let name = answer
            .ok()
            .filter(|answer| answer.status.success())
            .map(|answer| String::from_utf8_lossy(&answer.stdout).trim().to_owned())
            .filter(|name| !name.is_empty());
        name.ok_or_else(|| {
            let id = rustix::process::geteuid().as_raw();
            format!("could not look up effective user ID {id}: user does not exist")
        })
    }

    fn socket_directory(&self) -> PathBuf {
        first_present(&SOCKET_DIRECTORIES)
    }

    fn system_directory(&self) -> PathBuf {
        first_present(&SYSTEM_DIRECTORIES)
    }
}

/// The first of these folders that is there, else the last.
fn first_present(folders: &[&str]) -> PathBuf {
    let present = folders.iter().find(|folder| Path::new(folder).is_dir());
    present.or(folders.last()).map(PathBuf::from).unwrap_or_default()
}

struct LocalUser {
    name: String,
    home: PathBuf,
}

/// The effective user, if listed locally.
fn local_user() -> Option<LocalUser> {
    let users = fs::read_to_string("/etc/passwd").ok()?;
    find_user(&users, rustix::process::geteuid().as_raw())
}

fn find_user(users: &str, id: u32) -> Option<LocalUser> {
    users.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        let [name, _, uid, _, _, home, ..] = fields[..] else {
            return None;
        };
        let found = uid.parse() == Ok(id);
        found.then(|| LocalUser { name: name.to_owned(), home: home.into() })
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_user_is_found_by_number() {
        let users = "root:x:0:0:root:/root:/bin/sh\nbad line\nme:x:1000:1000::/home/me:/bin/sh\n";
        let user = find_user(users, 1000).unwrap();
        assert_eq!((user.name.as_str(), user.home.to_str()), ("me", Some("/home/me")));
        assert!(find_user(users, 1).is_none());
    }

    #[test]
    fn files_come_with_their_mode_and_only_plain_ones_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pass");
        fs::write(&path, b"secret \xff").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let file = Process.read(&path).unwrap();
        assert_eq!((file.mode & 0o777, file.plain), (0o640, true));
        assert_eq!(file.text, "secret \u{fffd}");
        assert!(!format!("{file:?}").contains("secret"));
        assert!(!Process.read(folder.path()).unwrap().plain);
        let missing = Process.read(&folder.path().join("none")).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }
}
