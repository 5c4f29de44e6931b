//! `pgsurge agent`: its arguments, and what they mean to the agent's library.

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use pgsurge_common::target::TargetPattern;

use super::bench::TlsFiles;
use super::values::seconds_of;

/// Serve a coordinator: hold client connections on this host
#[derive(Clone, Debug, Parser)]
#[command(name = "agent", display_name = "pgsurge-agent", bin_name = "pgsurge agent", version = super::version::number())]
#[allow(clippy::struct_excessive_bools)] // independent flags
pub struct AgentArgs {
    /// where the coordinator listens
    #[arg(long, value_name = "HOST:PORT", env = "PGSURGE_COORDINATOR", value_parser = address)]
    pub coordinator: String,
    /// name in reports [default: the host's name]
    #[arg(long, value_name = "NAME", env = "PGSURGE_NAME")]
    pub name: Option<String>,
    /// leave after the first run
    #[arg(long, env = "PGSURGE_ONCE")]
    pub once: bool,
    /// leave if no coordinator was found for so long [default: try for ever]
    #[arg(long, value_name = "SEC", env = "PGSURGE_GIVE_UP_AFTER", value_parser = duration)]
    pub give_up_after: Option<Duration>,
    /// let scripts run \shell and \setshell on this host
    #[arg(long, env = "PGSURGE_ALLOW_SHELL")]
    pub allow_shell: bool,
    /// serve only runs against `HOST[:PORT][/DATABASE]`, with * for any characters; repeatable
    #[arg(long, value_name = "PATTERN", env = "PGSURGE_ALLOW_TARGET", value_delimiter = ',')]
    pub allow_target: Vec<TargetPattern>,
    /// refuse runs that want more clients of this agent
    #[arg(
        long,
        value_name = "NUM",
        env = "PGSURGE_MAX_CLIENTS",
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub max_clients: Option<u32>,
    /// folder with ca.crt, tls.crt and tls.key, as "pgsurge certs" makes it
    #[arg(long, value_name = "DIR", env = "PGSURGE_TLS")]
    pub tls: Option<PathBuf>,
    /// authority that signs the coordinator's certificate
    #[arg(long, value_name = "FILE", env = "PGSURGE_TLS_CA")]
    pub tls_ca: Option<PathBuf>,
    /// this agent's certificate
    #[arg(long, value_name = "FILE", env = "PGSURGE_TLS_CERT")]
    pub tls_cert: Option<PathBuf>,
    /// this agent's private key
    #[arg(long, value_name = "FILE", env = "PGSURGE_TLS_KEY")]
    pub tls_key: Option<PathBuf>,
    /// allow plaintext beyond loopback
    #[arg(long, env = "PGSURGE_INSECURE")]
    pub insecure: bool,
}

impl AgentArgs {
    /// The TLS files as given.
    #[must_use]
    pub fn tls(&self) -> TlsFiles {
        TlsFiles {
            folder: self.tls.clone(),
            ca: self.tls_ca.clone(),
            cert: self.tls_cert.clone(),
            key: self.tls_key.clone(),
        }
    }
}

/// A mistyped port would otherwise be looked up as part of a name, again and again.
fn address(text: &str) -> Result<String, String> {
    if text.contains("://") {
        let advice = "expected a host and a port without a scheme, for example bench-1:7432; TLS is \
                      what --tls or --tls-ca, --tls-cert and --tls-key turn on";
        return Err(advice.to_owned());
    }
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => (host, Some(port)),
        _ => (text, None),
    };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let is_host = !host.contains(':') || bare.parse::<std::net::Ipv6Addr>().is_ok();
    let is_port = |port: &str| port.parse::<u16>().is_ok_and(|port| port > 0);
    if host.is_empty() || !is_host || port.is_some_and(|port| !is_port(port)) {
        return Err("expected a host and a port, for example bench-1:7432".to_owned());
    }
    Ok(text.to_owned())
}

fn duration(text: &str) -> Result<Duration, String> {
    seconds_of(text, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_host_with_or_without_a_port() {
        for text in ["bench-1:7432", "bench-1", "10.0.0.1:1", "[::1]:7432", "[::1]", "fe80::1"] {
            assert_eq!(address(text).as_deref(), Ok(text));
        }
        for text in
            ["", ":", ":7432", "bench-1:", "bench-1:port", "bench-1:0", "bench-1:70000", "a:b:c"]
        {
            assert!(address(text).is_err(), "{text}");
        }
        for text in ["http://bench-1:7432", "https://bench-1"] {
            assert!(address(text).is_err_and(|why| why.contains("without a scheme")), "{text}");
        }
    }
}
