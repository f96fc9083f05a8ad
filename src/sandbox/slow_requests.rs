//! Timeouts for slow requests: an incomplete header, or a body below a minimum rate.
//!
//! On loopback both are mistakes or attacks. The header timeout is hyper's default. The body has a grace period and a
//! minimum rate, as in Apache's [mod_reqtimeout](https://httpd.apache.org/docs/2.4/mod/mod_reqtimeout.html).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::body::Body;
use futures_util::StreamExt as _;
use futures_util::stream::unfold;
use http::{StatusCode, header};
use hyper::body::Body as _;
use tokio::time::{Instant, timeout};

use super::reply::Reply;

/// Maximum wait for the complete header of the next request.
pub(super) const HEADER_TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum total wait for a body, plus one second for each [`MIN_BODY_RATE`] bytes received.
const BODY_GRACE: Duration = Duration::from_secs(30);

/// Minimum rate of a long body in bytes a second. The largest body may take nine hours.
const MIN_BODY_RATE: u64 = 16 * 1024;

/// Flag that is set if the body of a request was too slow.
#[derive(Debug)]
pub(super) struct BodyTimeout(Arc<AtomicBool>);

impl BodyTimeout {
    /// Returns the body with a limit on its total wait; a slow body ends with an error. Only the wait for the client
    /// counts, not the processing time of the service.
    pub(super) fn limit(body: Body) -> (Body, Self) {
        let is_too_slow = Arc::new(AtomicBool::new(false));
        let body_timeout = Self(Arc::clone(&is_too_slow));
        if body.is_end_stream() {
            return (body, body_timeout);
        }
        let start = Some((body.into_data_stream(), 0_u64, Duration::ZERO));
        let watched = unfold(start, move |state| {
            let is_too_slow = Arc::clone(&is_too_slow);
            async move {
                let (mut stream, received, waited) = state?;
                let left =
                    BODY_GRACE.saturating_add(Duration::from_secs(received / MIN_BODY_RATE)).saturating_sub(waited);
                let began = Instant::now();
                let Ok(next) = timeout(left, stream.next()).await else {
                    is_too_slow.store(true, Ordering::Relaxed);
                    return Some((Err(axum::Error::new("the body was received too slowly")), None));
                };
                let chunk = next?;
                let length = chunk.as_ref().map_or(0, |bytes| u64::try_from(bytes.len()).unwrap_or(u64::MAX));
                let waited = waited.saturating_add(began.elapsed());
                Some((chunk, Some((stream, received.saturating_add(length), waited))))
            }
        });
        (Body::from_stream(watched), body_timeout)
    }

    /// Returns the reply, or 408 if the body was too slow. Other errors then are consequences of the timeout.
    pub(super) fn or_request_timeout(&self, reply: Reply) -> Reply {
        if !self.0.load(Ordering::Relaxed) {
            return reply;
        }
        let info = format!(
            "The body was received too slowly: the service waits {} seconds for it, plus a second for each \
             {MIN_BODY_RATE} bytes.",
            BODY_GRACE.as_secs()
        );
        Reply::invalid(StatusCode::REQUEST_TIMEOUT, info).with_header(header::CONNECTION, "close")
    }
}
