//! Crowds at the port: agents still get in, their run is whole, the coordinator's memory is bounded, and its log is short.

use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use pgsurge_agent::session::raise_file_limit;
use pgsurge_tests::fake_load::FakeEngine;
use pgsurge_tests::simulated_fleet::{Size, observe_among};
use pgsurge_tests::turn;
use rustix::process::{Resource, getrlimit};

use super::SOON;
use super::frames::{data, hello, message, opening, part_of_message};
use super::runs::{assert_complete, run};
use super::scene::{Agent, spec};
use super::tls::{Authority, dialling, listen};

/// Three times as many as may wait for an agent.
const MANY: usize = 3000;

/// What a coordinator may have in memory under all of these. At most 1024 connections without an agent are read up to
/// 64 KiB each, and a connection with its HTTP/2 state takes some 40 KiB more; what a flood could fill without
/// those bounds is a megabyte (the window) a connection.
const MOST_KIB: u64 = 400 << 10;

/// The first bytes of a TLS handshake that announces more.
const HALF_HANDSHAKE: &[u8] = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 half";

/// Opens many connections and says something on each, as far as it is taken at once.
fn crowd(address: SocketAddr, count: usize, words: impl Fn(usize) -> Vec<u8>) -> Vec<TcpStream> {
    // Both ends of all crowds at a time have to be within the limits of a machine that has little room.
    let files = usize::try_from(getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX));
    let most = files.unwrap_or(usize::MAX).saturating_sub(300) / 2;
    let stranger = |number| {
        let mut stranger = TcpStream::connect_timeout(&address, SOON).ok()?;
        stranger.set_nonblocking(true).unwrap();
        // It may have been turned away by then.
        let _ = stranger.write(&words(number));
        Some(stranger)
    };
    (0..count.min(most)).filter_map(stranger).collect()
}

/// What the connections of a crowd say, in turns.
fn words(number: usize) -> Vec<u8> {
    let giant = || part_of_message(30 << 20, b"its beginning");
    let junk = message(b"\xff\xff\xff no message");
    match number % 9 {
        0 => Vec::new(),
        1 => opening()[..20].to_vec(),
        // A stream that never says hello, one whose hello does not end, and one that seems to be very long.
        2 => opening(),
        3 => [opening(), part_of_message(100, b"half a hello")].concat(),
        4 => [opening(), giant()].concat(),
        // Agents that nobody knows: each with a name of its own, all with one name, giants, and those that go on
        // with junk.
        5 => [opening(), hello(&format!("made-up-{number}"))].concat(),
        6 => [opening(), hello("simulated-1")].concat(),
        7 => [opening(), hello("giant"), giant()].concat(),
        _ => [opening(), hello(&format!("junk-{number}")), junk].concat(),
    }
}

#[test]
fn a_run_among_crowds_of_strangers_is_whole_and_its_coordinator_small() {
    let _turn = turn::take();
    raise_file_limit();
    let size = Size { agents: 5, clients: 2, transactions: 20, seconds: 15 };
    let mut present = Vec::new();
    let giant = data(&vec![0; 900_000]);
    let observed = observe_among(size, |address| {
        // Agents come after the first ones and find all places taken; none of the first is an agent that the run
        // could take in their place.
        let first = present.is_empty();
        let mut crowd = crowd(address, MANY, if first { |_| opening() } else { words });
        // Giants go on, within the window that each of them has been granted meanwhile.
        for stranger in &mut crowd {
            let _ = stranger.write(&giant);
        }
        present.push(crowd);
    });
    drop(present);
    let report = &observed.report;
    let codes = report.findings();
    let harm = ["agent-lost", "intervals-missing", "count-mismatch"];
    assert!(!codes.iter().any(|code| harm.contains(&code.as_str())), "{}", report.finished);
    assert_eq!(report.sum_measured("transactions"), observed.diary.transactions());
    assert_eq!(report.measured("complete"), vec!["true"; 15], "{}", report.finished);
    let [_, peak_kib] = observed.peak_kib;
    assert!(peak_kib < MOST_KIB, "{} MiB", peak_kib >> 10);
    let stderr = &report.finished.stderr;
    for named in ["newer connections needed its place", "it broke the protocol", "more connections"]
    {
        assert!(stderr.contains(named), "nothing says {named:?}\n{stderr}");
    }
    let lines = stderr.lines().count();
    assert!(lines < 150, "{lines} lines\n{stderr}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_open_handshakes_keep_no_agent_out() {
    raise_file_limit();
    let authority = Authority::new();
    let (fleet, address) = listen(Some(authority.coordinator())).await;
    let flood = || crowd(address, MANY, |_| HALF_HANDSHAKE.to_vec());
    let present = tokio::task::block_in_place(flood);
    let engine = FakeEngine::default();
    let agent = Agent::start(dialling(address, Some(authority.agent())), &engine);
    let (spec, _events) = spec("r1", fleet.gather(1, SOON).await.unwrap());
    assert_complete(&run(spec).await.unwrap(), &engine.diary);
    // Those that are left are closed when their time is over, whatever else.
    let refused = fleet.gather(2, Duration::from_millis(10)).await.unwrap_err().refused;
    assert!(refused.iter().any(|why| why.contains("newer connections")), "{refused:?}");
    drop(present);
    fleet.shutdown().await;
    agent.exit().await.unwrap();
}
