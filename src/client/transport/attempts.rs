//! The attempt loop of one call: acquire a slot, authenticate, send, classify, wait.

mod grant;

use std::time::Duration;

use http::HeaderMap;

use super::body::{is_truncated_document, unmarked_end_fault};
use super::body_timeout::BodyTimeout;
use super::classify::{Classified, ResponseParts, classify_reply, classify_response, is_about_time};
use super::context::{Call, Jitter, QueueTime, ServiceContext};
use super::retry_policy::{Decision, MAX_LIMITED_ATTEMPTS, Outcome, RetryClass, decide};
use super::skew::{Arrival, Correction, Stamp};
use super::wait_messages::{exceeds_timeout, format_wait, retry_reason, with_detail};
use super::{Body, Fault, FaultKind, FullResponse, Reply, Request, error_body};
use crate::limiter::{RateLimitHeaders, Slot};
use headland_api::{Endpoint, Method};
use headland_base::error::{Error, Kind, Result};
use headland_base::secret_masking::Secrets;
use headland_wire::decode_response;

/// Longer bodies of an error are not read.
pub(super) const ERROR_BODY: usize = 256 * 1024;

/// Longer records and pages are an error, counted as received and after decompression. A page of 1000 records has at most
/// 2 MB. A decoded body takes up to about 20 times its size in memory.
pub const LARGEST_RECORD: usize = 32 * 1024 * 1024;

/// Longer bodies cannot be a `ServiceResponse`.
const RESPONSE_BODY: usize = 64 * 1024;

const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// The result of an attempt.
#[derive(Debug)]
pub enum AttemptResult {
    /// A reply with a 2XX status; its body is not read yet.
    Reply {
        /// The status.
        status: u16,
        /// The headers.
        headers: HeaderMap,
        /// Its rate limit headers.
        rate_limit: RateLimitHeaders,
        /// The body.
        body: Body,
    },
    /// The service needs more time for a file.
    MoreTime(Classified),
}

/// The attempts of one call.
#[derive(Debug)]
pub struct Attempts<'a> {
    context: &'a ServiceContext,
    call: &'a Call,
    class: RetryClass,
    timeout: Duration,
    started: Duration,
    /// When the time of the call ends; waits that do not count move it.
    deadline: Duration,
    sent: u32,
    /// When the last request was sent.
    sent_at: Duration,
    failures: u32,
    limited_failures: u32,
    is_clock_corrected: bool,
    is_outcome_unknown: bool,
    /// The error of the 429 after which the call waits for the limiter.
    rate_limit_error: Option<Error>,
}

impl ServiceContext {
    /// Begins a call that may take up to `timeout`.
    #[must_use]
    pub fn attempts<'a>(&'a self, call: &'a Call, timeout: Duration) -> Attempts<'a> {
        let started = self.clock.elapsed();
        Attempts {
            context: self,
            call,
            class: RetryClass::from_row(call.row),
            timeout,
            started,
            deadline: started.saturating_add(timeout),
            sent: 0,
            sent_at: started,
            failures: 0,
            limited_failures: 0,
            is_clock_corrected: false,
            is_outcome_unknown: false,
            rate_limit_error: None,
        }
    }
}

impl Attempts<'_> {
    /// Sends until a reply with a 2XX status is received, a file needs more time, or the retry policy gives up.
    pub async fn reply(&mut self) -> Result<AttemptResult> {
        loop {
            let mut slot = self.grant().await?;
            let stamp = self.context.skew.stamp(&*self.context.clock);
            let request = self.context.request(self.call, self.class, stamp)?;
            self.sent = self.sent.saturating_add(1);
            self.sent_at = self.context.clock.elapsed();
            if let Some(slot) = &mut slot {
                slot.mark_sent();
            }
            let sent = self.send(request).await;
            let sent = sent.map(|reply| Reply { headers: self.context.masked_headers(reply.headers), ..reply });
            self.context.report_request(self.call, self.sent, self.sent_at, &sent);
            let classified = match sent {
                Ok(reply) if (200..300).contains(&reply.status) => {
                    let rate_limit = self.read_rate_limit(&reply);
                    complete_slot(slot, &rate_limit);
                    let body = Body::new(&reply.headers, reply.body, self.body_timeout());
                    return Ok(AttemptResult::Reply { status: reply.status, headers: reply.headers, rate_limit, body });
                }
                Ok(reply) => self.classify_error_reply(reply, slot, stamp).await,
                Err(fault) => {
                    drop(slot);
                    self.context.classify_fault(&fault)
                }
            };
            if let Some(more_time) = self.decide_and_wait(classified).await? {
                return Ok(AttemptResult::MoreTime(more_time));
            }
        }
    }

    /// Same as [`Attempts::reply`], and reads the body completely.
    pub async fn read_full(&mut self) -> Result<FullResponse> {
        loop {
            let (status, headers, rate_limit, body) = match self.reply().await? {
                AttemptResult::Reply { status, headers, rate_limit, body } => (status, headers, rate_limit, body),
                AttemptResult::MoreTime(classified) => return Err(self.finish(classified.error)),
            };
            let is_framed = body.is_framed();
            let classified = match body.collect(LARGEST_RECORD).await {
                Ok(Some(body)) if self.is_truncated(status, is_framed, &body) => {
                    self.context.classify_fault(&unmarked_end_fault())
                }
                Ok(Some(body)) => {
                    let small = Some(&body).filter(|body| body.len() <= RESPONSE_BODY);
                    let response = small.and_then(|body| decode_response(body));
                    match response.and_then(|response| classify_response(&response, &rate_limit)) {
                        None => {
                            let response = FullResponse { status, headers, body, is_framed };
                            return Ok(self.context.masked_reply(self.call.row, response));
                        }
                        Some(classified) => classified.with_status(status),
                    }
                }
                Ok(None) => {
                    let message = format!(
                        "the reply is longer than {LARGEST_RECORD} bytes, the limit of records and pages; if it is a \
                         page, request smaller ones"
                    );
                    return Err(self.finish(Error::new(Kind::Decode, message)));
                }
                Err(fault) => self.context.classify_fault(&fault),
            };
            if let Some(classified) = self.decide_and_wait(classified).await? {
                return Err(self.finish(classified.error));
            }
        }
    }

    /// The time limit of the body of a 2XX reply.
    fn body_timeout(&self) -> BodyTimeout {
        let ServiceContext { clock, timeouts, .. } = self.context;
        match self.class {
            RetryClass::File => BodyTimeout::for_file(clock, self.time_left(), self.timeout, timeouts.min_throughput),
            RetryClass::Record | RetryClass::NonIdempotent => {
                BodyTimeout::for_record(clock, self.time_left(), self.timeout)
            }
        }
    }

    /// Whether a record or list is truncated: the reply does not mark its end, and its text is incomplete. Replies to
    /// changes are not checked, because their status has already reported success.
    fn is_truncated(&self, status: u16, is_framed: bool, body: &[u8]) -> bool {
        self.call.row.method == Method::Get && status != 204 && !is_framed && is_truncated_document(body)
    }

    /// Applies the retry policy to a fault of a body. Returns when it is time to retry.
    pub async fn handle_fault(&mut self, fault: &Fault) -> Result<()> {
        self.decide_and_wait(self.context.classify_fault(fault)).await.map(|_| ())
    }

    /// Applies the retry policy and waits before a retry. Returns a reply that the caller has to wait for.
    async fn decide_and_wait(&mut self, classified: Classified) -> Result<Option<Classified>> {
        let decision = decide(self.class, classified.outcome);
        if decision == Decision::Poll {
            return Ok(Some(classified));
        }
        if decision == Decision::Reconcile {
            return Err(self.finish(classified.error.with_kind(Kind::UploadOutcomeUnknown)));
        }
        self.failures = self.failures.saturating_add(1);
        self.is_outcome_unknown |= matches!(
            classified.outcome,
            Outcome::Lost | Outcome::Truncated | Outcome::Busy | Outcome::Broken | Outcome::MoreTime
        );
        self.is_clock_corrected |= classified.outcome == Outcome::ClockSkew;
        if decision == Decision::RetryLimited {
            self.limited_failures = self.limited_failures.saturating_add(1);
        }
        if decision == Decision::Fail || self.limited_failures >= MAX_LIMITED_ATTEMPTS {
            return Err(self.finish(classified.error));
        }
        let pause = match classified.outcome {
            Outcome::ClockSkew => Duration::ZERO,
            _ => self.pause(classified.wait),
        };
        let time_left = self.time_left();
        let is_queue_free = self.context.queue_time == QueueTime::Free;
        // After a 429 the limiter determines the wait, and lets the calls of all clients continue in turn.
        if classified.outcome == Outcome::TooMany
            && self.context.limiter.is_enabled()
            && (!is_queue_free || pause < time_left)
        {
            if is_queue_free {
                self.deadline = self.deadline.saturating_sub(pause);
            }
            self.rate_limit_error = Some(classified.error);
            return Ok(None);
        }
        if pause >= time_left {
            let error = match classified.wait.filter(|wait| !wait.is_zero()) {
                Some(requested) => {
                    let wait = format!("the service asks to wait {}", format_wait(requested));
                    with_detail(&classified.error, &format!("{wait}{}", exceeds_timeout(time_left, self.timeout)))
                }
                None => classified.error,
            };
            return Err(self.finish(error.with(|facts| facts.retry_after = facts.retry_after.or(Some(pause)))));
        }
        if !pause.is_zero() {
            let mut waiting = self.context.waiting();
            waiting.report(pause, || retry_reason(self.failures, self.call.row, &classified.error));
            self.context.clock.sleep(pause).await;
        }
        Ok(None)
    }

    /// The wait that the service stated, else a pause that doubles.
    fn pause(&self, stated: Option<Duration>) -> Duration {
        if let Some(stated) = stated.filter(|stated| !stated.is_zero()) {
            return stated;
        }
        let doublings = self.failures.saturating_sub(1).min(16);
        let pause = FIRST_PAUSE.saturating_mul(1 << doublings).min(LONGEST_PAUSE);
        match self.context.jitter {
            Jitter::Fixed => pause,
            Jitter::Random => pause.mul_f64(f64::midpoint(1.0, fastrand::f64())),
        }
    }

    async fn send(&self, request: Request) -> std::result::Result<Reply, Fault> {
        tokio::select! {
            biased;
            result = self.context.transport.send(request) => result,
            () = self.context.clock.sleep(self.time_left()) => Err(Fault {
                kind: FaultKind::Timeout,
                message: format!("the call exceeded its timeout of {} s", self.timeout.as_secs_f64()),
            }),
        }
    }

    fn read_rate_limit(&self, reply: &Reply) -> RateLimitHeaders {
        self.context.skew.record_date(&reply.headers, self.context.clock.elapsed());
        let rate_limit = RateLimitHeaders::from_headers(&reply.headers, self.context.clock.now());
        if reply.status != 429 {
            return rate_limit;
        }
        RateLimitHeaders { block: Some(self.pause(rate_limit.requested_wait())), ..rate_limit }
    }

    /// Reads and classifies a reply whose status is not 2XX.
    async fn classify_error_reply(&self, reply: Reply, slot: Option<Slot>, stamp: Stamp) -> Classified {
        let rate_limit = self.read_rate_limit(&reply);
        complete_slot(slot, &rate_limit);
        let arrival = Arrival::new(&*self.context.clock);
        let (status, headers) = (reply.status, reply.headers);
        // A truncated, too long or too slow body is ignored; the status is enough.
        let time_left = self.time_left().min(self.context.timeouts.read);
        let limit = BodyTimeout::for_record(&self.context.clock, time_left, self.timeout);
        let body = Body::new(&headers, reply.body, limit).collect(ERROR_BODY).await.ok().flatten().unwrap_or_default();
        let ServiceContext { base, auth, secrets, .. } = self.context;
        let text = String::from_utf8_lossy(&body);
        // A refused token is often only explained in a header.
        let challenge = if text.trim().is_empty() { error_body::challenge_message(&headers) } else { None };
        let body = secrets.mask(challenge.as_deref().unwrap_or(&text));
        let classified = classify_reply(&ResponseParts {
            argument: base.argument(),
            credential: auth.credential_name(),
            path: &self.call.path,
            base: exists_for_every_account(self.call.row).then(|| base.as_str()),
            status,
            headers: &headers,
            rate_limit: &rate_limit,
            body: body.as_bytes(),
        });
        if status == 401 && auth.is_signed() {
            self.check_clock(classified, &headers, arrival, stamp)
        } else {
            classified
        }
    }

    fn check_clock(&self, classified: Classified, headers: &HeaderMap, arrival: Arrival, stamp: Stamp) -> Classified {
        let about_time = classified.error.facts().check.as_deref().is_some_and(is_about_time);
        match self.context.skew.update(headers, arrival, stamp, about_time, &self.context.warnings) {
            Correction::NotTheClock => classified,
            Correction::NoDate => {
                let error = classified.error.with_kind(Kind::Authentication).map_message(|message| {
                    format!(
                        "{message}. Its reply has no Date, so the difference from this machine's clock is unknown: \
                         set the clock"
                    )
                });
                Classified { error, ..classified }
            }
            Correction::Corrected(skew) => {
                let outcome = if self.is_clock_corrected { classified.outcome } else { Outcome::ClockSkew };
                let error = classified.error.with(|facts| facts.clock_skew = Some(to_seconds_f64(skew)));
                Classified { outcome, error, wait: None }
            }
        }
    }

    /// Adds the facts of the call to an error and masks secrets.
    #[must_use]
    pub fn finish(&self, error: Error) -> Error {
        let skew = self.context.skew.seconds(&*self.context.clock);
        self.context.masked_error(error.with(|facts| facts.id = self.call.id())).with(|facts| {
            facts.clock_skew = facts.clock_skew.or(skew.map(to_seconds_f64));
            facts.endpoint = Some(self.call.row.full_name);
            facts.method = Some(self.call.row.method.as_str());
            facts.attempts = Some(self.sent);
            facts.elapsed = Some(self.context.clock.elapsed().saturating_sub(self.started));
        })
    }

    /// Secrets that no text may contain.
    #[must_use]
    pub fn secrets(&self) -> &Secrets {
        &self.context.secrets
    }

    /// When the last request was sent, by the clock for deadlines.
    #[must_use]
    pub fn sent_at(&self) -> Duration {
        self.sent_at
    }

    /// Whether an attempt may have been carried out without a reply.
    #[must_use]
    pub const fn may_have_arrived(&self) -> bool {
        self.is_outcome_unknown
    }

    /// The remaining time of the call.
    #[must_use]
    pub fn time_left(&self) -> Duration {
        self.deadline.saturating_sub(self.context.clock.elapsed())
    }
}

/// Whether an endpoint exists for every account, such as a list.
fn exists_for_every_account(row: &Endpoint) -> bool {
    row.method == Method::Get && !row.path.contains('{')
}

#[expect(clippy::cast_precision_loss, reason = "a difference of clocks is far below 2^52 seconds")]
fn to_seconds_f64(skew: i64) -> f64 {
    skew as f64
}

fn complete_slot(slot: Option<Slot>, rate_limit: &RateLimitHeaders) {
    if let Some(slot) = slot {
        slot.complete(rate_limit);
    }
}
