//! Retry policy: the decision after each outcome, for each class of endpoint.

use headland_api::{Endpoint, Returns};

/// The class of an endpoint for retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RetryClass {
    /// A repeatable call that returns a record or a page.
    Record,
    /// A repeatable call that returns a file. The service may need time to create it.
    File,
    /// A call that must not be sent twice.
    NonIdempotent,
}

impl RetryClass {
    /// The class of an endpoint.
    #[must_use]
    pub(super) fn from_row(row: &Endpoint) -> Self {
        match row.returns {
            _ if !row.repeatable => Self::NonIdempotent,
            Returns::File | Returns::Conversion | Returns::Layer => Self::File,
            Returns::Detail(_)
            | Returns::Index(_)
            | Returns::OneOf(_)
            | Returns::Table { .. }
            | Returns::Created
            | Returns::Nothing
            | Returns::Payload
            | Returns::Listing(_)
            | Returns::NotImplemented => Self::Record,
        }
    }
}

/// The outcome of one attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The service needs more time (specification 4.4, 7), regardless of the HTTP status.
    MoreTime,
    /// 429: refused before it was processed.
    TooMany,
    /// 503 and similar statuses of intermediaries: the service is reachable but busy.
    Busy,
    /// Any other 5XX.
    Broken,
    /// 401 that a clock correction may resolve.
    ClockSkew,
    /// Any other status: the service refused the request.
    Refused,
    /// No connection: nothing was sent.
    NotSent,
    /// The request could not be built: nothing was sent, and a retry would fail as well.
    Unsendable,
    /// The certificate of the service was refused: nothing was sent.
    Untrusted,
    /// No reply; the service may have received the request.
    Lost,
    /// The body of the reply is incomplete or damaged.
    Truncated,
}

/// The decision after an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// Retry within the time budget of the call.
    Retry,
    /// Retry a limited number of times, because waiting hardly helps.
    RetryLimited,
    /// Return to the caller, which waits as the service requests and polls again.
    Poll,
    /// Never send again: find out from the service what happened.
    Reconcile,
    /// Fail.
    Fail,
}

/// Number of requests that [`Decision::RetryLimited`] allows in one call.
pub(super) const MAX_LIMITED_ATTEMPTS: u32 = 4;

/// The retry table.
#[must_use]
#[expect(clippy::match_same_arms, reason = "a line for each outcome is what makes it a table")]
pub(super) const fn decide(class: RetryClass, outcome: Outcome) -> Decision {
    use Decision::{Fail, Poll, Reconcile, Retry, RetryLimited};
    let [record, file, non_idempotent] = match outcome {
        Outcome::MoreTime => [Retry, Poll, Reconcile],
        Outcome::TooMany => [Retry, Retry, Retry],
        Outcome::Busy => [Retry, Retry, Reconcile],
        Outcome::Broken => [RetryLimited, RetryLimited, Reconcile],
        Outcome::ClockSkew => [Retry, Retry, Retry],
        Outcome::Refused => [Fail, Fail, Fail],
        Outcome::NotSent => [RetryLimited, RetryLimited, RetryLimited],
        Outcome::Unsendable => [Fail, Fail, Fail],
        Outcome::Untrusted => [Fail, Fail, Fail],
        Outcome::Lost => [RetryLimited, RetryLimited, Reconcile],
        Outcome::Truncated => [RetryLimited, RetryLimited, Reconcile],
    };
    match class {
        RetryClass::Record => record,
        RetryClass::File => file,
        RetryClass::NonIdempotent => non_idempotent,
    }
}
