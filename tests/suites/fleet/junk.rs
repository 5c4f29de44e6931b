//! Strangers at the port: refused, bounded, and without effect on the run of honest agents.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::SOON;
use super::frames::{Raw, message, part_of_message};
use super::runs::{assert_complete, run};
use super::scene::{Agent, listen, spec};
use super::tls::complaint;
use pgsurge_tests::fake_load::FakeEngine;

/// What strangers say; nothing at all is among it.
fn junk() -> Vec<Vec<u8>> {
    let noise = (0..4000_u32).map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()[2]).collect();
    vec![
        Vec::new(),
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        // The preface, then a frame that says it is 16 MB long.
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\x00\x00\x00\x00\x00\x01".to_vec(),
        b"Pnoise that begins like the preface".to_vec(),
        noise,
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn junk_and_half_open_connections_do_not_disturb_a_run() {
    let (fleet, address) = listen().await;
    let engine = FakeEngine::default();
    let mut open = Vec::new();
    for words in junk().iter().cycle().take(300) {
        let mut stranger = TcpStream::connect(address).await.unwrap();
        stranger.write_all(words).await.unwrap();
        open.push(stranger);
    }
    let agent = Agent::dialling(address, "honest", &engine);
    let (spec, _events) = spec("r1", fleet.gather(1, SOON).await.unwrap());
    let outcome = run(spec).await.unwrap();
    assert_complete(&outcome, &engine.diary);
    fleet.shutdown().await;
    agent.exit().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_over_which_no_agent_comes_is_closed() {
    let (fleet, address) = listen().await;
    let mut strangers = Vec::new();
    for words in junk() {
        let mut stranger = TcpStream::connect(address).await.unwrap();
        stranger.write_all(&words).await.unwrap();
        strangers.push((stranger, words));
    }
    for (mut stranger, words) in strangers {
        let mut said = Vec::new();
        // Whether it ends in good order or by a reset does not matter here.
        let closed = tokio::time::timeout(SOON, stranger.read_to_end(&mut said)).await;
        assert!(closed.is_ok(), "{:?} keeps its connection", String::from_utf8_lossy(&words));
    }
    drop(fleet);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_sends_no_message_is_cut_off_and_named() {
    let giant = part_of_message(30 << 20, &vec![0; 900_000]);
    let too_long = part_of_message(40 << 20, b"begins");
    for (name, bytes, said) in [
        ("giant", giant, "it sent more than a message takes, and serves no run"),
        ("too-long", too_long, "it broke the protocol: the peer sent no message"),
        ("junk", message(b"\xff\xff\xff"), "it broke the protocol: the peer sent no message"),
    ] {
        let (fleet, address) = listen().await;
        let mut agent = Raw::attach(address, name).await;
        // Its welcome: from there on the window is as wide as it will be.
        agent.hear().await.unwrap();
        agent.say_as_it_is(&bytes).await;
        let complaint = complaint(&fleet).await;
        assert!(complaint.contains(said), "{name}: {complaint}");
        assert!(!agent.obeys_until(|_| false).await, "it is cut off");
    }
}
