//! Certificates for a server with TLS: an authority, the server's for `localhost` and 127.0.0.1, a client's.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose,
};

use super::account::{self, Account};

/// PEM files of one server's certificates, all below its temporary folder.
#[derive(Clone, Debug)]
pub struct Certificates {
    /// The authority (`sslrootcert`).
    pub root: PathBuf,
    /// An authority that signed nothing here.
    pub stranger: PathBuf,
    /// Certificate for the role `postgres` (`sslcert`), signed by the authority.
    pub client: PathBuf,
    /// Its key (`sslkey`).
    pub client_key: PathBuf,
}

impl Certificates {
    pub(super) fn write(folder: &Path, data: &Path, account: Option<&Account>) -> io::Result<Self> {
        let files = Self {
            root: folder.join("root.crt"),
            stranger: folder.join("stranger.crt"),
            client: folder.join("client.crt"),
            client_key: folder.join("client.key"),
        };
        let root = authority("pgsurge test authority").map_err(io::Error::other)?;
        let stranger = authority("pgsurge test stranger").map_err(io::Error::other)?;
        let server = signed(&root, "localhost", ExtendedKeyUsagePurpose::ServerAuth)?;
        let client = signed(&root, "postgres", ExtendedKeyUsagePurpose::ClientAuth)?;
        fs::write(&files.root, root.pem())?;
        fs::write(&files.stranger, stranger.pem())?;
        fs::write(&files.client, &client.chain)?;
        private(&files.client_key, &client.key)?;
        fs::write(data.join("root.crt"), root.pem())?;
        fs::write(data.join("server.crt"), &server.chain)?;
        let key = data.join("server.key");
        private(&key, &server.key)?;
        account::give(account, &key)?;
        Ok(files)
    }
}

fn private(path: &Path, text: &str) -> io::Result<()> {
    fs::write(path, text)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))
}

fn authority(name: &str) -> Result<CertifiedIssuer<'static, KeyPair>, rcgen::Error> {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    CertifiedIssuer::self_signed(params, KeyPair::generate()?)
}

struct Signed {
    chain: String,
    key: String,
}

fn signed(
    issuer: &CertifiedIssuer<'static, KeyPair>,
    name: &str,
    usage: ExtendedKeyUsagePurpose,
) -> io::Result<Signed> {
    let sign = || -> Result<Signed, rcgen::Error> {
        let mut params =
            CertificateParams::new(vec!["localhost".to_owned(), "127.0.0.1".to_owned()])?;
        params.distinguished_name.push(DnType::CommonName, name);
        params.extended_key_usages = vec![usage];
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, issuer)?;
        Ok(Signed { chain: certificate.pem(), key: key.serialize_pem() })
    };
    sign().map_err(io::Error::other)
}
