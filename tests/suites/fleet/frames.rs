//! The fleet protocol frame by frame, for those who do not keep to it: as much of HTTP/2 (RFC 9113) and of HPACK
//! (RFC 7541) as it takes to be listened to.

use std::net::SocketAddr;

use pgsurge_common::ids::{AgentId, RunId};
use pgsurge_common::stats::ConnectStats;
use pgsurge_proto::bytes;
use pgsurge_proto::message::{
    Ack, AgentMessage, ClockEcho, Command, CoordinatorMessage, Hello, OfPart, Ready, Report,
    RunMessage,
};
use pgsurge_proto::numbering::Numbered;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RESET: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;

/// Frames are no longer than every peer takes.
const MOST: usize = 16 << 10;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = length[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// All that comes before the first message: the preface, settings, the headers of a stream.
pub fn opening() -> Vec<u8> {
    let text = |text: &str| {
        let mut field = vec![u8::try_from(text.len()).unwrap()];
        field.extend(text.as_bytes());
        field
    };
    // POST and http are in the static table; the rest is literal: path, authority, content type, te.
    let mut headers = vec![0x83, 0x86];
    for (name, value) in [
        (vec![0x04], "/pgsurge.v1.Fleet/Attach"),
        (vec![0x01], "coordinator"),
        (vec![0x0f, 0x10], "application/grpc"),
        ([vec![0], text("te")].concat(), "trailers"),
    ] {
        headers.extend(name);
        headers.extend(text(value));
    }
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    // Without an acknowledgement of the other side's settings its window would be a small one.
    let settings = [frame(SETTINGS, 0, 0, &[]), frame(SETTINGS, 1, 0, &[])].concat();
    [preface, settings, frame(HEADERS, 4, 1, &headers)].concat()
}

/// So many bytes of a message that says to have another length.
pub fn part_of_message(says: u32, bytes: &[u8]) -> Vec<u8> {
    let mut message = vec![0];
    message.extend(says.to_be_bytes());
    message.extend(bytes);
    data(&message)
}

/// Bytes of the stream, whatever they are.
pub fn data(bytes: &[u8]) -> Vec<u8> {
    bytes.chunks(MOST).flat_map(|chunk| frame(DATA, 0, 1, chunk)).collect()
}

/// A message.
pub fn message(bytes: &[u8]) -> Vec<u8> {
    part_of_message(u32::try_from(bytes.len()).unwrap(), bytes)
}

/// The hello of an agent with this name.
pub fn hello(name: &str) -> Vec<u8> {
    let hello = Hello {
        name: name.to_owned(),
        software_version: "0.0.0".to_owned(),
        cores: 1,
        memory_bytes: 1 << 30,
        fd_limit: 1024,
        once: false,
        resume: None,
    };
    message(&bytes::of_agent(AgentMessage::Hello(hello)))
}

/// An agent that says what it is told to.
pub struct Raw {
    stream: TcpStream,
    /// What of a message has come.
    heard: Vec<u8>,
    /// The run that it is in, with its part.
    place: Option<(RunId, AgentId)>,
    /// Reports so far.
    pub reports: u64,
}

impl Raw {
    pub async fn attach(address: SocketAddr, name: &str) -> Self {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(&[opening(), hello(name)].concat()).await.unwrap();
        Self { stream, heard: Vec::new(), place: None, reports: 0 }
    }

    /// Sends a message, whether or not anybody listens any more.
    pub async fn say(&mut self, bytes: &[u8]) {
        self.say_as_it_is(&message(bytes)).await;
    }

    /// Sends frames.
    pub async fn say_as_it_is(&mut self, frames: &[u8]) {
        let _ = self.stream.write_all(frames).await;
    }

    /// The bytes of its next report on a part of a run; by default its own.
    pub fn report(&mut self, place: Option<(RunId, AgentId)>, report: Report) -> Vec<u8> {
        self.reports += 1;
        let (run, part) = place.or_else(|| self.place.clone()).unwrap();
        let message = Numbered { number: self.reports, body: OfPart { part, body: report } };
        bytes::of_agent(AgentMessage::Report(RunMessage { run, message }))
    }

    pub async fn says(&mut self, report: Report) {
        let bytes = self.report(None, report);
        self.say(&bytes).await;
    }

    /// Answers everything that is asked, honestly, until this command comes; `false` if the stream ends before.
    pub async fn obeys_until(&mut self, wanted: fn(&Command) -> bool) -> bool {
        while let Some(message) = self.hear().await {
            match message {
                CoordinatorMessage::ClockProbe(probe) => {
                    let echo = ClockEcho { probe, received_ns: 1, sent_ns: 1 };
                    self.say(&bytes::of_agent(AgentMessage::ClockEcho(echo))).await;
                }
                CoordinatorMessage::Command(RunMessage { run, message }) => {
                    self.place = Some((run.clone(), message.body.part));
                    let ack = AgentMessage::Ack(Ack { run, number: message.number });
                    self.say(&bytes::of_agent(ack)).await;
                    let done = wanted(&message.body.body);
                    self.obeys(message.body.body).await;
                    if done {
                        return true;
                    }
                }
                _ => self.say(&bytes::of_agent(AgentMessage::Heartbeat)).await,
            }
        }
        false
    }

    async fn obeys(&mut self, command: Command) {
        match command {
            Command::Prepare { share, .. } => {
                let connect = ConnectStats {
                    wanted: share.clients(),
                    obtained: share.clients(),
                    server_identity: Some("the one".to_owned()),
                    ..ConnectStats::default()
                };
                let ready = Ready { connect, direct: Some(true) };
                self.says(Report::Ready(Box::new(ready))).await;
            }
            Command::Start { attempt, .. } => {
                self.says(Report::Armed { attempt, lead_ns: 1_000_000 }).await;
            }
            _ => {}
        }
    }

    /// The next message; nothing more comes after the end of the stream.
    pub async fn hear(&mut self) -> Option<CoordinatorMessage> {
        loop {
            if let [0, a, b, c, d, rest @ ..] = &self.heard[..] {
                let length = u32::from_be_bytes([*a, *b, *c, *d]) as usize;
                if rest.len() >= length {
                    let found = bytes::coordinator_message(&rest[..length]).unwrap();
                    self.heard.drain(..5 + length);
                    return Some(found);
                }
            }
            let mut head = [0; 9];
            self.stream.read_exact(&mut head).await.ok()?;
            let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
            let mut payload = vec![0; length];
            self.stream.read_exact(&mut payload).await.ok()?;
            match (head[3], head[4]) {
                (DATA, _) => self.heard.extend(payload),
                (PING, 0) => self.stream.write_all(&frame(PING, 1, 0, &payload)).await.ok()?,
                (RESET | GOAWAY, _) => return None,
                _ => {}
            }
        }
    }
}
