//! Certificates that are replaced while both sides go on.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pgsurge_agent::session::{AgentOptions, Coordinator};
use pgsurge_coordinator::certs::{Wanted, make};
use pgsurge_coordinator::fleet::{Fleet, FleetOptions, Listen};
use pgsurge_proto::tls::Identity;
use tempfile::TempDir;

use super::SOON;
use super::scene::{Agent, options};
use super::tls::complaint;
use pgsurge_tests::fake_load::FakeEngine;

/// Folders of certificates: `new` are good, `old` are of the same holders and have expired; what is in use
/// lies in `used`.
struct Certificates(TempDir);

impl Certificates {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let now = jiff::Timestamp::now();
        let long_ago = now - jiff::SignedDuration::from_hours(24 * 100);
        let wanted = |renew| Wanted {
            folder: folder.path().join("made"),
            names: vec!["127.0.0.1".to_owned()],
            agents: 1,
            days: 30,
            renew,
        };
        make(&wanted(false), long_ago).unwrap();
        copy(&folder.path().join("made"), &folder.path().join("old"));
        make(&wanted(true), now).unwrap();
        copy(&folder.path().join("made"), &folder.path().join("new"));
        copy(&folder.path().join("made"), &folder.path().join("used"));
        Self(folder)
    }

    fn file(&self, folder: &str, holder: &str, name: &str) -> PathBuf {
        self.0.path().join(folder).join(holder).join(name)
    }

    /// Puts a file in use in place of another, whole.
    fn put(&self, from: &str, holder: &str, name: &str) {
        let used = self.file("used", holder, name);
        let draft = used.with_extension("draft");
        std::fs::copy(self.file(from, holder, name), &draft).unwrap();
        std::fs::rename(draft, used).unwrap();
    }

    fn put_both(&self, from: &str, holder: &str) {
        self.put(from, holder, "tls.crt");
        self.put(from, holder, "tls.key");
    }

    fn identity(&self, holder: &str) -> Identity {
        let [ca, cert, key] =
            ["ca.crt", "tls.crt", "tls.key"].map(|name| self.file("used", holder, name));
        Identity::read(&ca, &cert, &key).unwrap()
    }

    async fn listen(&self, address: SocketAddr) -> (Fleet, SocketAddr) {
        let listen = Listen { address, tls: Some(self.identity("coordinator")), insecure: false };
        let fleet = Fleet::listen(listen, FleetOptions::default()).await.unwrap();
        let address = fleet.local_addr().unwrap();
        (fleet, address)
    }

    fn agent(&self, address: SocketAddr, name: &str) -> Agent {
        let tls = Some(self.identity("agent-1"));
        let text = address.to_string();
        let coordinator = Coordinator::Tcp { address: text, tls, insecure: false };
        let options = AgentOptions {
            coordinator,
            once: false,
            give_up_after: None,
            ..options(address, name)
        };
        Agent::start(options, &FakeEngine::default())
    }
}

fn copy(from: &Path, to: &Path) {
    for holder in ["coordinator", "agent-1"] {
        std::fs::create_dir_all(to.join(holder)).unwrap();
        for name in ["ca.crt", "tls.crt", "tls.key"] {
            std::fs::copy(from.join(holder).join(name), to.join(holder).join(name)).unwrap();
        }
    }
}

const ANY_PORT: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_coordinator_takes_up_its_new_certificate() {
    let certificates = Certificates::new();
    certificates.put_both("old", "coordinator");
    let (fleet, address) = certificates.listen(ANY_PORT).await;
    let refused = certificates.agent(address, "early").exit().await.unwrap_err().to_string();
    assert!(refused.contains("the certificate of the coordinator has expired"), "{refused}");

    certificates.put_both("new", "coordinator");
    let late = certificates.agent(address, "late");
    let agents = fleet.gather(1, SOON).await.unwrap();
    assert_eq!(agents[0].facts().name, "late");

    // Half a replacement does not do away with a pair that fits.
    certificates.put("old", "coordinator", "tls.crt");
    let later = certificates.agent(address, "later");
    fleet.gather(2, SOON).await.unwrap();
    fleet.shutdown().await;
    for agent in [late, later] {
        agent.shutdown.drain.cancel();
        agent.exit().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_takes_up_its_new_certificate() {
    let certificates = Certificates::new();
    let (fleet, address) = certificates.listen(ANY_PORT).await;
    let agent = certificates.agent(address, "a");
    fleet.gather(1, SOON).await.unwrap();
    certificates.put_both("old", "agent-1");
    fleet.shutdown().await;

    let (fleet, _) = certificates.listen(address).await;
    let said = complaint(&fleet).await;
    assert!(said.contains("the certificate of the agent has expired"), "{said}");
    assert!(fleet.gather(1, Duration::ZERO).await.is_err());

    certificates.put_both("new", "agent-1");
    fleet.gather(1, SOON).await.unwrap();
    agent.shutdown.drain.cancel();
    agent.exit().await.unwrap();
    fleet.shutdown().await;
}
