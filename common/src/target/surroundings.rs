//! What libpq looks at besides its arguments; the caller looks in its place.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Environment, files and account of the process that resolves a target.
pub trait Surroundings {
    /// Value of an environment variable; `None` if it is not set.
    fn env(&self, name: &str) -> Option<String>;

    /// Contents and mode of a file. A file that is not there is [`io::ErrorKind::NotFound`].
    fn read(&self, path: &Path) -> io::Result<File>;

    /// The user's home directory.
    fn home(&self) -> Option<PathBuf>;

    /// The operating system's name of the user, or why there is none.
    fn os_user(&self) -> Result<String, String>;

    /// Where a server's unix socket is looked for if nothing is said. libpq has this compiled in: Debian
    /// and Red Hat say `/var/run/postgresql`, the sources say `/tmp`.
    fn socket_directory(&self) -> PathBuf;

    /// Where the system-wide service file is, unless `PGSYSCONFDIR` says it; compiled in as well.
    fn system_directory(&self) -> PathBuf;
}

/// A file that was read.
#[derive(Clone)]
pub struct File {
    /// What it contains.
    pub text: String,
    /// Permission bits.
    pub mode: u32,
    /// Whether it belongs to root rather than to the user.
    pub owned_by_root: bool,
    /// Whether it is a plain file.
    pub plain: bool,
}

impl fmt::Debug for File {
    /// Keeps the contents to itself: they may be a key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "File(mode {:o}, {} bytes)", self.mode, self.text.len())
    }
}

#[cfg(test)]
pub(super) mod fake {
    //! Surroundings made of tables.

    use std::collections::BTreeMap;

    use super::*;

    /// Nothing set, no files, user `worker` at home in `/home/worker`.
    #[derive(Default)]
    pub(crate) struct Fake {
        env: BTreeMap<String, String>,
        files: BTreeMap<PathBuf, File>,
    }

    impl Fake {
        pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
            self.env.insert(name.to_owned(), value.to_owned());
            self
        }

        pub(crate) fn file(mut self, path: &str, mode: u32, text: &str) -> Self {
            let file = File { text: text.to_owned(), mode, owned_by_root: false, plain: true };
            self.files.insert(path.into(), file);
            self
        }
    }

    impl Surroundings for Fake {
        fn env(&self, name: &str) -> Option<String> {
            self.env.get(name).cloned()
        }

        fn read(&self, path: &Path) -> io::Result<File> {
            self.files.get(path).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
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
}
