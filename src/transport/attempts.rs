//! The attempt loop of one call: grant, prove, send, judge, wait.

use std::time::Duration;

use http::HeaderMap;

use super::body::{breaks_off, unmarked_end};
use super::body_timeout::Bounds;
use super::classify::{Judged, Seen, is_about_time, judge_fault, judge_reply, judge_response};
use super::context::{Call, Caller, Jitter};
use super::retry_policy::{Class, Decision, FEW, Outcome, decide};
use super::skew::{Arrival, Lesson, Stamp};
use super::wait_errors::{beyond, ready, retold, span};
use super::{Body, Fault, FaultKind, Reply, Request, error_body};
use crate::api::{Endpoint, Method};
use crate::error::{Error, Kind, Result};
use crate::limiter::{Heard, Slot};
use crate::secret::Secrets;
use crate::wire::decode_response;

/// Longer bodies of an error are not read.
pub(super) const ERROR_BODY: usize = 256 * 1024;

/// Longer records and pages are refused, counted as they arrive and after unpacking: a page of 1000 records has two
/// megabytes at most. Decoded, a body takes up to some twenty times its bytes.
pub const LARGEST_RECORD: usize = 32 * 1024 * 1024;

/// Longer bodies cannot be a `ServiceResponse`.
const RESPONSE_BODY: usize = 64 * 1024;

const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// What an attempt brought.
#[derive(Debug)]
pub enum Got {
    /// A reply with a 2XX status, its body still on the way.
    Reply {
        /// The status.
        status: u16,
        /// The headers.
        headers: HeaderMap,
        /// What they say about waiting.
        heard: Heard,
        /// The body.
        body: Body,
    },
    /// The service needs more time for a file.
    MoreTime(Judged),
}

/// A reply that was read whole.
#[derive(Clone, Debug)]
pub struct Whole {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Vec<u8>,
    /// Whether the reply marks the end of its body, so that it is whole for sure.
    pub is_framed: bool,
}

/// The attempts of one call.
#[derive(Debug)]
pub struct Attempts<'a> {
    caller: &'a Caller,
    call: &'a Call,
    class: Class,
    patience: Duration,
    started: Duration,
    sent: u32,
    /// When the last request was sent.
    sent_at: Duration,
    failures: u32,
    few: u32,
    corrected: bool,
    unsure: bool,
    /// The 429 after which the call waits for the limiter.
    held: Option<Error>,
}

impl Caller {
    /// Begins a call that may take as long as `patience`.
    #[must_use]
    pub fn attempts<'a>(&'a self, call: &'a Call, patience: Duration) -> Attempts<'a> {
        Attempts {
            caller: self,
            call,
            class: Class::of(call.row),
            patience,
            started: self.clock.elapsed(),
            sent: 0,
            sent_at: self.clock.elapsed(),
            failures: 0,
            few: 0,
            corrected: false,
            unsure: false,
            held: None,
        }
    }
}

impl Attempts<'_> {
    /// Sends until a reply with a 2XX status comes, or a file needs more time, or the table says to give up.
    pub async fn reply(&mut self) -> Result<Got> {
        loop {
            let mut slot = self.grant().await?;
            let stamp = self.caller.skew.stamp(&*self.caller.clock);
            let request = self.caller.request(self.call, self.class, stamp)?;
            self.sent = self.sent.saturating_add(1);
            self.sent_at = self.caller.clock.elapsed();
            if let Some(slot) = &mut slot {
                slot.sent();
            }
            let sent = self.send(request).await;
            let sent = sent.map(|reply| Reply { headers: self.caller.masked_headers(reply.headers), ..reply });
            let judged = match sent {
                Ok(reply) if (200..300).contains(&reply.status) => {
                    let heard = self.heard(&reply);
                    settle(slot, &heard);
                    let body = Body::new(&reply.headers, reply.body, self.bounds());
                    return Ok(Got::Reply { status: reply.status, headers: reply.headers, heard, body });
                }
                Ok(reply) => self.refusal(reply, slot, stamp).await,
                Err(fault) => {
                    drop(slot);
                    judge_fault(&fault, self.caller.base.host())
                }
            };
            if let Some(more_time) = self.after(judged).await? {
                return Ok(Got::MoreTime(more_time));
            }
        }
    }

    /// The same, with the body read whole.
    pub async fn whole(&mut self) -> Result<Whole> {
        loop {
            let (status, headers, heard, body) = match self.reply().await? {
                Got::Reply { status, headers, heard, body } => (status, headers, heard, body),
                Got::MoreTime(judged) => return Err(self.finish(judged.error)),
            };
            let is_framed = body.is_framed();
            let judged = match body.collect(LARGEST_RECORD).await {
                Ok(Some(body)) if self.is_cut(status, is_framed, &body) => {
                    judge_fault(&unmarked_end(), self.caller.base.host())
                }
                Ok(Some(body)) => {
                    let small = Some(&body).filter(|body| body.len() <= RESPONSE_BODY);
                    let response = small.and_then(|body| decode_response(body));
                    match response.and_then(|response| judge_response(&response, &heard)) {
                        None => {
                            let whole = Whole { status, headers, body, is_framed };
                            return Ok(self.caller.masked_reply(self.call.row, whole));
                        }
                        Some(judged) => judged.at(status),
                    }
                }
                Ok(None) => {
                    let message = format!(
                        "the reply is longer than {LARGEST_RECORD} bytes, more than any record or page has; ask for smaller pages if \
                         it is one"
                    );
                    return Err(self.finish(Error::new(Kind::Decode, message)));
                }
                Err(fault) => judge_fault(&fault, self.caller.base.host()),
            };
            if let Some(judged) = self.after(judged).await? {
                return Err(self.finish(judged.error));
            }
        }
    }

    /// What bounds the time of a body with the status of success.
    fn bounds(&self) -> Bounds {
        let Caller { clock, limits, .. } = self.caller;
        match self.class {
            Class::File => Bounds::of_file(clock, self.left(), self.patience, limits.min_throughput),
            Class::Record | Class::Once => Bounds::of_record(clock, self.left(), self.patience),
        }
    }

    /// Whether a record or a list was cut: nothing marks the end of its reply, and its text breaks off. The reply to a
    /// change has said by its status that it was done.
    fn is_cut(&self, status: u16, is_framed: bool, body: &[u8]) -> bool {
        self.call.row.method == Method::Get && status != 204 && !is_framed && breaks_off(body)
    }

    /// Asks the table what to do after a body was cut. Comes back when it is time to try again.
    pub async fn after_fault(&mut self, fault: &Fault) -> Result<()> {
        self.after(judge_fault(fault, self.caller.base.host())).await.map(|_| ())
    }

    /// Asks the table, and waits where it says to send again; gives a judgement back that the caller has to wait for.
    async fn after(&mut self, judged: Judged) -> Result<Option<Judged>> {
        let decision = decide(self.class, judged.outcome);
        if decision == Decision::HandBack {
            return Ok(Some(judged));
        }
        if decision == Decision::LookUp {
            return Err(self.finish(judged.error.as_kind(Kind::UploadOutcomeUnknown)));
        }
        self.failures = self.failures.saturating_add(1);
        self.unsure |= matches!(
            judged.outcome,
            Outcome::Lost | Outcome::Cut | Outcome::Busy | Outcome::Broken | Outcome::MoreTime
        );
        self.corrected |= judged.outcome == Outcome::Skewed;
        if decision == Decision::RepeatFew {
            self.few = self.few.saturating_add(1);
        }
        if decision == Decision::Fail || self.few >= FEW {
            return Err(self.finish(judged.error));
        }
        let pause = match judged.outcome {
            Outcome::Skewed => Duration::ZERO,
            _ => self.pause(judged.wait),
        };
        // After a 429 the limiter says how long, and lets the calls of all clients go on in turn.
        if judged.outcome == Outcome::TooMany && self.caller.limiter.is_on() {
            self.held = Some(judged.error);
            return Ok(None);
        }
        let left = self.left();
        if pause >= left {
            let error = match judged.wait.filter(|wait| !wait.is_zero()) {
                Some(asked) => {
                    let wait = format!("the service asks to wait {}", span(asked));
                    retold(&judged.error, &format!("{wait}{}", beyond(left, self.patience)))
                }
                None => judged.error,
            };
            return Err(self.finish(error.with(|facts| facts.retry_after = facts.retry_after.or(Some(pause)))));
        }
        if !pause.is_zero() {
            self.caller.clock.sleep(pause).await;
        }
        Ok(None)
    }

    /// What the service stated, else a pause that doubles.
    fn pause(&self, stated: Option<Duration>) -> Duration {
        if let Some(stated) = stated.filter(|stated| !stated.is_zero()) {
            return stated;
        }
        let doublings = self.failures.saturating_sub(1).min(16);
        let pause = FIRST_PAUSE.saturating_mul(1 << doublings).min(LONGEST_PAUSE);
        match self.caller.jitter {
            Jitter::Fixed => pause,
            Jitter::Random => pause.mul_f64(f64::midpoint(1.0, fastrand::f64())),
        }
    }

    async fn grant(&mut self) -> Result<Option<Slot>> {
        let lease = self.caller.limits.connect.saturating_add(self.caller.limits.read).saturating_mul(2);
        let (held, left) = (self.held.take(), self.left());
        match self.caller.limiter.grant(lease, left).await {
            Ok(slot) => Ok(slot),
            Err(refusal) => {
                let message = format!("{}{}", ready(&refusal), beyond(self.left(), self.patience));
                let error = match held {
                    Some(error) => retold(&error, &message),
                    None => Error::new(Kind::RateLimited, message),
                };
                Err(self.finish(error.with(|facts| facts.retry_after = Some(refusal.ready_in))))
            }
        }
    }

    async fn send(&self, request: Request) -> std::result::Result<Reply, Fault> {
        tokio::select! {
            biased;
            result = self.caller.transport.send(request) => result,
            () = self.caller.clock.sleep(self.left()) => Err(Fault {
                kind: FaultKind::Timeout,
                message: format!("the {} s that this call may take are over", self.patience.as_secs_f64()),
            }),
        }
    }

    fn heard(&self, reply: &Reply) -> Heard {
        self.caller.skew.hear(&reply.headers, self.caller.clock.elapsed());
        let heard = Heard::read(&reply.headers, self.caller.clock.now());
        if reply.status != 429 {
            return heard;
        }
        Heard { block: Some(self.pause(heard.asked())), ..heard }
    }

    /// Reads and judges a reply whose status is not 2XX.
    async fn refusal(&self, reply: Reply, slot: Option<Slot>, stamp: Stamp) -> Judged {
        let heard = self.heard(&reply);
        settle(slot, &heard);
        let arrival = Arrival::new(&*self.caller.clock);
        let (status, headers) = (reply.status, reply.headers);
        // A body that breaks off, is too long or takes too long says nothing; the status has said enough.
        let left = self.left().min(self.caller.limits.read);
        let bounds = Bounds::of_record(&self.caller.clock, left, self.patience);
        let body = Body::new(&headers, reply.body, bounds).collect(ERROR_BODY).await.ok().flatten().unwrap_or_default();
        let Caller { base, access, secrets, .. } = self.caller;
        let said = String::from_utf8_lossy(&body);
        // A refused token is often told of in a header alone.
        let challenge = if said.trim().is_empty() { error_body::challenge(&headers) } else { None };
        let body = secrets.masked(challenge.as_deref().unwrap_or(&said));
        let judged = judge_reply(&Seen {
            argument: base.argument(),
            proof: access.name(),
            path: &self.call.path,
            base: names_no_record(self.call.row).then(|| base.as_str()),
            status,
            headers: &headers,
            heard: &heard,
            body: body.as_bytes(),
        });
        if status == 401 && access.is_signed() {
            self.about_the_clock(judged, &headers, arrival, stamp)
        } else {
            judged
        }
    }

    fn about_the_clock(&self, judged: Judged, headers: &HeaderMap, arrival: Arrival, stamp: Stamp) -> Judged {
        let about_time = judged.error.facts().check.as_deref().is_some_and(is_about_time);
        match self.caller.skew.learn(headers, arrival, stamp, about_time, &self.caller.notices) {
            Lesson::NotTheClock => judged,
            Lesson::NoDate => {
                let error = judged.error.as_kind(Kind::Authentication).reworded(|message| {
                    format!(
                        "{message}. Its reply has no Date, so the difference to this machine's clock cannot be \
                         measured: set the clock right"
                    )
                });
                Judged { error, ..judged }
            }
            Lesson::Corrected(skew) => {
                let outcome = if self.corrected { judged.outcome } else { Outcome::Skewed };
                let error = judged.error.with(|facts| facts.clock_skew = Some(in_facts(skew)));
                Judged { outcome, error, wait: None }
            }
        }
    }

    /// The error with the facts of the call and without secrets.
    #[must_use]
    pub fn finish(&self, error: Error) -> Error {
        let skew = self.caller.skew.seconds(&*self.caller.clock);
        self.caller.masked_error(error).with(|facts| {
            facts.clock_skew = facts.clock_skew.or(skew.map(in_facts));
            facts.endpoint = Some(self.call.row.full_name);
            facts.method = Some(self.call.row.method.as_str());
            facts.attempts = Some(self.sent);
            facts.elapsed = Some(self.caller.clock.elapsed().saturating_sub(self.started));
        })
    }

    /// What no text may show.
    #[must_use]
    pub fn secrets(&self) -> &Secrets {
        &self.caller.secrets
    }

    /// When the last request was sent, by the clock for deadlines.
    #[must_use]
    pub fn sent_at(&self) -> Duration {
        self.sent_at
    }

    /// Whether an attempt may have been carried out though no reply said so.
    #[must_use]
    pub const fn may_have_arrived(&self) -> bool {
        self.unsure
    }

    /// What is left of the time that the call may take.
    #[must_use]
    pub fn left(&self) -> Duration {
        self.patience.saturating_sub(self.caller.clock.elapsed().saturating_sub(self.started))
    }
}

/// Whether an endpoint is there for every account, such as a list.
fn names_no_record(row: &Endpoint) -> bool {
    row.method == Method::Get && !row.path.contains('{')
}

#[expect(clippy::cast_precision_loss, reason = "a difference of clocks is far below 2^52 seconds")]
fn in_facts(skew: i64) -> f64 {
    skew as f64
}

fn settle(slot: Option<Slot>, heard: &Heard) {
    if let Some(slot) = slot {
        slot.settle(heard);
    }
}
