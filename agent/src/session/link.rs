//! One attached stream.

use std::time::Duration;

use pgsurge_proto::Incoming;
use pgsurge_proto::client;
use pgsurge_proto::message::{AgentMessage, CoordinatorMessage, Hello, Welcome};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::dial::{DialError, Dialler};

/// Messages that may wait for the connection; reports beyond them wait in the outbox.
const DEPTH: usize = 16;

/// Time from having a connection to being welcome.
const WELCOME_WITHIN: Duration = Duration::from_secs(15);

/// See the module.
#[derive(Debug)]
pub(super) struct Link {
    pub outgoing: mpsc::Sender<AgentMessage>,
    pub incoming: Incoming<CoordinatorMessage>,
}

/// Dials and says hello.
pub(super) async fn attach(dialler: Dialler, hello: Hello) -> Result<(Link, Welcome), DialError> {
    let (channel, testimony) = dialler.channel().await?;
    let (outgoing, messages) = mpsc::channel(DEPTH);
    let refuse = |reason: String| DialError {
        address: dialler.address.clone(),
        reason,
        for_good: false,
        renewable: false,
    };
    let gone = |_| refuse("the connection has ended".to_owned());
    outgoing.send(AgentMessage::Hello(hello)).await.map_err(gone)?;
    let welcome = async {
        let mut incoming = client::attach(channel, messages).await?;
        match incoming.next().await {
            Ok(Some(CoordinatorMessage::Welcome(welcome))) => {
                Ok((Link { outgoing, incoming }, welcome))
            }
            Ok(Some(_)) => {
                Err(client::AttachError::RefusedForGood("its first message is no welcome".into()))
            }
            Ok(None) => Err(client::AttachError::Refused("it closed the stream".into())),
            Err(error) => Err(client::AttachError::Connection(error.to_string())),
        }
    };
    match timeout(WELCOME_WITHIN, welcome).await {
        Ok(Ok(attached)) => Ok(attached),
        Ok(Err(error)) => Err(dialler.attach_error(&testimony, error)),
        Err(_) => Err(refuse("no welcome came in time".to_owned())),
    }
}
