//! One request, sent once and never repeated, with all that its reply tells: for finding out why calls fail.

use std::time::Duration;

use super::attempts::{ERROR_BODY, LARGEST_RECORD};
use super::body_timeout::Bounds;
use super::classify::{Judged, Seen, is_about_time, judge_fault, judge_reply};
use super::retry_policy::Class;
use super::skew::{Arrival, Lesson, measure};
use super::wait_errors::ready;
use super::{Body, Call, Caller, Fault, Reply, Whole, judge_response};
use crate::error::{Error, Kind, Result};
use crate::limiter::Heard;
use crate::wire::decode_response;

/// What a request brought.
#[derive(Debug)]
pub struct Probe<T> {
    /// The reply, or the error that a call would have ended with, had nothing been tried again.
    pub outcome: Result<T>,
    /// How the exchange failed, if it did.
    pub fault: Option<Fault>,
    /// The service's clock minus ours in whole seconds, by `Date`.
    pub skew: Option<i64>,
    /// Whether the service refused the time of the request, in so many words.
    pub is_about_time: bool,
    /// Whether this reply taught the client to sign with another time from now on.
    pub is_corrected: bool,
    /// What the headers say about the limit.
    pub heard: Heard,
}

impl<T> Probe<T> {
    /// The same with what `read` makes of the reply.
    pub fn and_then<U>(self, read: impl FnOnce(T) -> Result<U>) -> Probe<U> {
        let Self { outcome, fault, skew, is_about_time, is_corrected, heard } = self;
        Probe { outcome: outcome.and_then(read), fault, skew, is_about_time, is_corrected, heard }
    }
}

impl Caller {
    /// Sends `call` once, as every call is sent: granted, signed, judged, and its `Date` learnt from. An error means
    /// that the limiter has no room within `patience` and nothing was sent.
    pub async fn probe(&self, call: &Call, patience: Duration) -> Result<Probe<Whole>> {
        let lease = self.limits.connect.saturating_add(self.limits.read).saturating_mul(2);
        let mut slot = self.limiter.grant(lease, patience).await.map_err(|refusal| {
            let error = Error::new(Kind::RateLimited, ready(&refusal));
            error.with(|facts| facts.retry_after = Some(refusal.ready_in))
        })?;
        let stamp = self.skew.stamp(&*self.clock);
        let request = self.request(call, Class::of(call.row), stamp)?;
        if let Some(slot) = &mut slot {
            slot.sent();
        }
        let sent = self.transport.send(request).await;
        let sent = sent.map(|reply| Reply { headers: self.masked_headers(reply.headers), ..reply });
        let arrival = Arrival::new(&*self.clock);
        let now = arrival.now;
        let mut heard = Heard::default();
        if let Ok(reply) = &sent {
            heard = Heard::read(&reply.headers, now);
            heard.block = heard.asked().filter(|_| reply.status == 429);
            if let Some(slot) = slot {
                slot.settle(&heard);
            }
        }
        let mut probe = match sent {
            Ok(reply) => {
                let skew = measure(&reply.headers, now);
                let (headers, status) = (reply.headers.clone(), reply.status);
                let (outcome, fault) = self.read(call, reply, &heard).await;
                let said = outcome.as_ref().err().and_then(|error| error.facts().check.as_deref());
                let is_about_time = said.is_some_and(is_about_time);
                let lesson =
                    (status == 401).then(|| self.skew.learn(&headers, arrival, stamp, is_about_time, &self.notices));
                let is_corrected = matches!(lesson, Some(Lesson::Corrected(_)));
                Probe { outcome, fault, skew, is_about_time, is_corrected, heard }
            }
            Err(fault) => Probe {
                outcome: Err(judge_fault(&fault, self.base.host()).error),
                fault: Some(fault),
                skew: None,
                is_about_time: false,
                is_corrected: false,
                heard,
            },
        };
        probe.outcome = probe.outcome.map_err(|error| {
            self.masked_error(error).with(|facts| {
                facts.endpoint = Some(call.row.full_name);
                facts.method = Some(call.row.method.as_str());
                facts.attempts = Some(1);
            })
        });
        Ok(probe)
    }

    async fn read(&self, call: &Call, reply: Reply, heard: &Heard) -> (Result<Whole>, Option<Fault>) {
        let Reply { status, headers, body } = reply;
        let bounds = Bounds::of_record(&self.clock, self.limits.call, self.limits.call);
        let body = Body::new(&headers, body, bounds);
        if !(200..300).contains(&status) {
            let body = body.collect(ERROR_BODY).await.ok().flatten().unwrap_or_default();
            let said = String::from_utf8_lossy(&body);
            let body = self.secrets.masked(&said);
            let (argument, proof) = (self.base.argument(), self.access.name());
            let path = &call.path;
            let seen =
                Seen { argument, proof, path, base: None, status, headers: &headers, heard, body: body.as_bytes() };
            return (Err(judge_reply(&seen).error), None);
        }
        let is_framed = body.is_framed();
        match body.collect(LARGEST_RECORD).await {
            Ok(Some(body)) => match decode_response(&body).and_then(|response| judge_response(&response, heard)) {
                None => (Ok(self.masked_reply(call.row, Whole { status, headers, body, is_framed })), None),
                Some(Judged { error, .. }) => (Err(error.with(|facts| facts.status = Some(status))), None),
            },
            Ok(None) => (Err(Error::new(Kind::Decode, "the reply is longer than any record or page is")), None),
            Err(fault) => (Err(judge_fault(&fault, self.base.host()).error), Some(fault)),
        }
    }
}
