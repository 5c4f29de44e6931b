//! One address for runs that follow each other: whoever watches sees the run that goes on, and what came of those before.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::board::Board;
use super::serve::{Web, WebError};

/// Lines that a page shows of the runs before.
const LINES_MOST: usize = 50;

/// See the module.
#[derive(Debug)]
pub struct Several {
    boards: watch::Sender<Arc<Board>>,
    lines: Mutex<VecDeque<String>>,
    web: Mutex<Option<Web>>,
    address: SocketAddr,
}

impl Several {
    /// Begins to serve.
    ///
    /// # Errors
    /// The address cannot be bound.
    pub async fn open(address: SocketAddr) -> Result<Arc<Self>, WebError> {
        let (boards, current) = watch::channel(Board::one_of_several(0));
        let web = Web::open(address, current).await?;
        let address = web.address();
        let (lines, web) = (Mutex::default(), Mutex::new(Some(web)));
        Ok(Arc::new(Self { boards, lines, web, address }))
    }

    /// Where it serves.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The next run's board, which waits for so many agents.
    #[must_use]
    pub fn next(&self, agents_wanted: u32) -> Arc<Board> {
        let board = Board::one_of_several(agents_wanted);
        for line in self.lines().iter() {
            board.said(line);
        }
        self.boards.send_replace(Arc::clone(&board));
        board
    }

    /// Something came of a run.
    pub fn said(&self, line: &str) {
        let mut lines = self.lines();
        if lines.len() == LINES_MOST {
            lines.pop_front();
        }
        lines.push_back(line.to_owned());
        drop(lines);
        self.boards.borrow().said(line);
    }

    /// Sends viewers what there is, and ends.
    pub async fn close(&self) {
        let web = self.web.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(web) = web {
            web.close().await;
        }
    }

    fn lines(&self) -> MutexGuard<'_, VecDeque<String>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
