//! I6 inside the program: what a panic or a log could print of the values that hold secrets.

use pgsurge_common::target::{ClientCertificate, Secret};
use pgsurge_coordinator::fleet::Listen;
use pgsurge_proto::tls::Identity;

use super::scene::{loopback, options, plan};

const SECRET: &str = "7f3a9c51-hush";

#[test]
fn no_value_prints_the_secrets_that_it_holds() {
    let mut plan = plan("r1", 1);
    plan.target.password = Some(Secret::new(SECRET));
    plan.target.hosts[0].password = Some(Secret::new(SECRET));
    let key_pem = Secret::new(SECRET);
    plan.target.tls.client = Some(ClientCertificate { chain_pem: "chain".into(), key_pem });
    let identity = Identity::from_pem("authority", "certificate", Secret::new(SECRET));
    let listen = Listen { tls: Some(identity.clone()), ..loopback() };
    let mut agent = options("127.0.0.1:1".parse().unwrap(), "a");
    agent.coordinator = pgsurge_agent::session::Coordinator::Tcp {
        address: "127.0.0.1:1".into(),
        tls: Some(identity),
        insecure: false,
    };
    let connector = pgsurge_agent::wire::Connector::new(&{
        let mut target = plan.target.clone();
        target.tls.client = None;
        target
    });
    for printed in [
        format!("{plan:?}"),
        format!("{listen:?}"),
        format!("{agent:?}"),
        format!("{:?}", connector.unwrap()),
    ] {
        assert!(!printed.contains(SECRET), "{printed}");
        assert!(printed.contains("***"), "not the value that was meant: {printed}");
    }
}
