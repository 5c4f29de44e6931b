//! Which files hold a side's certificate: the options of `run` and of `agent` alike.

use std::path::PathBuf;

use crate::cli::usage::UsageError;

/// Names of the files in a folder of `--tls`, which are those that Kubernetes gives to secrets of TLS.
pub const CA: &str = "ca.crt";
/// See [`CA`].
pub const CERT: &str = "tls.crt";
/// See [`CA`].
pub const KEY: &str = "tls.key";

/// `--tls`, or `--tls-ca`, `--tls-cert` and `--tls-key`; a file that is named comes before that of the folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsFiles {
    /// Folder of all three.
    pub folder: Option<PathBuf>,
    /// Authority of the other side's certificate.
    pub ca: Option<PathBuf>,
    /// Own certificate chain.
    pub cert: Option<PathBuf>,
    /// Own private key.
    pub key: Option<PathBuf>,
}

impl TlsFiles {
    /// The three files: authority, certificate, key; `None` where none was given.
    pub fn complete(&self) -> Result<Option<[PathBuf; 3]>, UsageError> {
        let of = |given: &Option<PathBuf>, name| {
            given.clone().or_else(|| self.folder.as_ref().map(|folder| folder.join(name)))
        };
        match (of(&self.ca, CA), of(&self.cert, CERT), of(&self.key, KEY)) {
            (Some(ca), Some(cert), Some(key)) => Ok(Some([ca, cert, key])),
            (None, None, None) => Ok(None),
            _ => Err(UsageError::new("--tls-ca, --tls-cert and --tls-key must be given together")
                .hint("or give --tls with a folder that \"pgsurge certs\" made")),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_folder_gives_what_is_not_named() {
        let files = TlsFiles {
            folder: Some("f".into()),
            key: Some("other.key".into()),
            ..TlsFiles::default()
        };
        let found = files.complete().unwrap().unwrap();
        assert_eq!(found, ["f/ca.crt", "f/tls.crt", "other.key"].map(PathBuf::from));
        assert_eq!(TlsFiles::default().complete(), Ok(None));
        let two = TlsFiles { folder: None, ..files };
        assert!(two.complete().is_err());
    }
}
