//! Mutual TLS: who may talk to whom, and what each side says when it may not.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use pgsurge_agent::session::{AgentOptions, Coordinator};
use pgsurge_common::target::Secret;
use pgsurge_coordinator::fleet::{Fleet, FleetOptions, Listen};
use pgsurge_proto::tls::Identity;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair,
};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::SOON;
use super::runs::{assert_complete, run};
use super::scene::{Agent, loopback, options, spec};
use pgsurge_tests::fake_load::FakeEngine;

/// An authority that signs certificates.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub fn new() -> Self {
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    /// A certificate of this authority for some use, trusting another one.
    fn sign(&self, name: &str, usage: ExtendedKeyUsagePurpose, trusts: &Self) -> Identity {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.extended_key_usages = vec![usage];
        self.issue(&params, trusts)
    }

    fn issue(&self, params: &CertificateParams, trusts: &Self) -> Identity {
        let key = KeyPair::generate().unwrap();
        let cert = params.signed_by(&key, &self.0).unwrap();
        Identity::from_pem(trusts.0.pem(), cert.pem(), Secret::new(key.serialize_pem()))
    }

    pub fn coordinator(&self) -> Identity {
        self.sign("127.0.0.1", ExtendedKeyUsagePurpose::ServerAuth, self)
    }

    pub fn agent(&self) -> Identity {
        self.sign("agent", ExtendedKeyUsagePurpose::ClientAuth, self)
    }

    /// A certificate for both uses, good in some years only.
    fn dated(&self, from: i32, until: i32) -> Identity {
        let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        params.not_before = rcgen::date_time_ymd(from, 1, 1);
        params.not_after = rcgen::date_time_ymd(until, 1, 1);
        self.issue(&params, self)
    }

    fn expired(&self) -> Identity {
        self.dated(2000, 2001)
    }
}

pub async fn listen(tls: Option<Identity>) -> (Fleet, SocketAddr) {
    let fleet = Fleet::listen(Listen { tls, ..loopback() }, FleetOptions::default()).await.unwrap();
    let address = fleet.local_addr().unwrap();
    (fleet, address)
}

pub fn dialling(address: SocketAddr, tls: Option<Identity>) -> AgentOptions {
    let text = address.to_string();
    let coordinator = Coordinator::Tcp { address: text, tls, insecure: false };
    AgentOptions { coordinator, ..options(address, "a") }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_over_mutual_tls() {
    let authority = Authority::new();
    let (fleet, address) = listen(Some(authority.coordinator())).await;
    let engine = FakeEngine::default();
    let agent = Agent::start(dialling(address, Some(authority.agent())), &engine);
    let (spec, _events) = spec("r1", fleet.gather(1, SOON).await.unwrap());
    assert_complete(&run(spec).await.unwrap(), &engine.diary);
    fleet.shutdown().await;
    agent.exit().await.unwrap();
}

/// What both sides say when these two meet: the agent, which leaves for good or gives up, then the
/// coordinator.
async fn meet(
    coordinator: Option<Identity>,
    agent: Option<Identity>,
    give_up_after: Duration,
) -> (String, String) {
    let (fleet, address) = listen(coordinator).await;
    let options = AgentOptions { give_up_after: Some(give_up_after), ..dialling(address, agent) };
    let agent = Agent::start(options, &FakeEngine::default());
    let said = agent.exit().await.unwrap_err().to_string();
    (said, complaint(&fleet).await)
}

/// What the coordinator says of whom it turned away.
pub async fn complaint(fleet: &Fleet) -> String {
    let complaint = async {
        loop {
            let refused = fleet.gather(1, Duration::from_millis(10)).await.unwrap_err().refused;
            if let Some(complaint) = refused.first() {
                return complaint.clone();
            }
        }
    };
    tokio::time::timeout(SOON, complaint).await.expect("the coordinator says something")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_gets_in_without_a_certificate() {
    let authority = Authority::new();
    let (fleet, address) = listen(Some(authority.coordinator())).await;
    let mut roots = rustls::RootCertStore::empty();
    roots.add(authority.0.der().clone()).unwrap();
    let config =
        rustls::ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    let stranger = TcpStream::connect(address).await.unwrap();
    let name = address.ip().into();
    // The refusal comes after the client's own handshake, so this side may not have noticed yet.
    let _stranger = TlsConnector::from(Arc::new(config)).connect(name, stranger).await;
    let complaint = complaint(&fleet).await;
    assert!(complaint.contains("the agent presented no certificate"), "{complaint}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_way_to_be_refused_has_its_own_words_on_both_sides() {
    use ExtendedKeyUsagePurpose::{ClientAuth, ServerAuth};
    let (ours, theirs) = (Authority::new(), Authority::new());
    let cases = [
        (
            "an authority that the agent does not know",
            Some(theirs.sign("127.0.0.1", ServerAuth, &ours)),
            Some(ours.agent()),
            "the certificate of the coordinator is not signed by the authority in --tls-ca",
            "the agent does not know the authority that signed the certificate of this coordinator",
        ),
        (
            "an authority that the coordinator does not know",
            Some(ours.coordinator()),
            Some(theirs.sign("agent", ClientAuth, &ours)),
            "the coordinator does not know the authority that signed the certificate of this agent",
            "the certificate of the agent is not signed by the authority in --tls-ca",
        ),
        (
            "an agent's certificate that poses as a coordinator's",
            Some(ours.sign("127.0.0.1", ClientAuth, &ours)),
            Some(ours.agent()),
            "the certificate of the coordinator is not meant for this use",
            "the agent does not accept the certificate of this coordinator for this use",
        ),
        (
            "a coordinator's certificate that poses as an agent's",
            Some(ours.coordinator()),
            Some(ours.sign("agent", ServerAuth, &ours)),
            "the coordinator does not accept the certificate of this agent for this use",
            "the certificate of the agent is not meant for this use",
        ),
        (
            "a certificate for another name",
            Some(ours.sign("bench.example", ServerAuth, &ours)),
            Some(ours.agent()),
            "the certificate of the coordinator was made for other names",
            "the agent does not accept the certificate of this coordinator",
        ),
        (
            "a certificate of the past",
            Some(ours.coordinator()),
            Some(ours.expired()),
            "for the coordinator the certificate of this agent has expired",
            "the certificate of the agent has expired",
        ),
        (
            "a coordinator of the past",
            Some(ours.expired()),
            Some(ours.agent()),
            "the certificate of the coordinator has expired: it was valid until 2001-01-01T00:00:00Z",
            "for the agent the certificate of this coordinator has expired",
        ),
        (
            "an agent without TLS at a port with it",
            Some(ours.coordinator()),
            None,
            "the coordinator demands TLS, give --tls-ca, --tls-cert and --tls-key",
            "the agent does not speak TLS and this coordinator demands it",
        ),
        (
            "an agent with TLS at a port without it",
            None,
            Some(ours.agent()),
            "the coordinator does not speak TLS here, while this agent does",
            "the agent speaks TLS and this coordinator does not",
        ),
    ];
    for (case, coordinator, agent, by_agent, by_coordinator) in cases {
        let (said, complaint) = meet(coordinator, agent, SOON).await;
        assert!(said.contains(by_agent), "{case}: the agent says {said}");
        assert!(complaint.contains(by_coordinator), "{case}: the coordinator says {complaint}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_certificate_of_the_future_is_waited_for() {
    let ours = Authority::new();
    let future = || Some(ours.dated(2200, 2201));
    // The agent may have seen nothing yet when a shorter patience is over.
    let patience = Duration::from_secs(5);
    let ((agent, theirs), (own, coordinator)) = tokio::join!(
        meet(Some(ours.coordinator()), future(), patience),
        meet(future(), Some(ours.agent()), patience),
    );
    for (said, expected) in [
        (agent, "for the coordinator the certificate of this agent is not valid yet"),
        (theirs, "the certificate of the agent is not valid yet: it begins at 2200-01-01"),
        (own, "the certificate of the coordinator is not valid yet: it begins at 2200-01-01"),
        (coordinator, "for the agent the certificate of this coordinator is not valid yet"),
    ] {
        assert!(said.contains(expected) && said.contains("check the clocks"), "{said}");
    }
}

#[tokio::test]
async fn plaintext_beyond_loopback_has_to_be_wanted() {
    let address = (Ipv4Addr::UNSPECIFIED, 0).into();
    let open =
        |insecure| Fleet::listen(Listen { address, tls: None, insecure }, FleetOptions::default());
    let error = open(false).await.unwrap_err().to_string();
    assert!(error.contains("--insecure"), "{error}");
    open(true).await.unwrap().shutdown().await;

    // Nothing is dialled here: the address alone is reason enough.
    let away = dialling("192.0.2.1:7432".parse().unwrap(), None);
    let error = Agent::start(away, &FakeEngine::default()).exit().await.unwrap_err().to_string();
    assert!(error.contains("--insecure"), "{error}");
}
