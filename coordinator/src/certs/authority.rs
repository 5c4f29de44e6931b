//! What the certificates say: who signs, for which use, under which names, and for how long.

use std::time::Duration;

use jiff::Timestamp;
use pgsurge_common::target::Secret;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::RootCertStore;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, UnixTime};

use super::after;

/// Clocks of hosts differ a little, so certificates begin in the past.
const BACKDATED: Duration = Duration::from_secs(3600);

/// The name by which an authority is found again from what it signed.
const NAME: &str = "pgsurge fleet authority";

/// When a certificate is good.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    now: Timestamp,
    /// Its end.
    pub until: Timestamp,
}

impl Times {
    pub fn new(now: Timestamp, days: u32) -> Self {
        Self { now, until: after(now, days) }
    }

    fn apply(self, params: &mut CertificateParams) {
        let epoch = rcgen::date_time_ymd(1970, 1, 1);
        let since = |moment: Timestamp| {
            Duration::from_secs(u64::try_from(moment.as_second()).unwrap_or_default())
        };
        params.not_before = epoch + since(self.now).saturating_sub(BACKDATED);
        params.not_after = epoch + since(self.until);
    }
}

/// Whose certificate it is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Holder<'a> {
    /// For server use, under these names and addresses.
    Coordinator(&'a [String]),
    /// For client use only, so that it cannot pose as a coordinator.
    Agent(&'a str),
}

/// A certificate with all that its holder needs.
pub(super) struct Made {
    pub authority: String,
    pub certificate: String,
    pub key: Secret,
}

/// Who signs.
pub(super) struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    /// A new one with its key.
    pub fn create(times: Times) -> Result<(Self, Secret), rcgen::Error> {
        let key = KeyPair::generate()?;
        let secret = Secret::new(key.serialize_pem());
        let mut params = params();
        times.apply(&mut params);
        let pem = params.self_signed(&key)?.pem();
        Ok((Self { pem, issuer: Issuer::new(params, key) }, secret))
    }

    /// One that was made earlier; says why it is none.
    pub fn open(pem: String, key: &str) -> Result<Self, String> {
        let key = KeyPair::from_pem(key).map_err(|_| "ca.key holds no private key".to_owned())?;
        let authority = Self { pem, issuer: Issuer::new(params(), key) };
        authority.check()?;
        Ok(authority)
    }

    pub fn pem(&self) -> &str {
        &self.pem
    }

    pub fn sign(&self, holder: &Holder<'_>, times: Times) -> Result<Made, rcgen::Error> {
        let (name, alternatives, usage) = match holder {
            Holder::Coordinator(names) => {
                ("pgsurge coordinator", names.to_vec(), ExtendedKeyUsagePurpose::ServerAuth)
            }
            Holder::Agent(name) => {
                (*name, vec![(*name).to_owned()], ExtendedKeyUsagePurpose::ClientAuth)
            }
        };
        let mut params = CertificateParams::new(alternatives)?;
        params.distinguished_name.push(DnType::CommonName, name);
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![usage];
        params.use_authority_key_identifier_extension = true;
        times.apply(&mut params);
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?.pem();
        let key = Secret::new(key.serialize_pem());
        Ok(Made { authority: self.pem.clone(), certificate, key })
    }

    /// What it signs must be good under its own certificate: ca.crt and ca.key may come from two places.
    fn check(&self) -> Result<(), String> {
        let told = |error: &dyn std::fmt::Display| error.to_string();
        let now = Timestamp::now();
        let made = self.sign(&Holder::Agent("agent"), Times::new(now, 1)).map_err(|e| told(&e))?;
        let der = |pem: &str| CertificateDer::from_pem_slice(pem.as_bytes());
        let authority = der(&self.pem).map_err(|_| "ca.crt holds no certificate".to_owned())?;
        let mut roots = RootCertStore::empty();
        roots.add(authority).map_err(|error| format!("ca.crt: {error}"))?;
        let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
        let verifier = rustls::server::WebPkiClientVerifier::builder_with_provider(
            std::sync::Arc::new(roots),
            provider,
        );
        let verifier = verifier.build().map_err(|e| told(&e))?;
        let leaf = der(&made.certificate).map_err(|e| told(&e))?;
        match verifier.verify_client_cert(&leaf, &[], UnixTime::now()) {
            Ok(_) => Ok(()),
            Err(_) => {
                Err("ca.crt and ca.key do not belong together, or were not made by pgsurge certs"
                    .into())
            }
        }
    }
}

fn params() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, NAME);
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}
