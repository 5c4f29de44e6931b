//! SCRAM-SHA-256 (RFC 5802, RFC 7677), with derived keys that are kept.
//!
//! Pure but for the random nonce. Deriving the keys takes thousands of hashes and depends only on
//! password, salt and iteration count, so it is done once per agent rather than once per connection.

use std::borrow::Cow;
use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, OnceLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ring::{digest, hmac, pbkdf2};

use super::error::ConnectError;

/// Random bytes in a nonce, as many as libpq uses.
const NONCE: usize = 18;

/// Sets of keys kept; a pooler that salts afresh for each login must not make the cache grow.
const MAX_KEYS: usize = 64;

/// What an exchange says about channel binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Binding {
    /// Not supported here.
    No,
    /// Supported here, but the server did not offer it.
    NotOffered,
    /// `tls-server-end-point` with the hash of the server's certificate.
    EndPoint(Vec<u8>),
}

impl Binding {
    fn gs2_header(&self) -> &'static str {
        match self {
            Self::No => "n,,",
            Self::NotOffered => "y,,",
            Self::EndPoint(_) => "p=tls-server-end-point,,",
        }
    }

    fn encoded(&self) -> String {
        let mut data = self.gs2_header().as_bytes().to_vec();
        if let Self::EndPoint(hash) = self {
            data.extend_from_slice(hash);
        }
        BASE64.encode(data)
    }
}

/// The keys that a password, a salt and an iteration count give.
struct Keys {
    client: [u8; 32],
    stored: hmac::Key,
    server: hmac::Key,
}

impl Keys {
    fn derive(password: &str, salt: &[u8], iterations: NonZeroU32) -> Self {
        // libpq falls back to the password as it is where SASLprep forbids it.
        let prepared = stringprep::saslprep(password).unwrap_or(Cow::Borrowed(password));
        let mut salted = [0; 32];
        let algorithm = pbkdf2::PBKDF2_HMAC_SHA256;
        pbkdf2::derive(algorithm, iterations, salt, prepared.as_bytes(), &mut salted);
        let salted = hmac::Key::new(hmac::HMAC_SHA256, &salted);
        let mut client = [0; 32];
        client.copy_from_slice(hmac::sign(&salted, b"Client Key").as_ref());
        let stored = digest::digest(&digest::SHA256, &client);
        Self {
            client,
            stored: hmac::Key::new(hmac::HMAC_SHA256, stored.as_ref()),
            server: hmac::Key::new(hmac::HMAC_SHA256, hmac::sign(&salted, b"Server Key").as_ref()),
        }
    }
}

type KeyName = (String, Vec<u8>, NonZeroU32);

/// Derived keys of this agent.
#[derive(Default)]
pub(super) struct KeyCache {
    keys: Mutex<HashMap<KeyName, Arc<OnceLock<Keys>>>>,
}

impl KeyCache {
    /// The cell of these keys. It is filled outside of the lock; who comes second waits for the first.
    fn cell(&self, name: KeyName) -> Arc<OnceLock<Keys>> {
        // The map is valid at any time, whatever another thread was doing to it.
        let mut keys = self.keys.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if keys.len() >= MAX_KEYS && !keys.contains_key(&name) {
            keys.clear();
        }
        Arc::clone(keys.entry(name).or_default())
    }
}

impl std::fmt::Debug for KeyCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KeyCache(***)")
    }
}

/// One exchange, after the client's first message.
pub(super) struct Exchange<'a> {
    keys: &'a KeyCache,
    password: &'a str,
    binding: Binding,
    nonce: String,
}

/// The exchange after the client's proof: what the server must answer.
pub(super) struct Proven {
    /// The client's final message.
    pub(super) message: String,
    expected: String,
    signature_of: hmac::Key,
}

impl<'a> Exchange<'a> {
    /// Begins with a fresh nonce.
    pub(super) fn new(keys: &'a KeyCache, password: &'a str, binding: Binding) -> Self {
        let mut nonce = [0; NONCE];
        let random = ring::rand::SystemRandom::new();
        ring::rand::SecureRandom::fill(&random, &mut nonce)
            .expect("the system's random numbers do not fail once the system is up");
        Self { keys, password, binding, nonce: BASE64.encode(nonce) }
    }

    /// The client's first message. The name is empty: the server takes it from the startup message.
    pub(super) fn first_message(&self) -> String {
        format!("{}{}", self.binding.gs2_header(), self.first_bare())
    }

    fn first_bare(&self) -> String {
        format!("n=,r={}", self.nonce)
    }

    /// Answers the server's first message.
    pub(super) fn prove(&self, server_first: &[u8]) -> Result<Proven, ConnectError> {
        let server_first = text(server_first)?;
        let challenge = Challenge::parse(server_first)?;
        if !challenge.nonce.starts_with(&self.nonce) || challenge.nonce.len() <= self.nonce.len() {
            return Err(malformed("nonce of another exchange"));
        }
        let name = (self.password.to_owned(), challenge.salt, challenge.iterations);
        let cell = self.keys.cell(name.clone());
        let keys = cell.get_or_init(|| Keys::derive(&name.0, &name.1, name.2));

        let without_proof = format!("c={},r={}", self.binding.encoded(), challenge.nonce);
        let expected = format!("{},{server_first},{without_proof}", self.first_bare());
        let signature = hmac::sign(&keys.stored, expected.as_bytes());
        let proof: Vec<u8> =
            keys.client.iter().zip(signature.as_ref()).map(|(key, sign)| key ^ sign).collect();
        Ok(Proven {
            message: format!("{without_proof},p={}", BASE64.encode(proof)),
            expected,
            signature_of: keys.server.clone(),
        })
    }
}

impl Proven {
    /// Checks that the server, too, knows the password.
    pub(super) fn check(&self, server_final: &[u8]) -> Result<(), ConnectError> {
        let server_final = text(server_final)?;
        if let Some(reason) = server_final.strip_prefix("e=") {
            let message = format!("error received from server in SCRAM exchange: {reason}");
            return Err(ConnectError::new("protocol", message));
        }
        let encoded = server_final
            .strip_prefix("v=")
            .map(|rest| rest.split(',').next().unwrap_or_default())
            .ok_or_else(|| malformed("no server signature"))?;
        let signature = BASE64.decode(encoded).map_err(|_| malformed("server signature"))?;
        hmac::verify(&self.signature_of, self.expected.as_bytes(), &signature)
            .map_err(|_| ConnectError::new("protocol", "incorrect server signature"))
    }
}

/// Whoever answers in a server's place could have us hash for hours. The coordinator's own session has the same
/// bound (postgres-protocol's), so no run gets further with more; PostgreSQL's default is 4096.
const ITERATIONS_MOST: u32 = 100_000;

/// The server's first message.
#[derive(Debug)]
struct Challenge<'a> {
    nonce: &'a str,
    salt: Vec<u8>,
    iterations: NonZeroU32,
}

impl<'a> Challenge<'a> {
    fn parse(message: &'a str) -> Result<Self, ConnectError> {
        let mut parts = message.split(',');
        let mut attribute = |name| {
            let part = parts.next().and_then(|part| part.strip_prefix(name));
            part.ok_or_else(|| malformed("attribute missing or out of order"))
        };
        let nonce = attribute("r=")?;
        let salt = BASE64.decode(attribute("s=")?).map_err(|_| malformed("salt"))?;
        let iterations: NonZeroU32 =
            attribute("i=")?.parse().map_err(|_| malformed("iteration count"))?;
        if iterations.get() > ITERATIONS_MOST {
            let message = format!(
                "the server asks for {iterations} iterations (scram_iterations), at most {ITERATIONS_MOST} are done"
            );
            return Err(ConnectError::new("protocol", message));
        }
        Ok(Self { nonce, salt, iterations })
    }
}

fn text(bytes: &[u8]) -> Result<&str, ConnectError> {
    std::str::from_utf8(bytes).map_err(|_| malformed("not UTF-8"))
}

fn malformed(what: &str) -> ConnectError {
    ConnectError::new("protocol", format!("malformed SCRAM message ({what})"))
}

/// The longest derivation that a message of [`exchange_with`] may ask for.
const MOST_ITERATIONS: u32 = 1000;

/// Goes through an exchange with these two messages of the server, from a nonce that is always the same: whether
/// any bytes can do harm is asked here without a server. A first message that asks for long work is passed over.
pub fn exchange_with(server_first: &[u8], server_final: &[u8]) -> Result<(), ConnectError> {
    let challenge = Challenge::parse(text(server_first)?)?;
    if challenge.iterations.get() > MOST_ITERATIONS {
        return Ok(());
    }
    let (keys, nonce) = (KeyCache::default(), "n".to_owned());
    let exchange = Exchange { keys: &keys, password: "pencil", binding: Binding::No, nonce };
    exchange.prove(server_first)?.check(server_final)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use postgres_protocol::authentication::sasl;
    use proptest::prelude::*;

    use super::*;

    /// The example of RFC 7677, section 3, with its nonce and without the user name that is sent elsewhere.
    fn example(keys: &KeyCache) -> Exchange<'_> {
        let nonce = "rOprNGfwEbeRWgbNEkqO".to_owned();
        Exchange { keys, password: "pencil", binding: Binding::No, nonce }
    }

    const SERVER_FIRST: &str = "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
                                s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";

    #[test]
    fn the_keys_are_those_of_the_rfc() {
        let salt = BASE64.decode("W22ZaJ0SNY7soEsUEjb6gQ==").unwrap();
        let keys = Keys::derive("pencil", &salt, NonZeroU32::new(4096).unwrap());
        // The RFC's exchange names the user, which only changes what is signed.
        let signed = format!(
            "n=user,r=rOprNGfwEbeRWgbNEkqO,{SERVER_FIRST},\
             c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
        );
        let signature = hmac::sign(&keys.stored, signed.as_bytes());
        let proof: Vec<u8> =
            keys.client.iter().zip(signature.as_ref()).map(|(a, b)| a ^ b).collect();
        assert_eq!(BASE64.encode(proof), "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=");
        let server = hmac::sign(&keys.server, signed.as_bytes());
        assert_eq!(BASE64.encode(server.as_ref()), "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
    }

    #[test]
    fn a_server_cannot_make_us_hash_for_ever() {
        let asked = |iterations: u64| {
            let keys = KeyCache::default();
            let nonce = "rOprNGfwEbeRWgbNEkqOmore";
            let message = format!("r={nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i={iterations}");
            example(&keys).prove(message.as_bytes()).map(|_| ()).map_err(|error| error.to_string())
        };
        assert_eq!(asked(4096), Ok(()));
        let refused = asked(100_001).unwrap_err();
        assert!(refused.contains("asks for 100001 iterations (scram_iterations)"), "{refused}");
        assert!(asked(u64::from(u32::MAX)).is_err());
        assert!(asked(u64::from(u32::MAX) + 1).unwrap_err().contains("malformed"));
    }

    #[test]
    fn a_server_that_does_not_know_the_password_is_found_out() {
        let keys = KeyCache::default();
        let proven = example(&keys).prove(SERVER_FIRST.as_bytes()).unwrap();
        let forged = format!("v={}", BASE64.encode([0; 32]));
        assert_eq!(
            proven.check(forged.as_bytes()).unwrap_err().to_string(),
            "incorrect server signature"
        );
    }

    #[test]
    fn a_nonce_of_another_exchange_is_refused() {
        let keys = KeyCache::default();
        for nonce in ["somethingelse", "rOprNGfwEbeRWgbNEkqO"] {
            let first = format!("r={nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096");
            assert!(example(&keys).prove(first.as_bytes()).is_err());
        }
    }

    #[test]
    fn keys_are_derived_once_and_the_cache_stays_bounded() {
        let keys = KeyCache::default();
        let iterations = NonZeroU32::MIN;
        let name = |salt: u8| ("secret".to_owned(), vec![salt], iterations);
        assert!(Arc::ptr_eq(&keys.cell(name(1)), &keys.cell(name(1))));
        for salt in 0..=u8::MAX {
            keys.cell(name(salt));
        }
        assert!(keys.keys.lock().unwrap().len() <= MAX_KEYS);
        assert_eq!(format!("{keys:?}"), "KeyCache(***)");
    }

    #[test]
    fn the_proof_is_the_one_of_the_reference_implementation() {
        // Its nonce is random, so ours takes it over.
        let reference = sasl::ScramSha256::new(b"p\xc3\xa4ss", sasl::ChannelBinding::unsupported());
        let mut reference = reference;
        let first = String::from_utf8(reference.message().to_vec()).unwrap();
        let nonce = first.strip_prefix("n,,n=,r=").unwrap().to_owned();
        let keys = KeyCache::default();
        let ours = Exchange { keys: &keys, password: "p\u{e4}ss", binding: Binding::No, nonce };
        assert_eq!(ours.first_message(), first);
        let challenge = format!("r={}server,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=64", ours.nonce);
        reference.update(challenge.as_bytes()).unwrap();
        let proven = ours.prove(challenge.as_bytes()).unwrap();
        assert_eq!(proven.message.as_bytes(), reference.message());
    }

    proptest! {
        #[test]
        fn junk_never_panics(first in ".{0,80}", last in proptest::collection::vec(any::<u8>(), 0..80)) {
            let keys = KeyCache::default();
            let exchange = example(&keys);
            let _ = exchange.prove(first.as_bytes());
            let proven = exchange.prove(SERVER_FIRST.replace("4096", "1").as_bytes()).unwrap();
            prop_assert!(proven.check(&last).is_err());
        }
    }
}
