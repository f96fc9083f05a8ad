//! Listener of the sandbox: its thread, runtime and connections.
//!
//! hyper serves the connections directly. axum's server always replies and always writes `Date`, which some faults must
//! prevent.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

use super::service::Service;
use headland_base::error::{Error, Kind, Result};
use headland_base::error_numbers::error_number;

/// Maximum wait for the complete header of the next request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);

/// Binds a listener on loopback and returns its port. Port 0 selects a free port.
pub(super) fn bind(port: u16) -> Result<(TcpListener, u16)> {
    let fail = |error: std::io::Error| {
        Error::new(
            Kind::Configuration,
            format!("the sandbox cannot listen on 127.0.0.1:{port}: {error}; choose another port, or 0 for a free one"),
        )
        .with(|facts| facts.os_error = error_number(&error))
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(fail)?;
    listener.set_nonblocking(true).map_err(fail)?;
    let port = listener.local_addr().map_err(fail)?.port();
    Ok((listener, port))
}

/// The server thread.
#[derive(Debug)]
pub(super) struct Server {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    /// Process that started the thread. After a fork the child has this value but not the thread.
    process: u32,
}

impl Server {
    /// Starts the server thread.
    pub(super) fn start(listener: TcpListener, service: Arc<Service>) -> Result<Self> {
        let fail = |error: std::io::Error| {
            Error::new(Kind::Configuration, format!("the sandbox cannot start its thread: {error}"))
        };
        // One thread serves and a second one handles blocking work: the sandbox shares the process with its user.
        let runtime = Builder::new_current_thread().enable_all().max_blocking_threads(1).build().map_err(fail)?;
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name("headland-sandbox".to_owned())
            .spawn(move || run(runtime, listener, service, stopped))
            .map_err(fail)?;
        Ok(Self { stop: Some(stop), thread: Some(thread), process: std::process::id() })
    }

    /// Closes the listener and all connections, and waits for the thread.
    pub(super) fn stop(&mut self) {
        // Dropping the sender stops the thread, unless it has already stopped.
        drop(self.stop.take());
        if let Some(thread) = self.thread.take()
            && self.process == std::process::id()
        {
            // A panic of the thread was already printed.
            drop(thread.join());
        }
    }
}

fn run(runtime: Runtime, listener: TcpListener, service: Arc<Service>, stopped: oneshot::Receiver<()>) {
    runtime.block_on(async move {
        tokio::select! {
            () = accept(listener, service) => {}
            // A message and a dropped sender both stop the server.
            _ = stopped => {}
        }
    });
    runtime.shutdown_timeout(Duration::from_secs(5));
}

async fn accept(listener: TcpListener, service: Arc<Service>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // With Nagle's algorithm a reply may wait 40 ms for the client's acknowledgement. A failure here is
                // harmless.
                drop(stream.set_nodelay(true));
                drop(tokio::spawn(serve(stream, Arc::clone(&service))));
            }
            // Probably out of file descriptors: closed connections free some.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin, service: Arc<Service>) {
    let answer = service_fn(move |request: hyper::Request<Incoming>| {
        let service = Arc::clone(&service);
        async move { service.answer(request.map(Body::new)).await }
    });
    // A broken connection is caused by the client or by a fault; the service ignores it.
    let mut connection = http1::Builder::new();
    connection.auto_date_header(false).timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT);
    drop(connection.serve_connection(TokioIo::new(stream), answer).await);
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
    use tokio::time::Instant;

    use super::*;
    use crate::{Options, Sandbox};

    /// Opens a connection to a service that stays up.
    fn connected(sandbox: &Sandbox) -> DuplexStream {
        let (client, server_end) = duplex(1 << 16);
        drop(tokio::spawn(serve(server_end, Arc::clone(&sandbox.service))));
        client
    }

    #[tokio::test(start_paused = true)]
    async fn incomplete_header_and_idle_connection_are_closed_after_30_seconds() {
        let sandbox = Sandbox::start(Options::default()).unwrap();
        for start in [&b"GET /jobdata HTTP/1.1\r\nHost: h\r\n"[..], b""] {
            let began = Instant::now();
            let mut client = connected(&sandbox);
            client.write_all(start).await.unwrap();
            let mut reply = Vec::new();
            drop(client.read_to_end(&mut reply).await);
            assert_eq!((reply, began.elapsed().as_secs()), (Vec::new(), 30));
        }
    }
}
