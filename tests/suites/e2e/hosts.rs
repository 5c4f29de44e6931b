//! A cluster on hosts with addresses of their own.

mod as_root {
    use pgsurge_tests::cluster::{Cluster, Run, prepare};
    use pgsurge_tests::hosts::Network;
    use pgsurge_tests::postgres::{Postgres, Settings, Version};
    use pgsurge_tests::process::{Running, eventually};
    use pgsurge_tests::program;
    use pgsurge_tests::turn::{self, Turn};

    use super::super::fixture::{PATIENCE, assert_adds_up};

    /// Three load hosts (0 to 2), one of the coordinator (3), one of the server (4).
    struct Site {
        server: Postgres,
        network: Network,
        cluster: Cluster,
        uri: String,
        _turn: Turn,
    }

    impl Site {
        fn new() -> Self {
            let turn = turn::take();
            let network = Network::new(5);
            let (coordinator, database) = (network.host(3), network.host(4));
            let settings =
                Settings::new().set("listen_addresses", "*").hba(&["host all all samenet trust"]);
            let server = database.within(|| Postgres::start(Version::V15, &settings));
            let address = database.address();
            let uri = format!("postgresql://postgres@{address}:{}/postgres", server.port());
            let mut init =
                prepare(coordinator.command(program::pgsurge()), &["init", "-q", "-s", "1", &uri]);
            let _ = Running::run("init", &mut init, PATIENCE).expect_code(0);
            let mut cluster = Cluster::at((coordinator.address(), 7432).into());
            for number in 0..3 {
                let mut arguments = cluster.agent_arguments(&format!("host{number}"));
                arguments.push("--insecure".to_owned());
                let host = network.host(number);
                cluster.add(prepare(host.command(program::pgsurge()), &arguments));
            }
            Self { server, network, cluster, uri, _turn: turn }
        }

        fn run(&self, arguments: &[&str]) -> Run {
            let program = self.network.host(3).command(program::pgsurge());
            let mut run = Run::with(program, arguments);
            let listen = self.cluster.listen().to_string();
            run.command.args(["--agents", "3", "--insecure", "--listen", &listen, &self.uri]);
            run
        }

        /// Load hosts whose clients have sent something; sessions stay for as long as the run.
        fn hosts_at_work(&self) -> String {
            let address = |number| format!("'{}'", self.network.host(number).address());
            let hosts = [0, 1, 2].map(address).join(", ");
            self.server.value(&format!(
                "select count(distinct client_addr) from pg_stat_activity \
                 where host(client_addr) in ({hosts}) and query <> ''"
            ))
        }
    }

    #[test]
    fn three_hosts_load_a_fourth_and_a_fifth_reports() {
        let site = Site::new();
        let run = site.run(&["-c", "9", "-j", "1", "-T", "5", "-n"]).start();
        eventually("all three hosts are at work", PATIENCE, || site.hosts_at_work() == "3");
        let report = run.finish(PATIENCE).expect_code(0);
        assert_adds_up(&report);
        let summary = report.summary();
        let rows = site.server.value("select count(*) from pgbench_history");
        assert_eq!(summary["totals"]["transactions"].to_string(), rows);
        assert_eq!(summary["verdict"]["valid"], true, "{summary:#}");
        assert!(report.finished.stderr.contains("without TLS"), "{}", report.finished);
    }

    #[test]
    fn a_host_that_falls_silent_is_lost_and_the_rest_goes_on() {
        let site = Site::new();
        // Select-only: the silent host's sessions live on in the server, and would keep rows locked.
        let arguments = ["-S", "-c", "6", "-T", "15", "-P", "1", "--lease", "2", "-n"];
        let policy = ["--on-agent-loss", "continue"];
        let run = site.run(&[&arguments[..], &policy].concat()).start();
        run.process.wait_for_stderr("progress: 3.0 s", PATIENCE);
        site.network.plug(2, false);
        let report = run.finish(PATIENCE).expect_code(3);
        assert!(report.findings().contains(&"agent-lost".to_owned()), "{:?}", report.findings());
        let clients = report.measured("clients");
        let left = clients.iter().find(|clients| *clients != "6");
        assert_eq!(left.map(String::as_str), Some("4"), "{clients:?}");
    }
}
