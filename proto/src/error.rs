//! Why a message could not be taken at its word.

use thiserror::Error;

/// A message that does not convert to its domain type.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WireError {
    /// A message or an enumeration that must be there is not.
    #[error("missing field {0}")]
    Missing(&'static str),
    /// A field holds something that it cannot hold.
    #[error("invalid field {field}: {reason}")]
    Invalid {
        /// Its name in the .proto file.
        field: &'static str,
        /// What is wrong with it.
        reason: String,
    },
}

impl WireError {
    pub(crate) fn invalid(field: &'static str, reason: &dyn std::fmt::Display) -> Self {
        Self::Invalid { field, reason: reason.to_string() }
    }
}

/// A field that must be there, converted.
pub(crate) fn required<W, D>(field: Option<W>, name: &'static str) -> Result<D, WireError>
where
    D: TryFrom<W>,
    WireError: From<D::Error>,
{
    Ok(D::try_from(field.ok_or(WireError::Missing(name))?)?)
}

/// A field that may be absent, converted.
pub(crate) fn optional<W, D>(field: Option<W>) -> Result<Option<D>, WireError>
where
    D: TryFrom<W>,
    WireError: From<D::Error>,
{
    Ok(field.map(D::try_from).transpose()?)
}

/// All elements converted.
pub(crate) fn each<W, D>(elements: Vec<W>) -> Result<Vec<D>, WireError>
where
    D: TryFrom<W>,
    WireError: From<D::Error>,
{
    Ok(elements.into_iter().map(D::try_from).collect::<Result<_, _>>()?)
}

/// A text that must not be empty.
pub(crate) fn text(value: String, name: &'static str) -> Result<String, WireError> {
    if value.is_empty() { Err(WireError::Missing(name)) } else { Ok(value) }
}

impl From<std::convert::Infallible> for WireError {
    fn from(never: std::convert::Infallible) -> Self {
        match never {}
    }
}
