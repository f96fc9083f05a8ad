//! Messages about waits: their reasons, and errors of waits that exceed the timeout of a call.

use std::time::Duration;

use crate::limiter::{Budget, DeadlineExceeded, LONGEST_WAIT, Window};
use headland_api::Endpoint;
use headland_base::error::Error;

/// What a call waits for: the largest window that is used up, else a wait that the service requested.
pub(super) fn limit_reason(budget: &Budget) -> String {
    let full = budget.windows.iter().filter(|(window, used)| *used >= window.calls);
    match full.max_by_key(|(window, _)| window.period) {
        Some((Window { calls, period }, _)) => {
            let plural = if *calls == 1 { "" } else { "s" };
            format!("the rate limit ({calls} call{plural} in {} s)", period.as_secs_f64())
        }
        None if budget.service_wait.is_some() => "the rate limit, as the service requests".to_owned(),
        None => "the rate limit, after other calls of this key".to_owned(),
    }
}

/// What a call waits for after an error.
pub(super) fn retry_reason(retry: u32, row: &Endpoint, error: &Error) -> String {
    let cause = error.facts().status.map_or_else(
        || "the connection failed".to_owned(),
        |status| format!("the service answered with status {status}"),
    );
    format!("retry {retry} of {}, because {cause}", row.full_name)
}

/// When the limiter allows the next call, and whether the service requested the wait.
pub(super) fn next_call_message(exceeded: &DeadlineExceeded) -> String {
    let ready_in = exceeded.ready_in.as_secs_f64();
    match exceeded.service_wait {
        Some(requested) => {
            format!(
                "the service asked to wait {}, and the next call may start in {ready_in:.1} s",
                format_wait(requested)
            )
        }
        None => format!("the rate limit allows the next call in {ready_in:.1} s"),
    }
}

/// What to do about a wait that exceeds the time of a call.
pub(super) fn exceeded_advice(exceeded: &DeadlineExceeded) -> &'static str {
    match exceeded.service_wait {
        Some(_) => "call again after that",
        None => {
            "make fewer calls at once, call again after that, or allow a longer wait with timeout=Timeout(call=...), in \
             seconds"
        }
    }
}

/// States that a wait exceeds the `time_left` of a call.
pub(super) fn exceeds_timeout(time_left: Duration, timeout: Duration) -> String {
    let (time_left, timeout) = (time_left.as_secs_f64(), timeout.as_secs_f64());
    format!(", but only {time_left:.1} s of this call's timeout of {timeout} s are left")
}

/// Appends `more` to the message of an error.
pub(super) fn with_detail(error: &Error, more: &str) -> Error {
    error.clone().map_message(|message| format!("{}; {more}", message.trim_end_matches('.')))
}

/// Formats a wait that the service requested. Above the upper bound the exact value is unknown.
pub(super) fn format_wait(requested: Duration) -> String {
    if requested >= LONGEST_WAIT { "24 hours or longer".to_owned() } else { format!("{} s", requested.as_secs_f64()) }
}
