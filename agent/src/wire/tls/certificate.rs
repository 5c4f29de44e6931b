//! What libpq's checks need out of a certificate and rustls does not tell: names, dates, the key and the
//! signature's algorithm.
//!
//! Reads DER only as far as that; anything else than a certificate gives `None`, never a panic.

use rustls_pki_types::UnixTime;
use sha2::Digest as _;

/// Tags of the encoding.
mod tag {
    pub(super) const BIT_STRING: u8 = 0x03;
    pub(super) const OCTET_STRING: u8 = 0x04;
    pub(super) const OID: u8 = 0x06;
    pub(super) const UTC_TIME: u8 = 0x17;
    pub(super) const GENERALIZED_TIME: u8 = 0x18;
    pub(super) const SEQUENCE: u8 = 0x30;
    pub(super) const EXPLICIT_0: u8 = 0xa0;
    pub(super) const EXPLICIT_3: u8 = 0xa3;
    pub(super) const DNS_NAME: u8 = 0x82;
    pub(super) const IP_ADDRESS: u8 = 0x87;
}

/// Object identifiers, encoded.
mod oid {
    pub(super) const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
    pub(super) const SUBJECT_ALT_NAME: &[u8] = &[0x55, 0x1d, 0x11];
    /// PKCS #1: the algorithm is the last byte.
    pub(super) const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01];
    pub(super) const ECDSA_SHA1: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x01];
    /// ECDSA with SHA-2: the hash is the last byte.
    pub(super) const ECDSA_SHA2: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03];
    /// SHA-2: the hash is the last byte.
    pub(super) const SHA2: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02];
}

/// The parts of a certificate.
pub(super) struct Certificate<'a> {
    /// What is signed, with its header.
    pub(super) signed: &'a [u8],
    /// 1 or 3.
    pub(super) version: u8,
    /// The issuer's name, encoded.
    pub(super) issuer: &'a [u8],
    /// The owner's name, encoded.
    pub(super) subject: &'a [u8],
    /// Algorithm of the key, without its header.
    pub(super) key_algorithm: &'a [u8],
    /// The key's bits.
    pub(super) key: &'a [u8],
    /// Algorithm of the signature, without its header.
    pub(super) signature_algorithm: &'a [u8],
    /// The signature's bits.
    pub(super) signature: &'a [u8],
    validity: &'a [u8],
    extensions: &'a [u8],
}

impl<'a> Certificate<'a> {
    /// Takes a certificate apart.
    pub(super) fn parse(der: &'a [u8]) -> Option<Self> {
        let mut outer = Der(Der(der).expect(tag::SEQUENCE)?);
        let signed = outer.element()?;
        let signature_algorithm = outer.expect(tag::SEQUENCE)?;
        let signature = bits(outer.expect(tag::BIT_STRING)?)?;

        let mut tbs = Der(Der(signed).expect(tag::SEQUENCE)?);
        let version = match tbs.optional(tag::EXPLICIT_0) {
            Some(number) => number.last()?.checked_add(1)?,
            None => 1,
        };
        tbs.element()?; // serial number
        tbs.expect(tag::SEQUENCE)?; // signature algorithm, again
        let issuer = tbs.expect(tag::SEQUENCE)?;
        let validity = tbs.expect(tag::SEQUENCE)?;
        let subject = tbs.expect(tag::SEQUENCE)?;
        let mut key = Der(tbs.expect(tag::SEQUENCE)?);
        let key_algorithm = key.expect(tag::SEQUENCE)?;
        let key = bits(key.expect(tag::BIT_STRING)?)?;
        let mut extensions: &[u8] = &[];
        while let Some((tag, content)) = tbs.next() {
            if tag == tag::EXPLICIT_3 {
                extensions = Der(content).expect(tag::SEQUENCE)?;
            }
        }
        Some(Self {
            signed,
            version,
            issuer,
            subject,
            key_algorithm,
            key,
            signature_algorithm,
            signature,
            validity,
            extensions,
        })
    }

    /// Whether `now` is within the certificate's dates.
    pub(super) fn is_valid_at(&self, now: UnixTime) -> bool {
        let mut dates = Der(self.validity);
        let now = civil(now.as_secs());
        match (dates.next().and_then(date), dates.next().and_then(date)) {
            (Some(from), Some(until)) => from <= now && now <= until,
            _ => false,
        }
    }

    /// DNS names and addresses of the subject's alternative names.
    pub(super) fn alternative_names(&self) -> (Vec<&'a [u8]>, Vec<&'a [u8]>) {
        let (mut dns, mut ips) = (Vec::new(), Vec::new());
        let names = self.extension(oid::SUBJECT_ALT_NAME);
        let mut names =
            Der(names.and_then(|names| Der(names).expect(tag::SEQUENCE)).unwrap_or(&[]));
        while let Some((tag, name)) = names.next() {
            match tag {
                tag::DNS_NAME => dns.push(name),
                tag::IP_ADDRESS => ips.push(name),
                _ => {}
            }
        }
        (dns, ips)
    }

    /// The subject's common name.
    pub(super) fn common_name(&self) -> Option<&'a [u8]> {
        let mut sets = Der(self.subject);
        while let Some((_, set)) = sets.next() {
            let mut attributes = Der(set);
            while let Some((_, attribute)) = attributes.next() {
                let mut attribute = Der(attribute);
                if attribute.expect(tag::OID) == Some(oid::COMMON_NAME) {
                    return attribute.next().map(|(_, name)| name);
                }
            }
        }
        None
    }

    fn extension(&self, wanted: &[u8]) -> Option<&'a [u8]> {
        let mut extensions = Der(self.extensions);
        while let Some((_, extension)) = extensions.next() {
            let mut extension = Der(extension);
            if extension.expect(tag::OID) == Some(wanted) {
                while let Some((tag, content)) = extension.next() {
                    if tag == tag::OCTET_STRING {
                        return Some(content);
                    }
                }
            }
        }
        None
    }

    /// The `tls-server-end-point` binding (RFC 5929) of the certificate encoded as `der`: its hash by its
    /// signature's hash function, SHA-256 in place of MD5 and SHA-1. `None` where the signature has no
    /// hash function of its own (Ed25519).
    pub(super) fn endpoint_hash(&self, der: &[u8]) -> Option<Vec<u8>> {
        let mut algorithm = Der(self.signature_algorithm);
        let name = algorithm.expect(tag::OID)?;
        let (&last, family) = name.split_last()?;
        let bits = match (family, last) {
            (oid::RSA, 4 | 5 | 11) | (oid::ECDSA_SHA2, 2) => 256,
            (oid::RSA, 12) | (oid::ECDSA_SHA2, 3) => 384,
            (oid::RSA, 13) | (oid::ECDSA_SHA2, 4) => 512,
            (oid::RSA, 14) | (oid::ECDSA_SHA2, 1) => 224,
            (oid::RSA, 10) => pss_hash(algorithm)?,
            _ if name == oid::ECDSA_SHA1 => 256,
            _ => return None,
        };
        Some(match bits {
            224 => sha2::Sha224::digest(der).to_vec(),
            256 => sha2::Sha256::digest(der).to_vec(),
            384 => sha2::Sha384::digest(der).to_vec(),
            _ => sha2::Sha512::digest(der).to_vec(),
        })
    }
}

/// Bits of the hash function in the parameters of RSASSA-PSS; the default is SHA-1, which counts as SHA-256.
fn pss_hash(mut parameters: Der<'_>) -> Option<u16> {
    let Some(hash) = Der(parameters.expect(tag::SEQUENCE)?).optional(tag::EXPLICIT_0) else {
        return Some(256);
    };
    let name = Der(Der(hash).expect(tag::SEQUENCE)?).expect(tag::OID)?;
    match name.strip_prefix(oid::SHA2) {
        Some([2]) => Some(384),
        Some([3]) => Some(512),
        Some([4]) => Some(224),
        _ => Some(256),
    }
}

/// The content of a bit string of whole bytes.
fn bits(content: &[u8]) -> Option<&[u8]> {
    content.strip_prefix(&[0])
}

/// A date as the number YYYYMMDDHHMMSS.
fn date((tag, text): (u8, &[u8])) -> Option<u64> {
    let digits: u64 = std::str::from_utf8(text.strip_suffix(b"Z")?).ok()?.parse().ok()?;
    match (tag, text.len()) {
        (tag::UTC_TIME, 13) if digits / 10_000_000_000 < 50 => Some(digits + 20_000_000_000_000),
        (tag::UTC_TIME, 13) => Some(digits + 19_000_000_000_000),
        (tag::GENERALIZED_TIME, 15) => Some(digits),
        _ => None,
    }
}

/// Seconds since 1970 as the number YYYYMMDDHHMMSS, by the usual arithmetic on 400-year eras.
fn civil(seconds: u64) -> u64 {
    let (days, second) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let date = (year * 100 + month) * 100 + day;
    ((date * 100 + second / 3600) * 100 + second / 60 % 60) * 100 + second % 60
}

/// Elements of a DER encoding, one after the other.
#[derive(Clone, Copy)]
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    /// Tag and content of the next element.
    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (&tag, rest) = self.0.split_first()?;
        let (&first, mut rest) = rest.split_first()?;
        let mut length = usize::from(first);
        if first & 0x80 != 0 {
            let count = usize::from(first & 0x7f);
            if count == 0 || count > 4 {
                return None;
            }
            let digits;
            (digits, rest) = rest.split_at_checked(count)?;
            length = digits.iter().fold(0, |length, &digit| length << 8 | usize::from(digit));
        }
        let content;
        (content, self.0) = rest.split_at_checked(length)?;
        Some((tag, content))
    }

    /// The next element with its header.
    fn element(&mut self) -> Option<&'a [u8]> {
        let before = self.0;
        self.next()?;
        Some(&before[..before.len() - self.0.len()])
    }

    /// Content of the next element, which must have this tag.
    fn expect(&mut self, tag: u8) -> Option<&'a [u8]> {
        self.next().filter(|(got, _)| *got == tag).map(|(_, content)| content)
    }

    /// Content of the next element if it has this tag; else it stays.
    fn optional(&mut self, tag: u8) -> Option<&'a [u8]> {
        let mut ahead = *self;
        let content = ahead.expect(tag)?;
        *self = ahead;
        Some(content)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn dates_compare_in_both_forms() {
        assert_eq!(civil(0), 19_700_101_000_000);
        assert_eq!(civil(1_709_210_096), 20_240_229_123_456);
        assert_eq!(date((tag::UTC_TIME, b"240229123456Z")), Some(20_240_229_123_456));
        assert_eq!(date((tag::UTC_TIME, b"991231235959Z")), Some(19_991_231_235_959));
        assert_eq!(date((tag::GENERALIZED_TIME, b"20500101000000Z")), Some(20_500_101_000_000));
        assert_eq!(date((tag::UTC_TIME, b"2402291234Z")), None);
    }

    proptest! {
        #[test]
        fn junk_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Some(certificate) = Certificate::parse(&bytes) {
                certificate.alternative_names();
                certificate.common_name();
                certificate.endpoint_hash(&bytes);
            }
            let mut nested = vec![0x30, u8::try_from(bytes.len().min(127)).unwrap_or(0)];
            nested.extend(bytes);
            prop_assert!(Certificate::parse(&nested).is_none_or(|c| c.version > 0));
        }
    }
}
