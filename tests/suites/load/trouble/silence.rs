//! Connections on which nothing comes any more: the network drops everything, or somebody in between
//! takes everything and passes nothing on.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use pgsurge_tests::proxy::Proxy;

use super::{assert_gone, at_work, endless, server};

#[test]
fn a_connection_frozen_in_between_ends_with_the_drain() {
    let server = server();
    let proxy = Proxy::start(SocketAddr::from((Ipv4Addr::LOCALHOST, server.port())));
    let mut loading = endless(&server, "select 1;\n", true).duration(Duration::from_secs(5));
    loading.plan.target.hosts[0].port = proxy.address().port();
    loading.plan.load.drain_timeout = Some(Duration::from_secs(1));
    let work = at_work(&loading);
    proxy.stall(true);
    let loaded = work.finish();
    assert_eq!(loaded.totals.aborted_clients, 4, "{:?}", loaded.totals);
    let (_, reason) = &loaded.totals.aborted[0];
    assert!(reason.contains("cut off by the drain timeout"), "{reason}");
    drop(proxy);
    assert_gone(&server);
}

mod as_root {
    use std::time::Duration;

    use pgsurge_agent::load::Stop;
    use pgsurge_common::target::{Address, TcpOptions};
    use pgsurge_tests::hosts::Network;
    use pgsurge_tests::loading::Loading;
    use pgsurge_tests::postgres::{Postgres, Settings, Version};

    use super::super::{assert_came_back, assert_gone, assert_named, at_work, endless};

    /// The kernel's words for it, the latter where it has forgotten the way meanwhile.
    const NAMES: [&str; 2] = ["ETIMEDOUT", "EHOSTUNREACH"];

    /// Something is always on its way to the server, or its answer is waited for.
    const SCRIPTS: [&str; 2] = ["select 1;\n", "select pg_sleep(600);\n"];

    /// A load host (0), and a server (1) that notices soon when a peer is gone.
    struct Site {
        network: Network,
        server: Postgres,
    }

    impl Site {
        fn new() -> Self {
            let network = Network::new(2);
            let settings = Settings::new()
                .set("listen_addresses", "*")
                .set("tcp_keepalives_idle", "1")
                .set("tcp_keepalives_interval", "1")
                .set("tcp_keepalives_count", "2")
                .set("tcp_user_timeout", "2000")
                .set("client_connection_check_interval", "500")
                .hba(&["host all all samenet trust"]);
            let server = network.host(1).within(|| Postgres::start(Version::V15, &settings));
            Self { network, server }
        }

        fn loading(&self, script: &str, reconnect: bool) -> Loading {
            let mut loading = endless(&self.server, script, reconnect);
            let target = &mut loading.plan.target;
            let name = self.network.host(1).address().to_string();
            target.hosts[0].address = Address::Tcp { name, addr: None };
            let second = Some(Duration::from_secs(1));
            target.tcp = TcpOptions {
                user_timeout: Some(Duration::from_secs(2)),
                keepalives: true,
                keepalives_idle: second,
                keepalives_interval: second,
                keepalives_count: None,
            };
            target.connect_timeout = second;
            loading
        }
    }

    #[test]
    fn a_network_that_drops_everything_ends_clients_with_the_errno() {
        for script in SCRIPTS {
            let site = Site::new();
            let loading = site.loading(script, false);
            let totals = site.network.host(0).within(|| {
                let work = at_work(&loading);
                site.network.plug(1, false);
                work.finish().totals
            });
            assert_eq!(totals.aborted_clients, 4, "{totals:?}");
            assert_named(&totals, &NAMES);
            assert_gone(&site.server);
        }
    }

    #[test]
    fn clients_come_back_when_it_lets_them_through_again() {
        for script in SCRIPTS {
            let site = Site::new();
            let loading = site.loading(script, true);
            let totals = site.network.host(0).within(|| {
                let mut work = at_work(&loading);
                site.network.plug(1, false);
                work.wait_for(|interval| interval.disconnected == 4);
                site.network.plug(1, true);
                work.wait_for(|interval| interval.clients == 4);
                work.stop(Stop::Now).totals
            });
            assert_came_back(&totals, 4);
            assert!(NAMES.iter().any(|name| totals.errors.0.contains_key(*name)), "{totals:?}");
            assert_gone(&site.server);
        }
    }
}
