//! Messages of waits that are longer than a call may take.

use std::time::Duration;

use crate::error::Error;
use crate::limiter::{LONGEST_WAIT, Refusal};

/// When the limiter lets a call start, and whether the service asked for the wait.
pub(super) fn ready(refusal: &Refusal) -> String {
    let ready_in = refusal.ready_in.as_secs_f64();
    match refusal.service_wait {
        Some(asked) => {
            format!("the service asked to wait {}, and the next call may start in {ready_in:.1} s", span(asked))
        }
        None => format!("the rate limit allows the next call in {ready_in:.1} s"),
    }
}

/// That a wait is longer than what is `left` of the time for a call.
pub(super) fn beyond(left: Duration, patience: Duration) -> String {
    let (left, patience) = (left.as_secs_f64(), patience.as_secs_f64());
    format!(", which is beyond the {left:.1} s that are left of the {patience} s that this call may take")
}

/// The same error with `more` at the end of its message.
pub(super) fn retold(error: &Error, more: &str) -> Error {
    error.clone().reworded(|message| format!("{}; {more}", message.trim_end_matches('.')))
}

/// A wait that the service asked for; a longer one than is read is not known exactly.
pub(super) fn span(asked: Duration) -> String {
    if asked >= LONGEST_WAIT { "24 hours or longer".to_owned() } else { format!("{} s", asked.as_secs_f64()) }
}
