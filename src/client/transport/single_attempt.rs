//! Sends one request without retries and returns all facts of its reply, to diagnose failing calls.

use std::time::Duration;

use super::attempts::{ERROR_BODY, LARGEST_RECORD};
use super::body_timeout::BodyTimeout;
use super::classify::{Classified, ResponseParts, classify_reply, is_about_time};
use super::retry_policy::RetryClass;
use super::skew::{Arrival, Correction, measure};
use super::wait_messages::next_call_message;
use super::{Body, Call, Fault, FullResponse, Reply, ServiceContext, classify_response};
use crate::limiter::RateLimitHeaders;
use headland_base::error::{Error, Kind, Result};
use headland_wire::decode_response;

/// The result of a request.
#[derive(Debug)]
pub struct Probe<T> {
    /// The reply, or the error that a call without retries would return.
    pub outcome: Result<T>,
    /// The fault of the exchange, if it failed.
    pub fault: Option<Fault>,
    /// The service's clock minus the local clock in whole seconds, by `Date`.
    pub skew: Option<i64>,
    /// Whether the text of the reply refuses the time of the request.
    pub is_about_time: bool,
    /// Whether this reply made the client sign with a corrected time from now on.
    pub is_corrected: bool,
    /// The rate limit headers.
    pub rate_limit: RateLimitHeaders,
}

impl<T> Probe<T> {
    /// Applies `read` to the reply.
    pub fn and_then<U>(self, read: impl FnOnce(T) -> Result<U>) -> Probe<U> {
        let Self { outcome, fault, skew, is_about_time, is_corrected, rate_limit } = self;
        Probe { outcome: outcome.and_then(read), fault, skew, is_about_time, is_corrected, rate_limit }
    }
}

impl ServiceContext {
    /// Sends `call` once, like every call: with a slot, a signature, classification and the clock correction. An error
    /// means that the limiter has no free slot within `timeout` and nothing was sent.
    pub async fn probe(&self, call: &Call, timeout: Duration) -> Result<Probe<FullResponse>> {
        let lease = self.timeouts.connect.saturating_add(self.timeouts.read).saturating_mul(2);
        let mut slot = self.limiter.grant(lease, timeout).await.map_err(|exceeded| {
            let error = Error::new(Kind::RateLimited, next_call_message(&exceeded));
            error.with(|facts| facts.retry_after = Some(exceeded.ready_in))
        })?;
        let stamp = self.skew.stamp(&*self.clock);
        let request = self.request(call, RetryClass::from_row(call.row), stamp)?;
        if let Some(slot) = &mut slot {
            slot.mark_sent();
        }
        let result = self.transport.send(request).await;
        let result = result.map(|reply| Reply { headers: self.masked_headers(reply.headers), ..reply });
        let arrival = Arrival::new(&*self.clock);
        let now = arrival.now;
        let mut rate_limit = RateLimitHeaders::default();
        if let Ok(reply) = &result {
            rate_limit = RateLimitHeaders::from_headers(&reply.headers, now);
            rate_limit.block = rate_limit.requested_wait().filter(|_| reply.status == 429);
            if let Some(slot) = slot {
                slot.complete(&rate_limit);
            }
        }
        let mut probe = match result {
            Ok(reply) => {
                let skew = measure(&reply.headers, now);
                let (headers, status) = (reply.headers.clone(), reply.status);
                let (outcome, fault) = self.read_reply(call, reply, &rate_limit).await;
                let text = outcome.as_ref().err().and_then(|error| error.facts().check.as_deref());
                let is_about_time = text.is_some_and(is_about_time);
                let correction =
                    (status == 401).then(|| self.skew.update(&headers, arrival, stamp, is_about_time, &self.warnings));
                let is_corrected = matches!(correction, Some(Correction::Corrected(_)));
                Probe { outcome, fault, skew, is_about_time, is_corrected, rate_limit }
            }
            Err(fault) => Probe {
                outcome: Err(self.classify_fault(&fault).error),
                fault: Some(fault),
                skew: None,
                is_about_time: false,
                is_corrected: false,
                rate_limit,
            },
        };
        probe.outcome = probe.outcome.map_err(|error| {
            self.masked_error(error.with(|facts| facts.id = call.id())).with(|facts| {
                facts.endpoint = Some(call.row.full_name);
                facts.method = Some(call.row.method.as_str());
                facts.attempts = Some(1);
            })
        });
        Ok(probe)
    }

    async fn read_reply(
        &self,
        call: &Call,
        reply: Reply,
        rate_limit: &RateLimitHeaders,
    ) -> (Result<FullResponse>, Option<Fault>) {
        let Reply { status, headers, body } = reply;
        let timeout = BodyTimeout::for_record(&self.clock, self.timeouts.call, self.timeouts.call);
        let body = Body::new(&headers, body, timeout);
        if !(200..300).contains(&status) {
            let body = body.collect(ERROR_BODY).await.ok().flatten().unwrap_or_default();
            let text = String::from_utf8_lossy(&body);
            let body = self.secrets.mask(&text);
            let (argument, credential) = (self.base.argument(), self.auth.credential_name());
            let path = &call.path;
            let parts = ResponseParts {
                argument,
                credential,
                path,
                base: None,
                status,
                headers: &headers,
                rate_limit,
                body: body.as_bytes(),
            };
            return (Err(classify_reply(&parts).error), None);
        }
        let is_framed = body.is_framed();
        match body.collect(LARGEST_RECORD).await {
            Ok(Some(body)) => {
                match decode_response(&body).and_then(|response| classify_response(&response, rate_limit)) {
                    None => (Ok(self.masked_reply(call.row, FullResponse { status, headers, body, is_framed })), None),
                    Some(Classified { error, .. }) => (Err(error.with(|facts| facts.status = Some(status))), None),
                }
            }
            Ok(None) => {
                (Err(Error::new(Kind::Decode, "the reply is longer than the limit of records and pages")), None)
            }
            Err(fault) => (Err(self.classify_fault(&fault).error), Some(fault)),
        }
    }
}
