//! Looks over tokio-postgres' shoulder while a session opens: who the backend is, and how the server wants
//! the user to prove who he is, before an answer is sent.
//!
//! tokio-postgres tells neither. After the first `ReadyForQuery` the stream is passed through unseen.

use std::future::{Ready, ready};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, TlsConnect, TlsStream};

use super::connect::Link;

/// A stream, encrypted or not, on which a session is about to open.
pub(super) struct Guard {
    link: Link,
    watch: Option<Watch>,
}

impl Guard {
    /// `methods` as `require_auth` lists them. The second value becomes the backend's process id.
    pub(super) fn new(link: Link, methods: Vec<String>) -> (Self, Arc<AtomicI32>) {
        let pid = Arc::new(AtomicI32::new(0));
        let watch =
            Watch { methods, asked: false, pid: Arc::clone(&pid), header: Vec::new(), rest: 0 };
        (Self { link, watch: Some(watch) }, pid)
    }
}

/// Reads the server's messages up to the first `ReadyForQuery`.
struct Watch {
    methods: Vec<String>,
    /// The server has asked for some proof.
    asked: bool,
    pid: Arc<AtomicI32>,
    /// Type, length and the first four bytes of the body of the current message, as far as they came.
    header: Vec<u8>,
    /// Bytes of the current message that are still to come after those.
    rest: usize,
}

impl Watch {
    /// Takes bytes from the server; `true` when there is nothing more to watch for.
    fn take(&mut self, mut bytes: &[u8]) -> io::Result<bool> {
        while let Some(&first) = bytes.first() {
            if self.rest > 0 {
                let skipped = self.rest.min(bytes.len());
                self.rest -= skipped;
                bytes = &bytes[skipped..];
                continue;
            }
            self.header.push(first);
            bytes = &bytes[1..];
            if self.message()? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Looks at the header; keeps collecting while it is too short.
    fn message(&mut self) -> io::Result<bool> {
        let word = |at: usize| {
            let four = self.header.get(at..at + 4)?.try_into().ok()?;
            Some(i32::from_be_bytes(four))
        };
        let (kind, Some(length)) = (self.header[0], word(1)) else { return Ok(false) };
        let body = usize::try_from(length).unwrap_or_default().saturating_sub(4);
        let first_word = word(5);
        if body >= 4 && first_word.is_none() {
            return Ok(false);
        }
        match (kind, first_word) {
            (b'R', Some(code)) => self.check(code)?,
            (b'K', Some(pid)) => self.pid.store(pid, Ordering::Relaxed),
            _ => {}
        }
        self.rest = if body >= 4 { body - 4 } else { body };
        self.header.clear();
        Ok(kind == b'Z')
    }

    /// Refuses a method of authentication that `require_auth` rules out.
    fn check(&mut self, code: i32) -> io::Result<()> {
        let method = match code {
            0 if self.asked => return Ok(()),
            0 => "none",
            3 => "password",
            5 => "md5",
            7 => "gss",
            9 => "sspi",
            10 => "scram-sha-256",
            // Continuations of what was checked already.
            _ => return Ok(()),
        };
        self.asked = code != 0;
        if allows(&self.methods, method) {
            return Ok(());
        }
        let wanted = self.methods.join(",");
        let asked = match method {
            "none" => "the server did not ask for any".to_owned(),
            method => format!("the server asked for {method}"),
        };
        Err(io::Error::other(format!(
            "authentication method requirement \"{wanted}\" failed: {asked}"
        )))
    }
}

/// `require_auth`: a list of what is accepted or, with `!`, of what is not; empty accepts all.
fn allows(methods: &[String], method: &str) -> bool {
    match methods.first() {
        None => true,
        Some(first) if first.starts_with('!') => {
            !methods.iter().any(|m| m.strip_prefix('!') == Some(method))
        }
        Some(_) => methods.iter().any(|m| m == method),
    }
}

impl AsyncRead for Guard {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buf.filled().len();
        let polled = Pin::new(&mut this.link).poll_read(cx, buf);
        if let (Poll::Ready(Ok(())), Some(watch)) = (&polled, &mut this.watch)
            && watch.take(&buf.filled()[before..])?
        {
            this.watch = None;
        }
        polled
    }
}

impl AsyncWrite for Guard {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().link).poll_write(cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().link).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().link).poll_shutdown(cx)
    }
}

impl TlsStream for Guard {
    fn channel_binding(&self) -> ChannelBinding {
        match &self.link {
            Link::Left(_) => ChannelBinding::none(),
            Link::Right(stream) => stream.channel_binding(),
        }
    }
}

/// Tells tokio-postgres that encryption is settled: the handshake, where there is one, lies behind.
pub(super) struct Settled;

impl TlsConnect<Guard> for Settled {
    type Stream = Guard;
    type Error = io::Error;
    type Future = Ready<io::Result<Guard>>;

    fn connect(self, stream: Guard) -> Self::Future {
        ready(Ok(stream))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).expect("a short message of this test");
        [&[kind][..], &length.to_be_bytes(), body].concat()
    }

    fn watch(methods: &[&str]) -> Watch {
        let methods = methods.iter().map(|&m| m.to_owned()).collect();
        let pid = Arc::new(AtomicI32::new(0));
        Watch { methods, asked: false, pid, header: Vec::new(), rest: 0 }
    }

    #[test]
    fn the_backend_is_known_however_the_bytes_are_cut() {
        let stream = [
            message(b'R', &10_i32.to_be_bytes()),
            message(b'R', &0_i32.to_be_bytes()),
            message(b'S', b"server_version\x0018.0\x00"),
            message(b'K', &[0, 0, 0x30, 0x39, 1, 2, 3, 4]),
            message(b'Z', b"I"),
        ]
        .concat();
        for cut in 1..stream.len() {
            let mut watch = watch(&[]);
            let done: Vec<_> = stream
                .chunks(cut)
                .map(|bytes| watch.take(bytes).expect("nothing to refuse"))
                .collect();
            assert_eq!(watch.pid.load(Ordering::Relaxed), 12345, "cut every {cut}");
            assert_eq!(done.iter().filter(|done| **done).count(), 1);
        }
    }

    #[test]
    fn required_methods_decide_before_an_answer_is_sent() {
        let cases: [(&[&str], i32, bool); 7] = [
            (&[], 3, true),
            (&["scram-sha-256"], 10, true),
            (&["scram-sha-256"], 3, false),
            (&["scram-sha-256"], 0, false),
            (&["none"], 0, true),
            (&["!password", "!md5"], 10, true),
            (&["!password", "!md5"], 5, false),
        ];
        for (methods, code, fine) in cases {
            let taken = watch(methods).take(&message(b'R', &code.to_be_bytes()));
            assert_eq!(taken.is_ok(), fine, "{methods:?} {code}");
        }
    }

    #[test]
    fn success_after_a_proof_is_no_missing_proof() {
        let mut watch = watch(&["scram-sha-256"]);
        for code in [10_i32, 11, 12, 0] {
            watch.take(&message(b'R', &code.to_be_bytes())).expect("all of one exchange");
        }
    }
}
