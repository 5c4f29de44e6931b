//! Connection strings, and the files that libpq reads.

use std::io;
use std::path::{Path, PathBuf};

use pgsurge_common::target::{File, Request, Secret, Surroundings, resolve};

/// A user without any settings; every file has the same text.
struct Same<'a> {
    text: Option<&'a str>,
}

impl Surroundings for Same<'_> {
    fn env(&self, name: &str) -> Option<String> {
        let value = match name {
            "PGSERVICE" => "s",
            "PGHOST" => "h",
            _ => return None,
        };
        self.text.map(|_| value.to_owned())
    }

    fn read(&self, _: &Path) -> io::Result<File> {
        let text = self.text.ok_or(io::ErrorKind::NotFound)?.to_owned();
        Ok(File { text, mode: 0o600, owned_by_root: false, plain: true })
    }

    fn home(&self) -> Option<PathBuf> {
        Some("/home/worker".into())
    }

    fn os_user(&self) -> Result<String, String> {
        Ok("worker".to_owned())
    }

    fn socket_directory(&self) -> PathBuf {
        "/var/run/postgresql".into()
    }

    fn system_directory(&self) -> PathBuf {
        "/etc/postgresql-common".into()
    }
}

/// A URI or a keyword string.
pub fn conninfo(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let request = Request { database: Some(Secret::new(text)), ..Request::default() };
    if let Ok(resolved) = resolve(&request, &Same { text: None }) {
        assert!(!resolved.target.hosts.is_empty(), "a target is somewhere");
        drop(format!("{:?} {}", resolved.target, resolved.target));
    }
}

/// A service file that is a password file too.
pub fn files(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = resolve(&Request::default(), &Same { text: Some(text) });
}
