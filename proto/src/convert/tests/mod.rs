//! Every message comes back from the wire as it was, and what is not whole is refused by name.

mod refused;
mod values;

use pgsurge_common::stats::{Interval, Totals};
use proptest::prelude::*;
use prost::Message;

use super::super::message::{AgentMessage, CoordinatorMessage, LogPart};
use crate::{MAX_MESSAGE_BYTES, WireError, wire};

/// Through bytes and back, as over a connection.
fn travel<W, D>(message: impl Into<W>) -> Result<D, WireError>
where
    W: Message + Default,
    D: TryFrom<W, Error = WireError>,
{
    let bytes = message.into().encode_to_vec();
    assert!(bytes.len() < MAX_MESSAGE_BYTES);
    D::try_from(W::decode(&*bytes).expect("what was encoded decodes"))
}

proptest! {
    // Histograms make each case expensive.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn agents_messages_arrive_as_they_left(message in values::agent_message()) {
        let arrived: AgentMessage = travel::<wire::AgentMessage, _>(message.clone())?;
        prop_assert_eq!(arrived, message);
    }

    #[test]
    fn coordinators_messages_arrive_as_they_left(message in values::coordinator_message()) {
        let arrived: CoordinatorMessage =
            travel::<wire::CoordinatorMessage, _>(message.clone())?;
        prop_assert_eq!(arrived, message);
    }

    #[test]
    fn pieces_of_logs_arrive_as_they_left(part in values::log_part()) {
        let arrived: LogPart = travel::<wire::LogPart, _>(part.clone())?;
        prop_assert_eq!(arrived, part);
    }

    #[test]
    fn intervals_arrive_as_they_left(interval in values::interval()) {
        let arrived: Interval = travel::<wire::Interval, _>(&interval)?;
        prop_assert_eq!(arrived, interval);
    }

    #[test]
    fn bytes_of_strangers_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        if let Ok(message) = wire::AgentMessage::decode(&*bytes) {
            let _ = AgentMessage::try_from(message);
        }
        if let Ok(message) = wire::CoordinatorMessage::decode(&*bytes) {
            let _ = CoordinatorMessage::try_from(message);
        }
        if let Ok(part) = wire::LogPart::decode(&*bytes) {
            let _ = LogPart::try_from(part);
        }
    }

    #[test]
    fn damaged_messages_never_panic(
        message in values::agent_message(),
        place in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut bytes = wire::AgentMessage::from(message).encode_to_vec();
        if !bytes.is_empty() {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if let Ok(message) = wire::AgentMessage::decode(&*bytes) {
            let _ = AgentMessage::try_from(message);
        }
    }
}

#[test]
fn the_totals_of_20_000_clients_fit_into_a_message() {
    let clients = (0..20_000)
        .map(|client| pgsurge_common::stats::ClientCount { client, transactions: u64::MAX });
    let totals = Totals { clients: clients.collect(), ..Totals::default() };
    let arrived: Totals = travel::<wire::Totals, _>(&totals).expect("it is whole");
    assert_eq!(arrived, totals);
}
