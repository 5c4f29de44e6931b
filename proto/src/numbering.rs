//! Numbered messages over connections that come and go: nothing lost, nothing twice.
//!
//! The sender keeps what is not acknowledged and begins again after the last number that its peer has; the
//! receiver takes each number once. Knows nothing of what the messages are.

use std::collections::VecDeque;

/// A message with its number, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbered<T> {
    /// Its place among the messages of its run and direction.
    pub number: u64,
    /// The message.
    pub body: T,
}

/// The sending side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outbox<T> {
    kept: VecDeque<Numbered<T>>,
    last: u64,
    /// How many of `kept`, from the front, are on their way.
    sent: usize,
}

impl<T> Default for Outbox<T> {
    fn default() -> Self {
        Self { kept: VecDeque::new(), last: 0, sent: 0 }
    }
}

impl<T: Clone> Outbox<T> {
    /// Takes a message to be sent and gives it the next number.
    pub fn push(&mut self, body: T) {
        self.last += 1;
        self.kept.push_back(Numbered { number: self.last, body });
    }

    /// The next message that is not on its way yet.
    pub fn next_unsent(&mut self) -> Option<Numbered<T>> {
        let next = self.kept.get(self.sent)?.clone();
        self.sent += 1;
        Some(next)
    }

    /// Some message is not on its way yet.
    #[must_use]
    pub fn has_unsent(&self) -> bool {
        self.sent < self.kept.len()
    }

    /// Forgets what the peer has. A number that was never given out is ignored, the peer being wrong.
    pub fn acknowledge(&mut self, number: u64) {
        if number > self.last {
            return;
        }
        while self.kept.front().is_some_and(|message| message.number <= number) {
            self.kept.pop_front();
            self.sent = self.sent.saturating_sub(1);
        }
    }

    /// Begins again on a new connection to a peer that has everything up to `number`.
    pub fn rewind(&mut self, number: u64) {
        self.acknowledge(number);
        self.sent = 0;
    }

    /// The last number that was acknowledged; 0 if none was.
    #[must_use]
    pub fn acknowledged(&self) -> u64 {
        self.kept.front().map_or(self.last, |message| message.number - 1)
    }

    /// Everything was acknowledged.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// How many messages wait for their acknowledgement.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kept.len()
    }
}

/// The receiving side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inbox {
    received: u64,
}

/// What to do with a message that came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It is the next one.
    New,
    /// It was here before; to be dropped.
    Again,
    /// One before it is missing, which cannot be on an ordered stream: the peer is at fault.
    Gap,
}

impl Inbox {
    /// Judges a number and remembers it if it is the next.
    pub fn accept(&mut self, number: u64) -> Arrival {
        if number <= self.received {
            Arrival::Again
        } else if number == self.received + 1 {
            self.received = number;
            Arrival::New
        } else {
            Arrival::Gap
        }
    }

    /// The last number that arrived; 0 if none did.
    #[must_use]
    pub fn received(&self) -> u64 {
        self.received
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What may happen to a stream of messages.
    #[derive(Clone, Debug)]
    enum Fate {
        Push,
        Deliver,
        Acknowledge,
        Cut,
    }

    fn fate() -> impl Strategy<Value = Fate> {
        prop_oneof![Just(Fate::Push), Just(Fate::Deliver), Just(Fate::Acknowledge), Just(Fate::Cut)]
    }

    proptest! {
        #[test]
        fn every_message_arrives_once_and_in_order_whatever_is_cut(
            fates in prop::collection::vec(fate(), 0..200)
        ) {
            let (mut outbox, mut inbox) = (Outbox::default(), Inbox::default());
            let (mut pushed, mut arrived) = (0_u32, Vec::new());
            let mut deliver = |outbox: &mut Outbox<u32>, inbox: &mut Inbox| {
                let Some(message) = outbox.next_unsent() else { return false };
                if inbox.accept(message.number) == Arrival::New {
                    arrived.push(message.body);
                }
                true
            };
            for fate in fates {
                match fate {
                    Fate::Push => { outbox.push(pushed); pushed += 1; }
                    Fate::Deliver => { deliver(&mut outbox, &mut inbox); }
                    Fate::Acknowledge => outbox.acknowledge(inbox.received()),
                    // What was on its way is lost with the connection.
                    Fate::Cut => { outbox.next_unsent(); outbox.rewind(inbox.received()); }
                }
            }
            outbox.rewind(inbox.received());
            while deliver(&mut outbox, &mut inbox) {}
            prop_assert_eq!(arrived, (0..pushed).collect::<Vec<_>>());
            outbox.acknowledge(inbox.received());
            prop_assert!(outbox.is_empty());
        }
    }

    #[test]
    fn a_gap_is_noticed_and_a_number_from_nowhere_is_ignored() {
        let mut inbox = Inbox::default();
        assert_eq!(inbox.accept(2), Arrival::Gap);
        assert_eq!(inbox.accept(1), Arrival::New);
        assert_eq!(inbox.accept(1), Arrival::Again);
        let mut outbox = Outbox::default();
        outbox.push('a');
        outbox.acknowledge(7);
        assert_eq!(outbox.len(), 1);
    }
}
