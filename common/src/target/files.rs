//! Certificates and keys: where libpq looks for them, which of them must be there, who may read them.

use std::io;
use std::path::{Path, PathBuf};

use super::error::TargetError;
use super::options::Options;
use super::surroundings::{File, Surroundings};
use super::{ClientCertificate, Roots, Secret, SslMode};

/// Reads the authorities. Without a file they are needed only where the server must be verified.
pub(super) fn roots(
    options: &Options,
    mode: SslMode,
    surroundings: &dyn Surroundings,
) -> Result<Roots, TargetError> {
    if options.get("sslrootcert") == Some("system") {
        return Ok(Roots::System);
    }
    let what = "root certificate file";
    let path = path_of(options, "sslrootcert", "root.crt", surroundings);
    if let Some(path) = &path
        && let Some(file) = read(surroundings, what, path)?
    {
        return Ok(Roots::Pem(file.text));
    }
    if !matches!(mode, SslMode::VerifyCa | SslMode::VerifyFull) {
        return Ok(Roots::None);
    }
    let advice = "does not exist (either provide the file, use the system's trusted roots with \
                  sslrootcert=system, or change sslmode to disable server certificate verification)";
    Err(TargetError::file(what, &path.unwrap_or_else(|| "~/.postgresql/root.crt".into()), advice))
}

/// Reads the list of revoked certificates, if there is one.
pub(super) fn revoked(
    options: &Options,
    surroundings: &dyn Surroundings,
) -> Result<Option<String>, TargetError> {
    if let Some(directory) = options.filled("sslcrldir") {
        return Err(TargetError::Unsupported {
            option: "sslcrldir",
            value: directory.to_owned(),
            advice: "put the lists into one file and name it with sslcrl",
        });
    }
    let Some(path) = path_of(options, "sslcrl", "root.crl", surroundings) else {
        return Ok(None);
    };
    let file = read(surroundings, "certificate revocation list file", &path)?;
    Ok(file.map(|file| file.text))
}

/// Reads the client's certificate and its key, if there is one.
pub(super) fn client(
    options: &Options,
    surroundings: &dyn Surroundings,
) -> Result<Option<ClientCertificate>, TargetError> {
    let needed = match options.filled("sslcertmode") {
        Some("disable") => return Ok(None),
        Some("require") => true,
        None | Some("allow") => false,
        Some(other) => return Err(TargetError::value("sslcertmode", other)),
    };
    let what = "certificate file";
    let path = path_of(options, "sslcert", "postgresql.crt", surroundings);
    let chain = match &path {
        Some(path) => read(surroundings, what, path)?,
        None => None,
    };
    let (Some(chain), Some(path)) = (chain, path) else {
        let wanted: PathBuf =
            options.filled("sslcert").unwrap_or("~/.postgresql/postgresql.crt").into();
        let missing =
            || TargetError::file(what, &wanted, "does not exist, but sslcertmode=require");
        return if needed { Err(missing()) } else { Ok(None) };
    };
    let key_pem = key(options, &path, surroundings)?;
    Ok(Some(ClientCertificate { chain_pem: chain.text, key_pem }))
}

fn key(
    options: &Options,
    certificate: &Path,
    surroundings: &dyn Surroundings,
) -> Result<Secret, TargetError> {
    let what = "private key file";
    let path = path_of(options, "sslkey", "postgresql.key", surroundings)
        .unwrap_or_else(|| "~/.postgresql/postgresql.key".into());
    let Some(file) = read(surroundings, what, &path)? else {
        let problem =
            format!("does not exist, but the certificate \"{}\" does", certificate.display());
        return Err(TargetError::file(what, &path, problem));
    };
    if !file.plain {
        return Err(TargetError::file(what, &path, "is not a regular file"));
    }
    let forbidden = if file.owned_by_root { 0o027 } else { 0o077 };
    if file.mode & forbidden != 0 {
        let problem = "has group or world access; file must have permissions u=rw (0600) or less if \
                       owned by the current user, or permissions u=rw,g=r (0640) or less if owned \
                       by root";
        return Err(TargetError::file(what, &path, problem));
    }
    Ok(Secret::new(file.text))
}

/// The file that an option names, or its default in `~/.postgresql`.
fn path_of(
    options: &Options,
    option: &str,
    default: &str,
    surroundings: &dyn Surroundings,
) -> Option<PathBuf> {
    let given = options.filled(option).map(PathBuf::from);
    given.or_else(|| surroundings.home().map(|home| home.join(".postgresql").join(default)))
}

/// A file's contents; `None` if it is not there.
fn read(
    surroundings: &dyn Surroundings,
    what: &'static str,
    path: &Path,
) -> Result<Option<File>, TargetError> {
    match surroundings.read(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(None),
            _ => Err(TargetError::file(what, path, format!("could not be read: {error}"))),
        },
    }
}
