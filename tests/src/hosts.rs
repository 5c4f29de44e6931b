//! Hosts with addresses of their own on one machine: network namespaces around a bridge.
//!
//! Needs root and iproute2; tests that use it lie in modules called `as_root`, which `tests/run` leaves
//! out, and counts as skipped, where it is not root. Nothing of it is visible in the machine's own
//! network. Invariant: what a test made is gone when its [`Network`] is dropped; what a killed test left
//! behind goes when the next network is made.

use std::ffi::OsStr;
use std::fs::File;
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::process;

/// What every namespace of this harness is called, before the process id of the test that made it.
const PREFIX: &str = "pgsurge-";

/// Where iproute2 keeps namespaces by name.
const NAMES: &str = "/run/netns";

/// Where iproute2 looks for files that replace those of `/etc` on one host.
const ETC: &str = "/etc/netns";

/// Hosts that see each other and nothing else.
#[derive(Debug)]
pub struct Network {
    switch: String,
    hosts: Vec<Host>,
}

/// One host of a network.
#[derive(Clone, Debug)]
pub struct Host {
    namespace: String,
    address: Ipv4Addr,
}

impl Network {
    /// Makes so many hosts, at most 200.
    ///
    /// # Panics
    /// If it is not root that asks, or iproute2 is missing.
    #[must_use]
    pub fn new(hosts: u8) -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        assert!(
            rustix::process::geteuid().is_root(),
            "network namespaces need root; tests/run skips these tests without it"
        );
        remove_those_of_the_dead();
        let made = MADE.fetch_add(1, Ordering::Relaxed);
        let name = |part: &str| format!("{PREFIX}{}-{made}-{part}", std::process::id());
        // Whatever fails from here on, dropping the network removes what is there.
        let mut network = Self { switch: name("switch"), hosts: Vec::new() };
        ip(&["netns", "add", &network.switch]);
        ip(&["-n", &network.switch, "link", "add", "bridge", "type", "bridge"]);
        ip(&["-n", &network.switch, "link", "set", "bridge", "up"]);
        for number in 1..=hosts {
            let address = Ipv4Addr::new(10, 99, 0, number);
            network.hosts.push(Host { namespace: name(&format!("host{number}")), address });
            network.connect(number);
        }
        network
    }

    /// Makes hosts that know each other by name, as far as what [`Host::command`] starts is concerned.
    ///
    /// # Panics
    /// As [`Network::new`].
    #[must_use]
    pub fn named(names: &[&str]) -> Self {
        let network = Self::new(u8::try_from(names.len()).expect("at most 200 hosts"));
        let known = names.iter().zip(&network.hosts);
        let mut lines = vec!["127.0.0.1 localhost".to_owned()];
        lines.extend(known.map(|(name, host)| format!("{} {name}", host.address)));
        for host in &network.hosts {
            let etc = Path::new(ETC).join(&host.namespace);
            std::fs::create_dir_all(&etc).expect("root may make a folder in /etc");
            std::fs::write(etc.join("hosts"), lines.join("\n") + "\n")
                .expect("root may make a file in /etc");
        }
        network
    }

    fn connect(&self, number: u8) {
        let Host { namespace, address } = self.host(usize::from(number) - 1);
        let port = format!("port{number}");
        let switch = &self.switch;
        ip(&["netns", "add", namespace]);
        ip(&[
            "-n", switch, "link", "add", &port, "type", "veth", "peer", "name", "eth0", "netns",
            namespace,
        ]);
        ip(&["-n", switch, "link", "set", &port, "master", "bridge", "up"]);
        ip(&["-n", namespace, "address", "add", &format!("{address}/24"), "dev", "eth0"]);
        ip(&["-n", namespace, "link", "set", "lo", "up"]);
        ip(&["-n", namespace, "link", "set", "eth0", "up"]);
    }

    /// One of the hosts, counted from 0.
    ///
    /// # Panics
    /// If there are not that many.
    #[must_use]
    pub fn host(&self, index: usize) -> &Host {
        &self.hosts[index]
    }

    /// Pulls a host's cable, or plugs it in again.
    ///
    /// # Panics
    /// If there are not that many hosts.
    pub fn plug(&self, index: usize, is_in: bool) {
        let state = if is_in { "up" } else { "down" };
        ip(&["-n", &self.switch, "link", "set", &format!("port{}", index + 1), state]);
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for host in &self.hosts {
            remove(&host.namespace);
        }
        remove(&self.switch);
    }
}

impl Host {
    /// Its address.
    #[must_use]
    pub fn address(&self) -> Ipv4Addr {
        self.address
    }

    /// The name of its namespace.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.namespace
    }

    /// A command on this host that dies with the thread that starts it.
    #[must_use]
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = process::command("ip");
        command.args(["netns", "exec", &self.namespace]).arg(program);
        command
    }

    /// Does something on this host: sockets bound and processes started in there belong to it.
    /// Processes that die with their thread do so at its end; start those by [`Host::command`].
    ///
    /// # Panics
    /// If the host is gone, or `work` panics.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let path = Path::new(NAMES).join(&self.namespace);
        let namespace = File::open(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let visit = || {
            move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))
                .expect("root may enter a network namespace");
            work()
        };
        std::thread::scope(|scope| match scope.spawn(visit).join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    }
}

fn remove(namespace: &str) {
    // Each fails where it was never made.
    let _ = std::fs::remove_dir_all(Path::new(ETC).join(namespace));
    let _ = Command::new("ip").args(["netns", "delete", namespace]).output();
}

/// Removes the namespaces of test processes that no longer run.
fn remove_those_of_the_dead() {
    let names = std::fs::read_dir(NAMES).into_iter().flatten().flatten();
    for name in names.filter_map(|entry| entry.file_name().into_string().ok()) {
        let maker = name.strip_prefix(PREFIX).and_then(|rest| rest.split('-').next());
        if let Some(pid) = maker.filter(|pid| pid.parse::<u32>().is_ok())
            && !Path::new("/proc").join(pid).exists()
        {
            remove(&name);
        }
    }
}

#[track_caller]
fn ip(arguments: &[&str]) {
    let output = Command::new("ip").args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("ip (package iproute2): {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "ip {}: {said}", arguments.join(" "));
}
