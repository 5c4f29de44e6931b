//! The server's door: who gets in, and what those hear that do not.
#![allow(clippy::unwrap_used)]

use std::io;
use std::sync::{Arc, Mutex};

use tokio::io::DuplexStream;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Uri;

use super::*;
use crate::client::{AttachError, attach, deliver, endpoint};
use crate::message::Token;
use crate::wire::fleet_client::FleetClient;

#[derive(Default)]
struct Book(Mutex<Vec<String>>);

impl Admission for Book {
    type Peer = ();

    fn attach(&self, newcomer: Newcomer<()>) -> Result<Outgoing, Refusal> {
        self.0.lock().unwrap().push(newcomer.hello.name);
        Err(Refusal::Later("full".into()))
    }

    async fn deliver(&self, mut delivery: Delivery<()>) -> Result<LogReceipt, Refusal> {
        let mut receipt = LogReceipt::default();
        loop {
            match delivery.parts.next().await {
                Ok(Some(LogPart::File { .. })) => receipt.files += 1,
                Ok(Some(LogPart::Data(data))) => receipt.bytes += data.len() as u64,
                Ok(Some(LogPart::End(sent))) if sent == receipt => return Ok(receipt),
                other => return Err(Refusal::Never(format!("{other:?}"))),
            }
        }
    }

    fn rejected(&self, _: Option<&()>, why: &str) {
        self.0.lock().unwrap().push(why.to_owned());
    }
}

/// A server over one pipe, and a channel to it.
async fn server() -> (Arc<Book>, tonic::transport::Channel) {
    let book = Arc::new(Book::default());
    let (near, far) = tokio::io::duplex(1 << 16);
    // A stream that ends would end the server.
    let incoming = tokio_stream::once(Ok::<DuplexStream, io::Error>(far));
    let incoming = incoming.chain(tokio_stream::pending());
    tokio::spawn(serve(Arc::clone(&book), incoming, std::future::pending()));
    let mut near = Some(hyper_util::rt::TokioIo::new(near));
    let once = tower::service_fn(move |_: Uri| {
        let near = near.take().ok_or(io::Error::from(io::ErrorKind::NotConnected));
        async move { near }
    });
    (book, endpoint().connect_with_connector(once).await.unwrap())
}

#[tokio::test]
async fn another_protocol_version_is_refused_with_both_versions_named() {
    let (book, channel) = server().await;
    let hello = wire::Hello {
        protocol_version: 99,
        name: "old".into(),
        software_version: "9.9".into(),
        // Everything else may mean something different in another version.
        ..wire::Hello::default()
    };
    let first = wire::AgentMessage { kind: Some(Kind::Hello(hello)) };
    let status = FleetClient::new(channel).attach(tokio_stream::once(first)).await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::FailedPrecondition);
    let expected = format!(
        "protocol version 99 of agent \"old\" (pgsurge 9.9) does not match the coordinator's version \
         {PROTOCOL_VERSION} (pgsurge {}), install the same pgsurge on both",
        env!("CARGO_PKG_VERSION")
    );
    assert_eq!(status.message(), expected);
    assert_eq!(*book.0.lock().unwrap(), [expected]);
}

#[tokio::test]
async fn a_stream_must_begin_with_a_hello() {
    let (_, channel) = server().await;
    let (outgoing, messages) = mpsc::channel(1);
    outgoing.send(AgentMessage::Heartbeat).await.unwrap();
    match attach(channel, messages).await {
        Err(AttachError::RefusedForGood(why)) => assert_eq!(why, "the first message is no hello"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_agent_may_be_asked_to_come_again_later() {
    let (book, channel) = server().await;
    let hello = Hello {
        name: "a".into(),
        software_version: String::new(),
        cores: 1,
        memory_bytes: 0,
        fd_limit: 0,
        once: false,
        resume: None,
    };
    let (outgoing, messages) = mpsc::channel(1);
    outgoing.send(AgentMessage::Hello(hello)).await.unwrap();
    match attach(channel, messages).await {
        Err(AttachError::Refused(why)) => assert_eq!(why, "full"),
        other => panic!("{other:?}"),
    }
    assert_eq!(*book.0.lock().unwrap(), ["a"]);
}

#[tokio::test]
async fn a_message_beyond_the_bound_is_refused() {
    let (_, channel) = server().await;
    let hello = wire::Hello { name: "x".repeat(MAX_MESSAGE_BYTES + 1), ..wire::Hello::default() };
    let first = wire::AgentMessage { kind: Some(Kind::Hello(hello)) };
    let (outgoing, messages) = mpsc::channel(1);
    outgoing.send(first).await.unwrap();
    let status = FleetClient::new(channel)
        .max_encoding_message_size(usize::MAX)
        .attach(ReceiverStream::new(messages))
        .await
        .unwrap_err();
    assert!(status.message().contains("decoded message length too large"), "{status:?}");
}

#[tokio::test]
async fn logs_arrive_whole_and_are_answered_by_a_receipt() {
    let (_, channel) = server().await;
    let run = pgsurge_common::ids::RunId::new("r1").unwrap();
    let sender = LogSender { token: Token(vec![1]), run };
    let (outgoing, parts) = mpsc::channel(2);
    let sent = LogReceipt { files: 1, bytes: 300_000 };
    let sending = async {
        let worker = pgsurge_common::ids::WorkerId(7);
        outgoing.send(LogPart::File { process: 1, worker }).await.unwrap();
        for _ in 0..3 {
            outgoing.send(LogPart::Data(vec![b'x'; 100_000])).await.unwrap();
        }
        outgoing.send(LogPart::End(sent)).await.unwrap();
    };
    let (receipt, ()) = tokio::join!(deliver(channel, sender, parts), sending);
    assert_eq!(receipt.unwrap(), sent);
}

#[tokio::test]
async fn logs_must_begin_with_their_sender() {
    let (book, channel) = server().await;
    let data = wire::LogPart { kind: Some(wire::log_part::Kind::Data(vec![1])) };
    let status = FleetClient::new(channel).deliver(tokio_stream::once(data)).await.unwrap_err();
    let expected = "logs without a sender: missing field LogPart.sender";
    assert_eq!((status.code(), status.message()), (tonic::Code::FailedPrecondition, expected));
    assert_eq!(*book.0.lock().unwrap(), [expected]);
}
