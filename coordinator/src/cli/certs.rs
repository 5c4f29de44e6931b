//! `pgsurge certs`: its arguments, and the commands that it tells to type next.

use std::fmt::Write as _;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use clap::Parser;
use jiff::Timestamp;
use rustls_pki_types::DnsName;

use super::usage::UsageError;
use crate::certs::{CertsError, Report, Wanted, make};

/// Make certificates for a fleet: an authority, one for the coordinator, one for each agent
#[derive(Clone, Debug, Parser)]
#[command(name = "certs", display_name = "pgsurge-certs", bin_name = "pgsurge certs", version = super::version::number())]
pub struct CertsArgs {
    /// folder of the certificates; with an authority in it, that one signs
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// name or address under which agents dial the coordinator; repeatable
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = name)]
    pub coordinator: Vec<String>,
    /// make certificates for NUM agents more
    #[arg(long, value_name = "NUM", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=9999))]
    pub agents: u32,
    /// how long certificates are good for
    #[arg(long, value_name = "NUM", default_value_t = 365, value_parser = clap::value_parser!(u32).range(1..=36500))]
    pub days: u32,
    /// replace the coordinator's certificate, and those of the first NUM agents
    #[arg(long)]
    pub renew: bool,
}

impl CertsArgs {
    /// Checks what options say together.
    pub fn check(&self) -> Result<(), UsageError> {
        if self.coordinator.is_empty() && self.agents == 0 {
            return Err(UsageError::new("nothing to make: give --coordinator, --agents, or both"));
        }
        Ok(())
    }
}

/// Makes the certificates and returns what to tell on stdout.
///
/// # Errors
/// See [`CertsError`].
pub fn certs(args: &CertsArgs) -> Result<String, CertsError> {
    let wanted = Wanted {
        folder: args.folder.clone(),
        names: args.coordinator.clone(),
        agents: args.agents,
        days: args.days,
        renew: args.renew,
    };
    Ok(told(args, &make(&wanted, Timestamp::now())?))
}

fn told(args: &CertsArgs, report: &Report) -> String {
    let mut text = String::new();
    let mut line = |line: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{line}");
    };
    let until = report.until.strftime("%Y-%m-%d");
    if let Some(until) = report.authority {
        let (folder, until) = (args.folder.join("authority"), until.strftime("%Y-%m-%d"));
        line(format!("{}: signs the others, until {until}; keep it here", folder.display()));
    }
    if let Some(folder) = &report.coordinator {
        let names = args.coordinator.join(", ");
        line(format!("{}: server use, for {names}, until {until}", folder.display()));
    }
    for folder in &report.agents {
        line(format!("{}: client use, until {until}", folder.display()));
    }
    line(String::new());
    if args.renew {
        let next = if report.agents.is_empty() {
            "nothing is left to do: the coordinator takes its certificate up by itself"
        } else {
            "next: copy the files of each agent over those on its host; nothing is to be restarted"
        };
        line(next.to_owned());
        return text;
    }
    line(
        "next, for each load host its own folder, then the same agent on each, then the run here:"
            .into(),
    );
    for folder in &report.agents {
        line(format!("  scp -r {} LOADHOST:pgsurge-tls", quoted(folder)));
    }
    let coordinator = match args.coordinator.first() {
        Some(name) if name.contains(':') => format!("[{name}]"),
        Some(name) => name.clone(),
        None => "COORDINATOR".to_owned(),
    };
    line(format!("  pgsurge agent --coordinator {coordinator}:7432 --tls pgsurge-tls"));
    let own = quoted(&args.folder.join("coordinator"));
    let agents = match args.agents {
        0 => "N".to_owned(),
        // How many there are in all is known to whoever copied the earlier ones.
        _ if report.authority.is_none() => "N".to_owned(),
        agents => agents.to_string(),
    };
    line(format!("  pgsurge run --agents {agents} --listen 0.0.0.0:7432 --tls {own} -h TARGET"));
    text
}

/// A path as a shell reads it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@:,".contains(c);
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// A name or address that a certificate can be made for.
fn name(text: &str) -> Result<String, String> {
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    if let Ok(address) = bare.parse::<IpAddr>() {
        return Ok(address.to_string());
    }
    let plain = text.strip_prefix("*.").unwrap_or(text);
    if DnsName::try_from(plain).is_ok() {
        return Ok(text.to_ascii_lowercase());
    }
    Err("expected a host name or an address, without a port".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_hosts() {
        for (text, expected) in [
            ("control", "control"),
            ("Control.Example", "control.example"),
            ("*.example", "*.example"),
            ("10.0.0.1", "10.0.0.1"),
            ("[::1]", "::1"),
        ] {
            assert_eq!(name(text).as_deref(), Ok(expected));
        }
        for text in ["", "control:7432", "http://control", "a b", "10.0.0.1:1", "*"] {
            assert!(name(text).is_err(), "{text}");
        }
    }

    #[test]
    fn paths_are_quoted_where_a_shell_needs_it() {
        assert_eq!(quoted(Path::new("certs/agent-1")), "certs/agent-1");
        assert_eq!(quoted(Path::new("my certs")), "'my certs'");
        assert_eq!(quoted(Path::new("it's")), "'it'\\''s'");
    }
}
