//! What one session has read and not yet consumed.
//!
//! The large buffer that reads go into belongs to the thread; a session keeps only its leftovers, so that
//! a thousand idle sessions cost little memory.

use std::cell::RefCell;
use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

use super::backend::frame_length;
use super::error::WireError;

/// Size of the thread's read buffer: an answer of ordinary size arrives with one read.
const SCRATCH: usize = 32 * 1024;

/// An inbox that has grown beyond this gives its memory back when it is empty.
const KEEP: usize = 8 * 1024;

thread_local! {
    static BUFFER: RefCell<Box<[u8]>> = RefCell::new(vec![0; SCRATCH].into_boxed_slice());
}

/// Bytes of one session from the first unread message on.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    bytes: Vec<u8>,
    start: usize,
}

impl Inbox {
    /// Takes the next whole message out, if it is there; its bytes stay valid until the next fill.
    pub(super) fn take(&mut self) -> Result<Option<Range<usize>>, WireError> {
        let unread = &self.bytes[self.start..];
        let Some(length) = frame_length(unread)?.filter(|&length| length <= unread.len()) else {
            return Ok(None);
        };
        let range = self.start..self.start + length;
        self.start = range.end;
        Ok(Some(range))
    }

    /// The bytes of a message that was taken.
    pub(super) fn frame(&self, range: Range<usize>) -> &[u8] {
        &self.bytes[range]
    }

    /// Whether nothing is left unread.
    pub(super) fn is_empty(&self) -> bool {
        self.start == self.bytes.len()
    }

    /// Reads once; the number of bytes, 0 at the end of the stream.
    pub(super) fn poll_fill(
        &mut self,
        stream: &mut (impl AsyncRead + Unpin),
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        BUFFER.with_borrow_mut(|scratch| {
            let mut read = ReadBuf::new(scratch);
            ready!(Pin::new(stream).poll_read(cx, &mut read))?;
            self.append(read.filled());
            Poll::Ready(Ok(read.filled().len()))
        })
    }

    fn append(&mut self, new: &[u8]) {
        if self.is_empty() {
            self.bytes.clear();
            if self.bytes.capacity() > KEEP && new.len() <= KEEP {
                self.bytes.shrink_to(KEEP);
            }
        } else if self.start > 0 {
            self.bytes.drain(..self.start);
        }
        self.start = 0;
        self.bytes.extend_from_slice(new);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;

    fn message(length: usize) -> Vec<u8> {
        let mut bytes = vec![b'D'];
        bytes.extend_from_slice(&u32::try_from(length + 4).unwrap().to_be_bytes());
        bytes.extend(std::iter::repeat_n(b'x', length));
        bytes
    }

    proptest! {
        #[test]
        fn messages_come_out_whole_however_the_bytes_arrive(
            lengths in proptest::collection::vec(0usize..20_000, 1..20),
            cuts in proptest::collection::vec(1usize..10_000, 1..50),
        ) {
            let wanted: Vec<Vec<u8>> = lengths.iter().map(|&length| message(length)).collect();
            let all = wanted.concat();
            let (mut inbox, mut got, mut at) = (Inbox::default(), Vec::new(), 0);
            for cut in cuts.iter().cycle() {
                let end = (at + cut).min(all.len());
                inbox.append(&all[at..end]);
                at = end;
                while let Some(range) = inbox.take().unwrap() {
                    got.push(inbox.frame(range).to_vec());
                }
                if at == all.len() {
                    break;
                }
            }
            prop_assert_eq!(got, wanted);
            prop_assert!(inbox.is_empty());
        }
    }
}
