//! The table of retries: what is done after each outcome, for each class of row.

use crate::api::{Endpoint, Returns};

/// How a row may be treated after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RetryClass {
    /// A repeatable call that gives a record or a page.
    Record,
    /// A repeatable call that gives a file, which may take the service time to make.
    File,
    /// A call that must not be done twice.
    NonIdempotent,
}

impl RetryClass {
    /// The class of a row.
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

/// How one attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The service needs more time (specification 4.4, 7), whatever the HTTP status.
    MoreTime,
    /// 429: refused without being looked at.
    TooMany,
    /// 503, and its like from machines in between: the service is there, but busy.
    Busy,
    /// Any other 5XX.
    Broken,
    /// 401 that setting our clock right may cure.
    ClockSkew,
    /// Any other status: the service has said no.
    Refused,
    /// No connection: nothing was sent.
    NotSent,
    /// The request could not be built: nothing was sent, nor would it be the next time.
    Unsendable,
    /// The service could not prove who it is: nothing was sent.
    Untrusted,
    /// No reply came; the request may have arrived.
    Lost,
    /// The reply ended early or is damaged.
    Truncated,
}

/// What is done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// Send again, as long as the budget of the call allows.
    Retry,
    /// Send again, but only so often: it hardly gets better by waiting.
    RetryLimited,
    /// Tell the caller, who waits as the service says.
    Poll,
    /// Never send again: look up what has become of it.
    Reconcile,
    /// Give up.
    Fail,
}

/// How many requests [`Decision::RetryLimited`] allows in one call.
pub(super) const MAX_LIMITED_ATTEMPTS: u32 = 4;

/// The table.
#[must_use]
#[expect(clippy::match_same_arms, reason = "a line for each outcome is what makes it a table")]
pub(super) const fn decide(class: RetryClass, outcome: Outcome) -> Decision {
    use Decision::{Fail, Poll, Reconcile, Retry, RetryLimited};
    let [record, file, non_idempotent] = match outcome {
        //                     Record     File       Once
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
