//! `pgsurge-fake-server`: the fake PostgreSQL server as a program of its own, for the benchmark (a
//! client's own ceiling, without a server in the way) and for looking at clients by hand.

use std::io::{Read, Write, stdin, stdout};
use std::net::TcpListener;
use std::time::Duration;

use clap::Parser;
use pgsurge_tests::fake_server::{Behaviour, FakeServer};

/// Answers every statement as PostgreSQL would, at a known speed. Ends when its standard input does.
#[derive(Parser)]
struct Arguments {
    /// Address and port to listen on; port 0 takes a free one.
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: String,
    /// Time that each transaction takes, in microseconds (coarse below some milliseconds).
    #[arg(long, default_value_t = 0)]
    service_us: u64,
    /// Threads that serve.
    #[arg(long, default_value_t = 1)]
    threads: usize,
}

fn main() -> std::io::Result<()> {
    let arguments = Arguments::parse();
    let behaviour = Behaviour {
        threads: arguments.threads,
        ..Behaviour::fixed(Duration::from_micros(arguments.service_us))
    };
    let server = FakeServer::on(TcpListener::bind(&arguments.listen)?, behaviour);
    writeln!(stdout(), "listening on {}", server.address())?;
    stdin().read_to_end(&mut Vec::new())?;
    writeln!(stdout(), "{:?}", server.counts())
}
