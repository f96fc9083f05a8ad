//! The listener: its thread, its runtime and its connections.
//!
//! Connections are served by hyper itself: axum's server always answers and always writes `Date`, and faults need both
//! otherwise.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

use super::service::Service;
use crate::error::{Error, Kind, Result};

/// A listener on loopback; port 0 takes a free one.
pub(super) fn bind(port: u16) -> Result<(TcpListener, u16)> {
    let fail = |error: std::io::Error| {
        Error::new(Kind::Configuration, format!("the sandbox cannot listen on 127.0.0.1:{port}: {error}"))
            .with(|facts| facts.os_error = error.raw_os_error())
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(fail)?;
    listener.set_nonblocking(true).map_err(fail)?;
    let port = listener.local_addr().map_err(fail)?.port();
    Ok((listener, port))
}

/// The thread that serves.
#[derive(Debug)]
pub(super) struct Server {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    /// A forked child has this value but not the thread.
    process: u32,
}

impl Server {
    /// Starts serving.
    pub(super) fn start(listener: TcpListener, service: Arc<Service>) -> Result<Self> {
        let fail = |error: std::io::Error| {
            Error::new(Kind::Configuration, format!("the sandbox cannot start its thread: {error}"))
        };
        // One thread serves, and one more makes archives and moves uploads: the sandbox shares a process with its user.
        let runtime = Builder::new_current_thread().enable_all().max_blocking_threads(1).build().map_err(fail)?;
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name("headland-sandbox".to_owned())
            .spawn(move || run(runtime, listener, service, stopped))
            .map_err(fail)?;
        Ok(Self { stop: Some(stop), thread: Some(thread), process: std::process::id() })
    }

    /// Closes the listener and every connection, and waits for the thread.
    pub(super) fn stop(&mut self) {
        // A receiver that is gone has stopped already.
        drop(self.stop.take());
        if let Some(thread) = self.thread.take()
            && self.process == std::process::id()
        {
            // A panic there was reported there.
            drop(thread.join());
        }
    }
}

fn run(runtime: Runtime, listener: TcpListener, service: Arc<Service>, stopped: oneshot::Receiver<()>) {
    runtime.block_on(async move {
        tokio::select! {
            () = accept(listener, service) => {}
            // Both a word and a dropped sender mean to stop.
            _ = stopped => {}
        }
    });
    runtime.shutdown_timeout(Duration::from_secs(5));
}

async fn accept(listener: TcpListener, service: Arc<Service>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(tokio::spawn(serve(stream, Arc::clone(&service)))),
            // Out of file handles, say: connections that end will free some.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

async fn serve(stream: TcpStream, service: Arc<Service>) {
    // Without it a reply may wait 40 ms for the client's acknowledgement; it works without, too.
    drop(stream.set_nodelay(true));
    let answer = service_fn(move |request: hyper::Request<Incoming>| {
        let service = Arc::clone(&service);
        async move { service.answer(request.map(Body::new)).await }
    });
    // A connection that breaks off is the client's affair, or a fault that was asked for.
    drop(http1::Builder::new().auto_date_header(false).serve_connection(TokioIo::new(stream), answer).await);
}
