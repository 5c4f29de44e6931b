//! The HTTP side: routes, and one stream of events a viewer.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderName, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{Html, IntoResponse};
use axum::routing::get;
use futures_util::{Stream, stream};
use tokio::net::TcpListener;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio_util::sync::CancellationToken;

use super::board::Board;
use super::figures::Figures;
use crate::picture;

/// Viewers at a time: each has a stream of its own.
const VIEWERS_MOST: usize = 64;
/// What viewers get at the end to hear of it.
const GOODBYE: Duration = Duration::from_secs(1);

/// Nothing but the page's own script and this server.
const POLICY: &str = "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'unsafe-inline'; \
                      img-src data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'";

/// Why the page cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum WebError {
    /// The port is taken, or the address is not this host's.
    #[error("cannot serve the page on {address} (--web)")]
    Bind {
        /// Where it was to be.
        address: SocketAddr,
        /// What the system says.
        #[source]
        error: io::Error,
    },
}

/// A server for the board that is up.
#[derive(Debug)]
pub struct Web {
    address: SocketAddr,
    end: CancellationToken,
    task: tokio::task::JoinHandle<()>,
}

#[derive(Clone)]
struct Shared {
    /// The board of the run that goes on.
    boards: watch::Receiver<Arc<Board>>,
    viewers: Arc<Semaphore>,
    end: CancellationToken,
}

impl Web {
    /// Begins to serve.
    ///
    /// # Errors
    /// The address cannot be bound.
    pub async fn open(
        address: SocketAddr,
        boards: watch::Receiver<Arc<Board>>,
    ) -> Result<Self, WebError> {
        let unbound = |error| WebError::Bind { address, error };
        let listener = TcpListener::bind(address).await.map_err(unbound)?;
        let address = listener.local_addr().map_err(unbound)?;
        let end = CancellationToken::new();
        let shared =
            Shared { boards, viewers: Arc::new(Semaphore::new(VIEWERS_MOST)), end: end.clone() };
        let ended = end.clone().cancelled_owned();
        let serving = axum::serve(listener, routes(shared)).with_graceful_shutdown(ended);
        let task = tokio::spawn(async move {
            // Accepting goes on whatever happens to a connection; there is nothing to report.
            let _ = serving.await;
        });
        Ok(Self { address, end, task })
    }

    /// Where it serves.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sends viewers what there is, and ends.
    pub async fn close(self) {
        self.end.cancel();
        let abort = self.task.abort_handle();
        if tokio::time::timeout(GOODBYE, self.task).await.is_err() {
            abort.abort();
        }
    }
}

fn routes(shared: Shared) -> Router {
    Router::new()
        .route("/", get(page))
        .route("/plotly.js", get(script))
        .route("/events", get(events))
        .route("/metrics", get(metrics))
        .route("/healthz", get(|| async { "ok\n" }))
        .with_state(shared)
}

async fn page() -> impl IntoResponse {
    let headers: [(HeaderName, &str); 2] =
        [(header::CONTENT_SECURITY_POLICY, POLICY), (header::CACHE_CONTROL, "no-store")];
    (headers, Html(picture::live_page()))
}

async fn script() -> impl IntoResponse {
    let headers = [
        (header::CONTENT_TYPE, "text/javascript; charset=utf-8"),
        (header::CACHE_CONTROL, "max-age=3600"),
    ];
    (headers, picture::charting_script())
}

async fn metrics(State(shared): State<Shared>) -> impl IntoResponse {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    let figures = Figures::of(&shared.boards.borrow());
    ([(header::CONTENT_TYPE, kind)], figures.text())
}

async fn events(State(shared): State<Shared>) -> axum::response::Response {
    match Arc::clone(&shared.viewers).try_acquire_owned() {
        Ok(place) => {
            Sse::new(following(shared, place)).keep_alive(KeepAlive::default()).into_response()
        }
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "too many viewers\n").into_response(),
    }
}

/// Everything, then what is new; everything again after falling behind. Ends with the run, or when another one begins:
/// the page asks again then.
fn following(
    mut shared: Shared,
    place: OwnedSemaphorePermit,
) -> impl Stream<Item = Result<Event, Infallible>> {
    let board = Arc::clone(&shared.boards.borrow_and_update());
    let (whole, news) = board.follow();
    let begin = (Some(whole), news, board, shared, place);
    stream::unfold(begin, async |(first, mut news, board, mut shared, place)| {
        let text = if let Some(whole) = first {
            whole
        } else {
            tokio::select! {
                biased;
                next = news.recv() => match next {
                    Ok(text) => text.to_string(),
                    Err(RecvError::Lagged(_)) => {
                        let (whole, again) = board.follow();
                        news = again;
                        whole
                    }
                    Err(RecvError::Closed) => return None,
                },
                () = shared.end.cancelled() => return None,
                Ok(()) = shared.boards.changed() => return None,
            }
        };
        Some((Ok(Event::default().data(text)), (None, news, board, shared, place)))
    })
}
