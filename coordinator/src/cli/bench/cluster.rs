//! The options that pgbench does not have: the fleet, the connection phase, results.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use pgsurge_common::plan::ConnectBudget;

use super::tls::TlsFiles;
use crate::cli::read::Given;
use crate::cli::usage::UsageError;
use crate::cli::values::{count, seconds};
use crate::report::Choice;
use crate::run::OnAgentLoss;
use crate::verdict::Expectation;

/// Where agents dial in unless told otherwise.
pub const DEFAULT_LISTEN: &str = "127.0.0.1:7432";

/// What `run` prints on stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// pgbench's report and the cluster block.
    Text,
    /// The summary document.
    Json,
    /// No report: whoever asked reads the results folder.
    Nothing,
}

/// Options of a cluster run; all have a meaning for a run in one process, too.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)] // independent flags
pub struct ClusterArgs {
    /// `--agents`; `None` runs in this process.
    pub agents: Option<u32>,
    /// `--listen`.
    pub listen: String,
    /// `--agent-wait`.
    pub agent_wait: Duration,
    /// `--split cores`.
    pub split_by_cores: bool,
    /// `--lease`.
    pub lease: Duration,
    /// `--on-agent-loss`.
    pub on_agent_loss: OnAgentLoss,
    /// `--tls-*`.
    pub tls: TlsFiles,
    /// `--insecure`.
    pub insecure: bool,
    /// `--connect-rate`, `--connect-concurrency`, `--connect-wait`.
    pub connect: ConnectBudget,
    /// `--reconnect`.
    pub reconnect: bool,
    /// `--allow-fewer-clients`.
    pub allow_fewer_clients: bool,
    /// `--any-server`.
    pub any_server: bool,
    /// `--warmup`.
    pub warmup: Duration,
    /// `--drain-timeout`.
    pub drain_timeout: Option<Duration>,
    /// `--results`, `--no-results`.
    pub results: Choice,
    /// Unless `--no-html`: results have a page.
    pub html: bool,
    /// `--metrics-line`.
    pub metrics_line: bool,
    /// `--web`: where the live page is.
    pub web: Option<SocketAddr>,
    /// `--observe-interval`, zero being before and after only; none with `--no-observe`.
    pub observe: Option<Duration>,
    /// `--prewarm`.
    pub prewarm: bool,
    /// `--format`.
    pub format: Format,
    /// `--fail-if`.
    pub fail_if: Vec<Expectation>,
    /// `--require valid`.
    pub require_valid: bool,
}

impl Default for ClusterArgs {
    fn default() -> Self {
        Self {
            agents: None,
            listen: DEFAULT_LISTEN.to_owned(),
            agent_wait: Duration::from_secs(60),
            split_by_cores: false,
            lease: Duration::from_secs(10),
            on_agent_loss: OnAgentLoss::default(),
            tls: TlsFiles::default(),
            insecure: false,
            connect: ConnectBudget {
                rate_per_s: None,
                concurrency: 64,
                timeout: Duration::from_secs(60),
            },
            reconnect: false,
            allow_fewer_clients: false,
            any_server: false,
            warmup: Duration::ZERO,
            drain_timeout: None,
            results: Choice::Default,
            html: true,
            metrics_line: false,
            web: None,
            observe: Some(Duration::from_secs(5)),
            prewarm: false,
            format: Format::Text,
            fail_if: Vec::new(),
            require_valid: false,
        }
    }
}

impl ClusterArgs {
    /// Takes one option; `false` if it is not one of these.
    pub fn option(&mut self, given: &Given) -> Result<bool, UsageError> {
        Ok(self.fleet_option(given)? || self.run_option(given)?)
    }

    fn fleet_option(&mut self, given: &Given) -> Result<bool, UsageError> {
        let (opt, value) = (given.opt, given.value.as_str());
        match opt.long {
            "agents" => self.agents = Some(count(opt, value)?),
            "listen" => value.clone_into(&mut self.listen),
            "agent-wait" => self.agent_wait = seconds(opt, value, false)?,
            "split" => {
                self.split_by_cores = match value {
                    "even" => false,
                    "cores" => true,
                    _ => return Err(one_of(given, "even or cores")),
                }
            }
            "lease" => self.lease = seconds(opt, value, false)?,
            "on-agent-loss" => {
                self.on_agent_loss = match value {
                    "fail" => OnAgentLoss::Fail,
                    "continue" => OnAgentLoss::Continue,
                    "rebalance" => OnAgentLoss::Rebalance,
                    _ => return Err(one_of(given, "fail, continue or rebalance")),
                }
            }
            "tls" => self.tls.folder = Some(value.into()),
            "tls-ca" => self.tls.ca = Some(value.into()),
            "tls-cert" => self.tls.cert = Some(value.into()),
            "tls-key" => self.tls.key = Some(value.into()),
            "insecure" => self.insecure = true,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn run_option(&mut self, given: &Given) -> Result<bool, UsageError> {
        let (opt, value) = (given.opt, given.value.as_str());
        match opt.long {
            "connect-rate" => {
                let rate = value.trim().parse::<f64>().ok().filter(|r| r.is_finite() && *r > 0.0);
                self.connect.rate_per_s =
                    Some(rate.ok_or_else(|| one_of(given, "a number above 0"))?);
            }
            "connect-concurrency" => self.connect.concurrency = count(opt, value)?,
            "connect-wait" => self.connect.timeout = seconds(opt, value, false)?,
            "reconnect" => self.reconnect = true,
            "allow-fewer-clients" => self.allow_fewer_clients = true,
            "any-server" => self.any_server = true,
            "warmup" => self.warmup = seconds(opt, value, true)?,
            "drain-timeout" => self.drain_timeout = Some(seconds(opt, value, true)?),
            "results" if value.is_empty() => return Err(one_of(given, "a folder")),
            "results" => self.results = Choice::Folder(value.into()),
            "fail-if" => self.fail_if.extend(expectations(given)?),
            "require" if value == "valid" => self.require_valid = true,
            "require" => return Err(one_of(given, "valid")),
            "no-results" => self.results = Choice::Nowhere,
            "no-html" => self.html = false,
            "metrics-line" => self.metrics_line = true,
            "prewarm" => self.prewarm = true,
            "no-observe" => self.observe = None,
            "observe-interval" => {
                let interval = seconds(opt, value, true)?;
                self.observe = self.observe.map(|_| interval);
            }
            "web" => self.web = Some(web_address(value)?),
            "format" => {
                self.format = match value {
                    "text" => Format::Text,
                    "json" => Format::Json,
                    _ => return Err(one_of(given, "text or json")),
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Checks what options say together.
    pub fn check(&self) -> Result<(), UsageError> {
        self.tls.complete()?;
        if self.lease < Duration::from_secs(2) {
            return Err(UsageError::new("--lease must be at least 2 seconds").detail(
                "agents are heard once a second, so a shorter lease would end healthy runs",
            ));
        }
        if self.metrics_line && self.format == Format::Json {
            let wrong =
                "--metrics-line is a line of the text, and cannot be used with --format json";
            return Err(UsageError::new(wrong));
        }
        if self.agents.is_some() {
            listen_address(&self.listen)?;
        }
        Ok(())
    }
}

/// Reads `ADDR:PORT`, `:PORT`, `PORT` or a bare address (then port 7432).
pub fn listen_address(text: &str) -> Result<SocketAddr, UsageError> {
    let bare = |text: &str| text.parse().ok().map(|ip: IpAddr| SocketAddr::new(ip, 7432));
    address_in(text).or_else(|| bare(text)).ok_or_else(|| {
        UsageError::new(format!("invalid value \"{text}\" for option --listen"))
            .hint("give an address and a port, for example 0.0.0.0:7432")
    })
}

fn web_address(text: &str) -> Result<SocketAddr, UsageError> {
    address_in(text).ok_or_else(|| {
        UsageError::new(format!("invalid value \"{text}\" for option --web"))
            .hint("give a port, or an address and a port, for example 8080 or 0.0.0.0:8080")
    })
}

fn address_in(text: &str) -> Option<SocketAddr> {
    let with_host =
        |port: &str| port.parse::<u16>().ok().map(|p| SocketAddr::from(([127, 0, 0, 1], p)));
    text.parse::<SocketAddr>()
        .ok()
        .or_else(|| with_host(text))
        .or_else(|| text.strip_prefix("localhost:").and_then(with_host))
        .or_else(|| {
            let port = text.strip_prefix("*:").or_else(|| text.strip_prefix(':'))?.parse().ok()?;
            Some(SocketAddr::from(([0, 0, 0, 0], port)))
        })
}

fn expectations(given: &Given) -> Result<Vec<Expectation>, UsageError> {
    Expectation::list(&given.value).map_err(|error| {
        UsageError::new(format!("invalid value \"{}\" for option --fail-if", given.value))
            .detail(error.to_string())
    })
}

fn one_of(given: &Given, expected: &str) -> UsageError {
    UsageError::new(format!(
        "invalid value \"{}\" for option {}: expected {expected}",
        given.value,
        given.opt.label()
    ))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn listen_addresses_come_in_the_usual_forms() {
        for (text, address) in [
            ("127.0.0.1:7000", "127.0.0.1:7000"),
            ("localhost:7000", "127.0.0.1:7000"),
            ("7000", "127.0.0.1:7000"),
            (":7000", "0.0.0.0:7000"),
            ("*:7000", "0.0.0.0:7000"),
            ("10.1.2.3", "10.1.2.3:7432"),
            ("[::1]:7000", "[::1]:7000"),
        ] {
            assert_eq!(listen_address(text).unwrap().to_string(), address);
        }
        for text in ["", "nowhere", "1.2.3.4:99999", "a:b:c"] {
            assert!(listen_address(text).is_err(), "{text}");
        }
    }
}
