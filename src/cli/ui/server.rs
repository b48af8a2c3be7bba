//! Requests of a page on the loopback address: which are refused, and how answers are sent.

use std::io::{self, Cursor, Read};
use std::net::Ipv4Addr;

use tiny_http::{Header, Method, Request, Response, Server};

/// Bytes of a request, at most: a section of some ten thousand points.
const LIMIT: usize = 4 << 20;

/// Rules of the browser for the page: it may load nothing, and send to its own address alone.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
                      img-src data: blob:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; \
                      form-action 'none'";

/// A server of one page, whose address has a token that only those know who were given the address.
pub(super) struct PageServer {
    pub(super) http: Server,
    /// `127.0.0.1` and the port.
    pub(super) host: String,
    pub(super) token: String,
}

/// Types of contents.
pub(super) const HTML: &str = "text/html; charset=utf-8";
pub(super) const JSON: &str = "application/json";
pub(super) const TEXT: &str = "text/plain; charset=utf-8";

/// The answer to a request.
pub(super) struct Answer {
    status: u16,
    kind: &'static str,
    bytes: Vec<u8>,
}

impl Answer {
    /// A status, and contents of this type.
    pub(super) fn new(status: u16, kind: &'static str, contents: impl Into<Vec<u8>>) -> Self {
        Self { status, kind, bytes: contents.into() }
    }

    /// Sends it. A page that was closed meanwhile is no failure.
    pub(super) fn send(self, request: Request) {
        let fields = [
            ("Content-Type", self.kind),
            ("Content-Security-Policy", POLICY),
            ("Cache-Control", "no-store"),
            ("Referrer-Policy", "no-referrer"),
            ("X-Content-Type-Options", "nosniff"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
        ];
        let headers = fields.into_iter();
        let headers = headers.filter_map(|(name, value)| Header::from_bytes(name, value).ok());
        let (length, contents) = (self.bytes.len(), Cursor::new(self.bytes));
        let response =
            Response::new(self.status.into(), headers.collect(), contents, Some(length), None);
        drop(request.respond(response.with_chunked_threshold(usize::MAX)));
    }
}

impl PageServer {
    /// Listens on a port of the loopback address; 0 is one that is free.
    ///
    /// # Errors
    /// A port that is taken, or a system without random numbers.
    pub(super) fn open(port: u16) -> io::Result<Self> {
        let http = Server::http((Ipv4Addr::LOCALHOST, port)).map_err(io::Error::other)?;
        let port = http.server_addr().to_ip().map_or(port, |address| address.port());
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let token = format!("{:032x}", u128::from_le_bytes(random));
        Ok(Self { http, host: format!("127.0.0.1:{port}"), token })
    }

    /// Reads whether a request is a POST, the path behind its token, and its contents, or refuses it. Its Host must be the
    /// address, so that no other name leads here; a page of another origin may send nothing.
    pub(super) fn admit(&self, request: &mut Request) -> Result<(bool, String, Vec<u8>), Answer> {
        let refused = |status, reason: &str| Answer::new(status, TEXT, reason);
        let field = |name: &'static str| {
            let mut fields = request.headers().iter().filter(move |h| h.field.equiv(name));
            fields.next().map(|header| header.value.as_str().to_owned())
        };
        if field("Host").as_deref() != Some(&self.host) {
            return Err(refused(403, "another Host than the address that was printed"));
        }
        if field("Origin").is_some_and(|from| from.strip_prefix("http://") != Some(&self.host)) {
            return Err(refused(403, "a page of another origin asked"));
        }
        let path = request.url().strip_prefix('/').and_then(|path| path.strip_prefix(&self.token));
        let Some(path) = path.and_then(|path| path.strip_prefix('/')).map(str::to_owned) else {
            return Err(refused(403, "the address lacks the token that was printed"));
        };
        if request.body_length().is_some_and(|length| length > LIMIT) {
            return Err(refused(413, "more than 4 MiB"));
        }
        let mut body = Vec::new();
        // A longer body of unknown length is cut off, which leaves no JSON.
        drop(request.as_reader().take(LIMIT as u64).read_to_end(&mut body));
        Ok((*request.method() == Method::Post, path, body))
    }
}
