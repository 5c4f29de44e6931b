//! Hosts, networks and clocks that misbehave on command, and only then.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use pgsurge_tests::process::{Running, command, eventually};
use pgsurge_tests::proxy::Proxy;
use pgsurge_tests::wall_clock::WallClock;

use super::SOON;

/// A server that sends back what it gets, for as long as the test runs.
fn echo() -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut buffer = [0; 64];
                while let Ok(length @ 1..) = stream.read(&mut buffer) {
                    stream.write_all(&buffer[..length]).unwrap();
                }
            });
        }
    });
    address
}

fn connect(proxy: &Proxy) -> TcpStream {
    let stream = TcpStream::connect(proxy.address()).unwrap();
    stream.set_read_timeout(Some(SOON)).unwrap();
    stream
}

fn round_trip(stream: &mut TcpStream, byte: u8) {
    let mut answer = [0];
    stream.write_all(&[byte]).unwrap();
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(answer, [byte]);
}

#[test]
fn a_proxy_delays_each_direction() {
    let proxy = Proxy::start(echo());
    let mut stream = connect(&proxy);
    round_trip(&mut stream, 1);
    proxy.delay(Duration::from_millis(30));
    let began = Instant::now();
    round_trip(&mut stream, 2);
    assert!(began.elapsed() >= Duration::from_millis(60));
}

#[test]
fn a_stalled_proxy_delivers_everything_in_order_once_it_goes_on() {
    let proxy = Proxy::start(echo());
    let mut stream = connect(&proxy);
    round_trip(&mut stream, 1);
    proxy.stall(true);
    stream.write_all(b"abc").unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let mut answer = [0; 3];
    assert!(stream.read(&mut answer).is_err(), "something came through");
    stream.set_read_timeout(Some(SOON)).unwrap();
    proxy.stall(false);
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"abc");
}

#[test]
fn a_cut_ends_connections_and_a_closed_proxy_takes_no_new_ones() {
    let proxy = Proxy::start(echo());
    let ends = |mut stream: TcpStream| matches!(stream.read(&mut [0]), Ok(0) | Err(_));
    let mut stream = connect(&proxy);
    round_trip(&mut stream, 1);
    proxy.cut();
    assert!(ends(stream));
    round_trip(&mut connect(&proxy), 2);
    proxy.close(true);
    assert!(ends(connect(&proxy)));
    proxy.close(false);
    round_trip(&mut connect(&proxy), 3);
}

#[test]
fn a_process_sees_its_wall_clock_step_and_the_time_since_boot_go_on() {
    let clock = WallClock::new();
    let mut shell = command("bash");
    clock.govern(shell.args(["-c", "while :; do printf '%(%s)T\\n'; read -rt 0.01 <> <(:); done"]));
    let running = Running::start("clock", &mut shell);
    let shown = || running.stdout().lines().last().and_then(|line| line.parse::<i64>().ok());
    let right = || i64::try_from(std::time::UNIX_EPOCH.elapsed().unwrap().as_secs()).unwrap();
    let is_off_by = |offset: i64| shown().is_some_and(|s| (s - right() - offset).abs() < 30);
    eventually("the right time", SOON, || is_off_by(0));
    clock.step(-600);
    eventually("ten minutes ago", SOON, || is_off_by(-600));
    clock.step(3600);
    eventually("in an hour", SOON, || is_off_by(3600));
}

mod as_root {
    use pgsurge_tests::hosts::Network;

    use super::*;

    #[test]
    fn hosts_have_addresses_of_their_own_and_reach_each_other_and_nothing_else() {
        let network = Network::new(2);
        let (first, second) = (network.host(0), network.host(1));
        let listener = first.within(|| TcpListener::bind((first.address(), 0)).unwrap());
        let address = listener.local_addr().unwrap();
        let stream = second.within(|| TcpStream::connect(address).unwrap());
        let (_accepted, peer) = listener.accept().unwrap();
        assert_eq!(peer.ip(), second.address());
        assert_eq!(stream.peer_addr().unwrap().ip(), first.address());
        assert!(TcpStream::connect_timeout(&address, Duration::from_millis(100)).is_err());
    }

    #[test]
    fn a_command_runs_on_its_host_and_the_hosts_go_with_the_network() {
        let network = Network::new(1);
        let mut show = network.host(0).command("ip");
        let shown = Running::run("ip", show.args(["-br", "address"]), SOON).expect_code(0);
        assert!(shown.stdout.contains(&network.host(0).address().to_string()), "{shown}");
        let name = network.host(0).name().to_owned();
        let is_there = || {
            let listed = Running::run("ip", command("ip").args(["netns", "list"]), SOON);
            listed.stdout.lines().any(|line| line.starts_with(&name))
        };
        assert!(is_there());
        drop(network);
        assert!(!is_there());
    }

    #[test]
    fn a_pulled_cable_holds_packets_back_until_it_is_plugged_in_again() {
        let network = Network::new(2);
        let (first, second) = (network.host(0), network.host(1));
        let listener = first.within(|| TcpListener::bind((first.address(), 0)).unwrap());
        let address = listener.local_addr().unwrap();
        let mut stream = second.within(|| TcpStream::connect(address).unwrap());
        let (mut accepted, _) = listener.accept().unwrap();
        network.plug(1, false);
        stream.write_all(b"x").unwrap();
        accepted.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        assert!(accepted.read(&mut [0]).is_err(), "something came through");
        network.plug(1, true);
        accepted.set_read_timeout(Some(SOON)).unwrap();
        accepted.read_exact(&mut [0]).unwrap();
    }
}
