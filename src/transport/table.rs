//! The table of retries: what is done after each outcome, for each class of row.

use crate::api::{Endpoint, Returns};

/// How a row may be treated after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// A repeatable call that gives a record or a page.
    Record,
    /// A repeatable call that gives a file, which may take the service time to make.
    File,
    /// A call that must not be done twice.
    Once,
}

impl Class {
    /// The class of a row.
    #[must_use]
    pub(super) fn of(row: &Endpoint) -> Self {
        match row.returns {
            _ if !row.repeatable => Self::Once,
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
    Skewed,
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
    Cut,
}

/// What is done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// Send again, as long as the budget of the call allows.
    Repeat,
    /// Send again, but only so often: it hardly gets better by waiting.
    RepeatFew,
    /// Tell the caller, who waits as the service says.
    HandBack,
    /// Never send again: look up what has become of it.
    LookUp,
    /// Give up.
    Fail,
}

/// How many requests [`Decision::RepeatFew`] allows in one call.
pub(super) const FEW: u32 = 4;

/// The table.
#[must_use]
#[expect(clippy::match_same_arms, reason = "a line for each outcome is what makes it a table")]
pub(super) const fn decide(class: Class, outcome: Outcome) -> Decision {
    use Decision::{Fail, HandBack, LookUp, Repeat, RepeatFew};
    let [record, file, once] = match outcome {
        //                     Record     File       Once
        Outcome::MoreTime => [Repeat, HandBack, LookUp],
        Outcome::TooMany => [Repeat, Repeat, Repeat],
        Outcome::Busy => [Repeat, Repeat, LookUp],
        Outcome::Broken => [RepeatFew, RepeatFew, LookUp],
        Outcome::Skewed => [Repeat, Repeat, Repeat],
        Outcome::Refused => [Fail, Fail, Fail],
        Outcome::NotSent => [RepeatFew, RepeatFew, RepeatFew],
        Outcome::Unsendable => [Fail, Fail, Fail],
        Outcome::Untrusted => [Fail, Fail, Fail],
        Outcome::Lost => [RepeatFew, RepeatFew, LookUp],
        Outcome::Cut => [RepeatFew, RepeatFew, LookUp],
    };
    match class {
        Class::Record => record,
        Class::File => file,
        Class::Once => once,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLASSES: [Class; 3] = [Class::Record, Class::File, Class::Once];

    #[test]
    fn every_cell_is_as_the_design_says() {
        use Decision::{Fail, HandBack, LookUp, Repeat, RepeatFew};
        for (outcome, expected) in [
            (Outcome::MoreTime, [Repeat, HandBack, LookUp]),
            (Outcome::TooMany, [Repeat; 3]),
            (Outcome::Busy, [Repeat, Repeat, LookUp]),
            (Outcome::Broken, [RepeatFew, RepeatFew, LookUp]),
            (Outcome::Skewed, [Repeat; 3]),
            (Outcome::Refused, [Fail; 3]),
            (Outcome::NotSent, [RepeatFew; 3]),
            (Outcome::Unsendable, [Fail; 3]),
            (Outcome::Untrusted, [Fail; 3]),
            (Outcome::Lost, [RepeatFew, RepeatFew, LookUp]),
            (Outcome::Cut, [RepeatFew, RepeatFew, LookUp]),
        ] {
            for (class, expected) in CLASSES.into_iter().zip(expected) {
                assert_eq!(decide(class, outcome), expected, "{class:?} after {outcome:?}");
            }
        }
    }

    #[test]
    fn what_may_have_arrived_is_never_sent_again_unless_the_row_is_repeatable() {
        for outcome in [Outcome::MoreTime, Outcome::Busy, Outcome::Broken, Outcome::Lost, Outcome::Cut] {
            assert_eq!(decide(Class::Once, outcome), Decision::LookUp, "{outcome:?}");
        }
    }

    #[test]
    fn a_row_falls_into_its_class() {
        for (name, class) in [
            ("job_data.list", Class::Record),
            ("job_data.download", Class::File),
            ("job_data.request", Class::File),
            ("job_data.read", Class::File),
            ("job_data.upload", Class::Once),
        ] {
            assert_eq!(Class::of(crate::api::row(name).unwrap()), class, "{name}");
        }
    }
}
