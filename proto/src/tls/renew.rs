//! A side's configuration that follows its files: certificates are replaced without a restart.
//!
//! Invariant: there is always a configuration that works. Files that cannot be used (half replaced, say:
//! the certificate is there and its key is not yet) change nothing until they change again.

use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Identity, IdentityError, Side, Validity};

/// Where an identity was read from.
#[derive(Clone, Debug)]
pub(super) struct Files {
    pub ca: PathBuf,
    pub cert: PathBuf,
    pub key: PathBuf,
}

/// What tells that a file was replaced or written to: device, inode, length, and two times.
type Stamp = Option<(u64, u64, u64, (i64, i64), (i64, i64))>;

impl Files {
    fn stamps(&self) -> [Stamp; 3] {
        [&self.ca, &self.cert, &self.key].map(|path| {
            let file = fs::metadata(path).ok()?;
            let (modified, changed) =
                ((file.mtime(), file.mtime_nsec()), (file.ctime(), file.ctime_nsec()));
            Some((file.dev(), file.ino(), file.len(), modified, changed))
        })
    }
}

/// See the module.
pub struct Renewing<C> {
    side: Side,
    make: fn(&Identity) -> Result<Arc<C>, IdentityError>,
    held: Mutex<Held<C>>,
}

struct Held<C> {
    identity: Identity,
    config: Arc<C>,
    stamps: [Stamp; 3],
}

impl<C> fmt::Debug for Renewing<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Renewing").field("side", &self.side).finish_non_exhaustive()
    }
}

impl<C> Renewing<C> {
    pub(super) fn new(
        identity: &Identity,
        side: Side,
        make: fn(&Identity) -> Result<Arc<C>, IdentityError>,
    ) -> Result<Self, IdentityError> {
        // Stamps come first: what is replaced while it is read is read again.
        let stamps = identity.files.as_deref().map(Files::stamps).unwrap_or_default();
        let identity = identity.read_again()?;
        let config = make(&identity)?;
        let held = Held { identity, config, stamps };
        held.warn(side);
        Ok(Self { side, make, held: Mutex::new(held) })
    }

    /// The configuration for the next handshake, after a look at the files.
    pub fn current(&self) -> Arc<C> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        match held.renew(self.make) {
            Ok(false) => {}
            Ok(true) => {
                tracing::info!("the certificates have changed and were read again");
                held.warn(self.side);
            }
            Err(error) => tracing::warn!(
                "the certificates have changed and cannot be used, the last ones stay: {}",
                told(&error)
            ),
        }
        Arc::clone(&held.config)
    }

    /// How the certificate in use looks at this time.
    pub fn validity(&self) -> Validity {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.identity.validity(self.side)
    }
}

impl<C> Held<C> {
    /// Reads the files again if they changed, and says whether; a failure is told once for each change.
    fn renew(
        &mut self,
        make: fn(&Identity) -> Result<Arc<C>, IdentityError>,
    ) -> Result<bool, IdentityError> {
        let Some(files) = &self.identity.files else { return Ok(false) };
        let stamps = files.stamps();
        if stamps == self.stamps {
            return Ok(false);
        }
        self.stamps = stamps;
        let identity = self.identity.read_again()?;
        self.config = make(&identity)?;
        self.identity = identity;
        Ok(true)
    }

    /// Says what the other side will not like.
    fn warn(&self, side: Side) {
        if let Some(concern) = self.identity.validity(side).concern(&self.identity.cert.source) {
            tracing::warn!("{concern}");
        }
    }
}

/// An error with its cause.
fn told(error: &IdentityError) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
