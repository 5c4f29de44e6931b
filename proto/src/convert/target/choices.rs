//! The target's enumerations.

use pgsurge_common::target::{ChannelBinding, SessionAttrs, SslMode, TlsVersion};

use crate::error::WireError;
use crate::wire;

impl From<SslMode> for wire::SslMode {
    fn from(mode: SslMode) -> Self {
        match mode {
            SslMode::Disable => Self::SslDisable,
            SslMode::Allow => Self::SslAllow,
            SslMode::Prefer => Self::SslPrefer,
            SslMode::Require => Self::SslRequire,
            SslMode::VerifyCa => Self::SslVerifyCa,
            SslMode::VerifyFull => Self::SslVerifyFull,
        }
    }
}

impl TryFrom<wire::SslMode> for SslMode {
    type Error = WireError;

    fn try_from(wire: wire::SslMode) -> Result<Self, WireError> {
        match wire {
            wire::SslMode::Unspecified => Err(WireError::Missing("TargetTls.mode")),
            wire::SslMode::SslDisable => Ok(Self::Disable),
            wire::SslMode::SslAllow => Ok(Self::Allow),
            wire::SslMode::SslPrefer => Ok(Self::Prefer),
            wire::SslMode::SslRequire => Ok(Self::Require),
            wire::SslMode::SslVerifyCa => Ok(Self::VerifyCa),
            wire::SslMode::SslVerifyFull => Ok(Self::VerifyFull),
        }
    }
}

impl From<ChannelBinding> for wire::ChannelBinding {
    fn from(binding: ChannelBinding) -> Self {
        match binding {
            ChannelBinding::Disable => Self::BindingDisable,
            ChannelBinding::Prefer => Self::BindingPrefer,
            ChannelBinding::Require => Self::BindingRequire,
        }
    }
}

impl TryFrom<wire::ChannelBinding> for ChannelBinding {
    type Error = WireError;

    fn try_from(wire: wire::ChannelBinding) -> Result<Self, WireError> {
        match wire {
            wire::ChannelBinding::Unspecified => {
                Err(WireError::Missing("TargetTls.channel_binding"))
            }
            wire::ChannelBinding::BindingDisable => Ok(Self::Disable),
            wire::ChannelBinding::BindingPrefer => Ok(Self::Prefer),
            wire::ChannelBinding::BindingRequire => Ok(Self::Require),
        }
    }
}

impl From<SessionAttrs> for wire::SessionAttrs {
    fn from(choice: SessionAttrs) -> Self {
        match choice {
            SessionAttrs::Any => Self::AttrsAny,
            SessionAttrs::ReadWrite => Self::AttrsReadWrite,
            SessionAttrs::ReadOnly => Self::AttrsReadOnly,
            SessionAttrs::Primary => Self::AttrsPrimary,
            SessionAttrs::Standby => Self::AttrsStandby,
            SessionAttrs::PreferStandby => Self::AttrsPreferStandby,
        }
    }
}

impl TryFrom<wire::SessionAttrs> for SessionAttrs {
    type Error = WireError;

    fn try_from(wire: wire::SessionAttrs) -> Result<Self, WireError> {
        match wire {
            wire::SessionAttrs::Unspecified => Err(WireError::Missing("Target.session_attrs")),
            wire::SessionAttrs::AttrsAny => Ok(Self::Any),
            wire::SessionAttrs::AttrsReadWrite => Ok(Self::ReadWrite),
            wire::SessionAttrs::AttrsReadOnly => Ok(Self::ReadOnly),
            wire::SessionAttrs::AttrsPrimary => Ok(Self::Primary),
            wire::SessionAttrs::AttrsStandby => Ok(Self::Standby),
            wire::SessionAttrs::AttrsPreferStandby => Ok(Self::PreferStandby),
        }
    }
}

impl From<TlsVersion> for wire::TlsVersion {
    fn from(choice: TlsVersion) -> Self {
        match choice {
            TlsVersion::Tls12 => Self::Tls12,
            TlsVersion::Tls13 => Self::Tls13,
        }
    }
}

impl TryFrom<wire::TlsVersion> for TlsVersion {
    type Error = WireError;

    fn try_from(wire: wire::TlsVersion) -> Result<Self, WireError> {
        match wire {
            wire::TlsVersion::Unspecified => Err(WireError::Missing("TargetTls.version")),
            wire::TlsVersion::Tls12 => Ok(Self::Tls12),
            wire::TlsVersion::Tls13 => Ok(Self::Tls13),
        }
    }
}
