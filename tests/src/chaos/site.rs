//! The hosts of a schedule: one a load host, one of the coordinator, one of the server.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;
use tempfile::TempDir;

use super::execute::until;
use super::schedule::{Schedule, Way};
use crate::cluster::prepare;
use crate::hosts::{Host, Network};
use crate::postgres::{Postgres, Settings, Version};
use crate::process::{Finished, Running};
use crate::program;

/// Far beyond what any step takes.
const PATIENCE: Duration = Duration::from_secs(90);
const PORT: u16 = 7432;
/// Every transaction leaves a row that says whose it was.
const SCRIPT: &str = "insert into chaos values (:client_id);\n";
/// So that a cut is noticed within seconds, whatever the kernel's own patience.
const NOTICING: &str = "tcp_user_timeout=4000&keepalives_idle=2&keepalives_interval=1&keepalives_count=3&connect_timeout=3";

/// What stands between the first event and the last check.
pub struct Site {
    /// The target.
    pub server: Postgres,
    /// Processes of agents that are alive, by their numbers.
    pub agents: BTreeMap<u32, Running>,
    network: Network,
    schedule: Schedule,
    folder: TempDir,
    /// Agents that were told to leave.
    told: Vec<u32>,
    /// What agents said that are gone.
    pub ended: Vec<(u32, Finished)>,
}

impl Site {
    /// Starts the server and the agents.
    ///
    /// # Panics
    /// If this machine cannot.
    #[must_use]
    pub fn start(schedule: &Schedule) -> Self {
        let all = schedule.agents + schedule.spares;
        let network = Network::new(u8::try_from(all).expect("a few") + 2);
        let settings = Settings::new()
            .set("listen_addresses", "*")
            .set("synchronous_commit", "on")
            // A session whose client cannot be reached ends within seconds, too.
            .set("tcp_keepalives_idle", "2")
            .set("tcp_keepalives_interval", "1")
            .set("tcp_keepalives_count", "3")
            .set("tcp_user_timeout", "4000")
            .hba(&["host all all samenet trust"]);
        let database = network.host(all as usize + 1);
        let server = database.within(|| Postgres::start(Version::V15, &settings));
        server.execute("create table chaos (client int)");
        let folder = tempfile::tempdir().expect("there is room");
        std::fs::write(folder.path().join("script.sql"), SCRIPT).expect("as above");
        let mut site = Self {
            server,
            agents: BTreeMap::new(),
            network,
            schedule: schedule.clone(),
            folder,
            told: Vec::new(),
            ended: Vec::new(),
        };
        if schedule.tls {
            site.make_certificates(all);
        }
        (0..all).for_each(|number| site.start_agent(number));
        site
    }

    fn host(&self, number: u32) -> &Host {
        self.network.host(number as usize)
    }

    fn coordinator(&self) -> &Host {
        self.host(self.schedule.agents + self.schedule.spares)
    }

    fn database(&self) -> &Host {
        self.host(self.schedule.agents + self.schedule.spares + 1)
    }

    fn make_certificates(&self, agents: u32) {
        let name = self.coordinator().address().to_string();
        let (folder, agents) = (self.tls(), agents.to_string());
        let arguments =
            ["certs", folder.to_str().expect("UTF-8"), "--coordinator", &name, "--agents", &agents];
        let mut command = self.coordinator().command(program::pgsurge());
        command.args(arguments);
        let _ = Running::run("certs", &mut command, PATIENCE).expect_code(0);
    }

    fn tls(&self) -> PathBuf {
        self.folder.path().join("tls")
    }

    /// How an end of the fleet port proves who it is.
    fn trust(&self, holder: &str) -> Vec<String> {
        if self.schedule.tls {
            let folder = self.tls().join(holder);
            vec!["--tls".to_owned(), folder.to_str().expect("UTF-8").to_owned()]
        } else {
            vec!["--insecure".to_owned()]
        }
    }

    /// Starts an agent, or starts it again.
    pub fn start_agent(&mut self, number: u32) {
        let address = format!("{}:{PORT}", self.coordinator().address());
        let name = format!("a{number}");
        let mut arguments = vec!["agent", "--coordinator", &address, "--name", &name];
        let trust = self.trust(&format!("agent-{}", number + 1));
        arguments.extend(trust.iter().map(String::as_str));
        let mut command = prepare(self.host(number).command(program::pgsurge()), &arguments);
        self.agents.insert(number, Running::start(format!("agent {name}"), &mut command));
    }

    /// Starts a run with results in a folder of this name; its processes are the coordinator's.
    #[must_use]
    pub fn run(&self, results: &str, agents: usize, arguments: &[String]) -> Running {
        let uri = format!(
            "postgresql://postgres@{}:{}/postgres?{NOTICING}",
            self.database().address(),
            self.server.port()
        );
        let (results, script) = (self.results(results), self.folder.path().join("script.sql"));
        let mut command = prepare(self.coordinator().command(program::pgsurge()), &["run", "-n"]);
        command.arg("--results").arg(results).arg("-f").arg(script);
        command.args(["--agents", &agents.to_string(), "--no-html"]);
        command.arg("--listen").arg(format!("{}:{PORT}", self.coordinator().address()));
        command.args(self.trust("coordinator")).args(arguments).arg(uri);
        Running::start("run", &mut command)
    }

    /// Where the results of that name are, or will be.
    #[must_use]
    pub fn results(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Committed transactions of each client.
    #[must_use]
    pub fn committed(&self) -> BTreeMap<u32, u64> {
        let rows = self.server.query("select client, count(*) from chaos group by client");
        let number = |text: &str| text.parse::<u64>().expect("a number");
        let pair = |row: &Vec<Option<String>>| {
            let field = |at: usize| row[at].as_deref().map_or(0, number);
            (u32::try_from(field(0)).expect("a client"), field(1))
        };
        rows.iter().map(pair).collect()
    }

    /// Sessions of load and of control on the server.
    #[must_use]
    pub fn sessions(&self) -> String {
        self.server.value(
            "select count(*) from pg_stat_activity where application_name like 'pgsurge%' \
             and backend_type = 'client backend'",
        )
    }

    /// Signals an agent that is alive.
    pub fn signal(&self, number: u32, signal: Signal) {
        if let Some(agent) = self.agents.get(&number) {
            agent.signal(signal);
        }
    }

    /// Does something to the server, on its host.
    pub fn server_does(&mut self, work: impl FnOnce(&mut Postgres) + Send) {
        let host = self.database().clone();
        let server = &mut self.server;
        host.within(|| work(server));
    }

    /// Waits for those that were told to leave while they were alive; gives those that do not.
    pub fn let_leave(&mut self) -> Vec<u32> {
        let told = std::mem::take(&mut self.told);
        told.into_iter().filter(|number| !self.ended(*number)).collect()
    }

    /// Tells an agent to leave.
    pub fn tell_to_leave(&mut self, number: u32) {
        if self.agents.contains_key(&number) {
            self.signal(number, Signal::TERM);
            self.told.push(number);
        }
    }

    /// Agents whose processes have ended without being killed; they are not alive any more.
    pub fn gone(&mut self) -> Vec<u32> {
        let mut gone = Vec::new();
        for (number, agent) in &mut self.agents {
            if agent.has_ended() {
                gone.push(*number);
            }
        }
        for number in &gone {
            let _ = self.ended(*number);
        }
        gone
    }

    /// Takes an agent out that was told to end, or was killed; tells whether it ends.
    pub fn ended(&mut self, number: u32) -> bool {
        self.told.retain(|told| *told != number);
        let Some(mut agent) = self.agents.remove(&number) else { return true };
        let ends = until(|| agent.has_ended());
        agent.signal(Signal::KILL);
        self.ended.push((number, agent.wait(PATIENCE)));
        ends
    }

    /// Pulls a host's cable or plugs it in: an agent's, or the coordinator's.
    pub fn plug(&self, agent: Option<u32>, is_in: bool) {
        let number = agent.unwrap_or(self.schedule.agents + self.schedule.spares);
        self.network.plug(number as usize, is_in);
    }

    /// Throws away what goes one way between an agent and the server, or ends that.
    pub fn block(&self, agent: u32, way: Way, is_blocked: bool) {
        let (agent, server) = (self.host(agent), self.database());
        let (here, there) = match way {
            Way::ToServer => (agent, server.address()),
            Way::FromServer => (server, agent.address()),
        };
        route(here, there, is_blocked);
    }
}

/// Packets of this host to that address go nowhere.
fn route(host: &Host, address: Ipv4Addr, is_blocked: bool) {
    let change = if is_blocked { "replace" } else { "delete" };
    let mut command = Command::new("ip");
    command.args(["-n", host.name(), "route", change, "blackhole", &format!("{address}/32")]);
    // Deleting fails where two blocks overlapped and the first to end took both.
    let output = command.output().expect("iproute2 is there");
    assert!(!is_blocked || output.status.success(), "{command:?}: {output:?}");
}
