//! Reading the answers to what was sent, to the end of a round trip.
//!
//! Counts what the server must have committed: one for each `ReadyForQuery` in idle state that ends
//! something executed without an error or a rollback. Allocates only for errors and for results that
//! a script stores.

use std::task::{Context, Poll, ready};

use super::capture::Capture;
use crate::wire::{Connection, ErrorFields, Message, ServerError, TransactionStatus, WireError};

/// An error that the server reported in a round trip.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) error: ServerError,
    /// Which result of the round trip it took the place of, from 0.
    pub(crate) query: u32,
}

/// Why a round trip did not end in a `ReadyForQuery`.
#[derive(Debug)]
pub(crate) enum Broken {
    /// The connection failed, perhaps after a last word of the server.
    Lost(WireError, Option<Box<Refusal>>),
    /// A COPY began, which no script can serve.
    Copy,
}

impl From<WireError> for Broken {
    fn from(error: WireError) -> Self {
        Self::Lost(error, None)
    }
}

/// What is known of a round trip so far.
#[derive(Debug, Default)]
pub(crate) struct Reply {
    /// Results seen, which is also the number of the next.
    pub(crate) results: u32,
    /// The answers are those of a pipeline, where pgbench counts anew for each statement, but for the end of a
    /// part, which counts with the statement behind it.
    of_pipeline: bool,
    /// The first error.
    pub(crate) error: Option<Box<Refusal>>,
    /// Commits that the server must have counted.
    pub(crate) commits: u32,
    /// Remarks of the server, as libpq prints them.
    pub(crate) notices: Vec<String>,
    /// Something was executed since the last `ReadyForQuery`.
    executed: bool,
    /// It failed or was rolled back.
    undone: bool,
}

impl Reply {
    /// Nothing is known yet of the answers to a pipeline.
    pub(crate) fn of_pipeline() -> Self {
        Self { of_pipeline: true, ..Self::default() }
    }

    /// Reads on until `syncs` more `ReadyForQuery` came; the status is that of the last.
    pub(crate) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        connection: &mut Connection,
        syncs: &mut u32,
        capture: &mut Option<&mut Capture>,
    ) -> Poll<Result<TransactionStatus, Broken>> {
        loop {
            let message = match ready!(connection.poll_next_message(cx)) {
                Ok(message) => message,
                Err(error) => return Poll::Ready(Err(Broken::Lost(error, self.error.take()))),
            };
            match message {
                Message::RowDescription(columns) => {
                    if let Some(capture) = capture {
                        capture.columns(&columns)?;
                    }
                }
                Message::DataRow(row) => {
                    if let Some(capture) = capture {
                        capture.row(&row)?;
                    }
                }
                Message::CommandComplete(tag) => {
                    self.undone |= tag == b"ROLLBACK";
                    self.complete(capture);
                }
                Message::EmptyQuery => self.complete(capture),
                Message::ParseComplete | Message::BindComplete => self.executed = true,
                Message::Error(fields) => self.note_error(&fields),
                Message::Notice(fields) => self.notices.push(fields.to_error().render(None)),
                Message::ReadyForQuery(status) => {
                    self.note_ready(status);
                    *syncs -= 1;
                    if *syncs == 0 {
                        return Poll::Ready(Ok(status));
                    }
                }
                Message::CopyIn | Message::CopyOut | Message::CopyBoth => {
                    return Poll::Ready(Err(Broken::Copy));
                }
                _ => {}
            }
        }
    }

    fn complete(&mut self, capture: &mut Option<&mut Capture>) {
        if let Some(capture) = capture {
            capture.end_result(self.results);
        }
        self.executed = true;
        self.results = if self.of_pipeline { 0 } else { self.results + 1 };
    }

    fn note_error(&mut self, fields: &ErrorFields<'_>) {
        (self.executed, self.undone) = (true, true);
        if self.error.is_none() {
            let refusal = Refusal { error: fields.to_error(), query: self.results };
            self.error = Some(Box::new(refusal));
        }
    }

    fn note_ready(&mut self, status: TransactionStatus) {
        let committed = self.executed && !self.undone && status == TransactionStatus::Idle;
        self.commits += u32::from(committed);
        self.results += u32::from(self.of_pipeline);
        (self.executed, self.undone) = (false, false);
    }
}
