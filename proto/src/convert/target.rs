//! The target, with its secrets in the clear on the wire and nowhere else.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;

use pgsurge_common::target::{
    Address, ClientCertificate, Host, Roots, Secret, Target, TcpOptions, Tls,
};

mod choices;

use super::plan::nanos;
use crate::error::{WireError, each, required};
use crate::wire;
use crate::wire::target_tls::Roots as WireRoots;

impl From<&Secret> for wire::Secret {
    fn from(secret: &Secret) -> Self {
        Self { value: secret.expose().to_owned() }
    }
}

impl From<wire::Secret> for Secret {
    fn from(wire: wire::Secret) -> Self {
        Self::new(wire.value)
    }
}

impl From<&Target> for wire::Target {
    fn from(target: &Target) -> Self {
        let Target {
            hosts,
            user,
            database,
            password,
            tls,
            options,
            application_name,
            connect_timeout,
            tcp,
            session_attrs,
            load_balance,
            settings,
            require_auth,
            require_peer,
        } = target;
        Self {
            hosts: hosts.iter().map(Into::into).collect(),
            user: user.clone(),
            database: database.clone(),
            password: password.as_ref().map(Into::into),
            tls: Some(tls.into()),
            options: options.clone(),
            application_name: application_name.clone(),
            connect_timeout_ns: connect_timeout.map(nanos),
            tcp: Some((*tcp).into()),
            session_attrs: wire::SessionAttrs::from(*session_attrs).into(),
            load_balance: *load_balance,
            settings: settings
                .iter()
                .map(|(name, value)| wire::Setting { name: name.clone(), value: value.clone() })
                .collect(),
            require_auth: require_auth.clone(),
            require_peer: require_peer.clone(),
        }
    }
}

impl TryFrom<wire::Target> for Target {
    type Error = WireError;

    fn try_from(wire: wire::Target) -> Result<Self, WireError> {
        if wire.hosts.is_empty() {
            return Err(WireError::Missing("Target.hosts"));
        }
        let session_attrs = wire.session_attrs().try_into()?;
        Ok(Self {
            hosts: each(wire.hosts)?,
            user: wire.user,
            database: wire.database,
            password: wire.password.map(Into::into),
            tls: required(wire.tls, "Target.tls")?,
            options: wire.options,
            application_name: wire.application_name,
            connect_timeout: wire.connect_timeout_ns.map(Duration::from_nanos),
            tcp: required(wire.tcp, "Target.tcp")?,
            session_attrs,
            load_balance: wire.load_balance,
            settings: wire
                .settings
                .into_iter()
                .map(|wire::Setting { name, value }| (name, value))
                .collect(),
            require_auth: wire.require_auth,
            require_peer: wire.require_peer,
        })
    }
}

impl From<&Host> for wire::Host {
    fn from(host: &Host) -> Self {
        let Host { address, port, password } = host;
        let address = match address {
            Address::Tcp { name, addr } => wire::host::Address::Tcp(wire::TcpAddress {
                name: name.clone(),
                addr: addr.map(|addr| addr.to_string()),
            }),
            Address::Unix(path) => wire::host::Address::Unix(path.as_os_str().as_bytes().to_vec()),
        };
        Self {
            address: Some(address),
            port: u32::from(*port),
            password: password.as_ref().map(Into::into),
        }
    }
}

impl TryFrom<wire::Host> for Host {
    type Error = WireError;

    fn try_from(wire: wire::Host) -> Result<Self, WireError> {
        let address = match wire.address.ok_or(WireError::Missing("Host.address"))? {
            wire::host::Address::Tcp(wire::TcpAddress { name, addr }) => {
                let addr = addr.map(|addr| addr.parse()).transpose();
                let addr = addr.map_err(|e| WireError::invalid("TcpAddress.addr", &e))?;
                Address::Tcp { name, addr }
            }
            wire::host::Address::Unix(path) => {
                Address::Unix(PathBuf::from(OsString::from_vec(path)))
            }
        };
        let port = u16::try_from(wire.port).map_err(|e| WireError::invalid("Host.port", &e))?;
        Ok(Self { address, port, password: wire.password.map(Into::into) })
    }
}

impl From<&Tls> for wire::TargetTls {
    fn from(tls: &Tls) -> Self {
        let Tls {
            mode,
            roots,
            client,
            direct,
            channel_binding,
            sni,
            revoked_pem,
            min_version,
            max_version,
        } = tls;
        let version = |version: &Option<_>| version.map(|v| wire::TlsVersion::from(v).into());
        let roots = match roots {
            Roots::None => WireRoots::None(wire::Empty {}),
            Roots::System => WireRoots::System(wire::Empty {}),
            Roots::Pem(pem) => WireRoots::Pem(pem.clone()),
        };
        let client = client.as_ref().map(|ClientCertificate { chain_pem, key_pem }| {
            wire::ClientCertificate { chain_pem: chain_pem.clone(), key_pem: Some(key_pem.into()) }
        });
        Self {
            mode: wire::SslMode::from(*mode).into(),
            roots: Some(roots),
            client,
            direct: *direct,
            channel_binding: wire::ChannelBinding::from(*channel_binding).into(),
            sni: *sni,
            revoked_pem: revoked_pem.clone(),
            min_version: version(min_version),
            max_version: version(max_version),
        }
    }
}

impl TryFrom<wire::TargetTls> for Tls {
    type Error = WireError;

    fn try_from(wire: wire::TargetTls) -> Result<Self, WireError> {
        let (mode, channel_binding) = (wire.mode().try_into()?, wire.channel_binding().try_into()?);
        let min_version = wire.min_version.map(|_| wire.min_version().try_into()).transpose()?;
        let max_version = wire.max_version.map(|_| wire.max_version().try_into()).transpose()?;
        let roots = match wire.roots.ok_or(WireError::Missing("TargetTls.roots"))? {
            WireRoots::None(wire::Empty {}) => Roots::None,
            WireRoots::System(wire::Empty {}) => Roots::System,
            WireRoots::Pem(pem) => Roots::Pem(pem),
        };
        let client = wire.client.map(|wire::ClientCertificate { chain_pem, key_pem }| {
            let key_pem = required(key_pem, "ClientCertificate.key_pem")?;
            Ok::<_, WireError>(ClientCertificate { chain_pem, key_pem })
        });
        Ok(Self {
            mode,
            roots,
            client: client.transpose()?,
            direct: wire.direct,
            channel_binding,
            sni: wire.sni,
            revoked_pem: wire.revoked_pem,
            min_version,
            max_version,
        })
    }
}

impl From<TcpOptions> for wire::TcpOptions {
    fn from(tcp: TcpOptions) -> Self {
        let TcpOptions {
            user_timeout,
            keepalives,
            keepalives_idle,
            keepalives_interval,
            keepalives_count,
        } = tcp;
        Self {
            user_timeout_ns: user_timeout.map(nanos),
            keepalives,
            keepalives_idle_ns: keepalives_idle.map(nanos),
            keepalives_interval_ns: keepalives_interval.map(nanos),
            keepalives_count,
        }
    }
}

impl From<wire::TcpOptions> for TcpOptions {
    fn from(wire: wire::TcpOptions) -> Self {
        Self {
            user_timeout: wire.user_timeout_ns.map(Duration::from_nanos),
            keepalives: wire.keepalives,
            keepalives_idle: wire.keepalives_idle_ns.map(Duration::from_nanos),
            keepalives_interval: wire.keepalives_interval_ns.map(Duration::from_nanos),
            keepalives_count: wire.keepalives_count,
        }
    }
}
