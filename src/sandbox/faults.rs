//! Table of injectable faults, and the queue of pending faults.

use std::sync::Mutex;

use super::locked::locked;
use super::query::Query;
use super::routes::Route;
use headland_api as api;
use headland_base::error::{Error, Kind, Result};

/// A row of [`FAULTS`].
#[derive(Debug)]
pub struct FaultRow {
    /// The fault.
    pub fault: Fault,
    /// Name of the fault.
    pub name: &'static str,
    /// HTTP status that also names it; empty without one.
    pub code: &'static str,
    /// Effect of the fault.
    pub doc: &'static str,
}

/// Defines [`Fault`] and [`FAULTS`]: name, HTTP status and effect of each fault.
macro_rules! faults {
    ($($fault:ident $name:literal $code:literal $doc:literal;)+) => {
        /// A fault of a request.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Fault {
            $(
                #[doc = concat!("`", $name, "`")]
                $fault,
            )+
        }

        /// All faults.
        pub static FAULTS: &[FaultRow] =
            &[$(FaultRow { fault: Fault::$fault, name: $name, code: $code, doc: $doc }),+];
    };
}

faults! {
    Unauthorized "unauthorized" "401" "401 that names the signature check, regardless of the signature.";
    Forbidden "forbidden" "403" "403: the access key does not permit the data.";
    BadRequest "bad-request" "400" "400 INVALID_REQUEST with a sentence.";
    NotFound "not-found" "404" "404, as for an address that does not exist.";
    MethodNotAllowed "method-not-allowed" "405" "405 with an empty `Allow`.";
    TooManyRequests "too-many-requests" "429" "429 with `Retry-After: 1`, though the budget is not used up.";
    Unavailable "unavailable" "503" "503 with the plain text `Resources exhausted. Try again.`.";
    ServerError "server-error" "500"
        "500 with a ServiceResponse, as earlier releases answered for an address that does not exist.";
    MoreTime "more-time" "202" "202 MORE_TIME_NEEDED with `Retry-After: 1`.";
    NotReady "not-ready" "" "For a file request: 200 MORE_TIME_NEEDED with the wait as hh:mm:ss, one second.";
    NoCoverage "no-coverage" "" "For a file request: 200 NO_COVERAGE.";
    AlreadyQueued "already-queued" "" "For a sent map: 409 with a message to wait; nothing is queued.";
    SameName "same-name" "" "For a sent map: 409 with a message about the conflict of names; nothing is queued.";
    Redirect "redirect" "302" "302 to `/redirected` of the same service.";
    LostReply "lost-reply" "" "The request is executed, then the connection closes without a reply.";
    Reset "reset" "" "The connection closes before the request is executed.";
    Truncated "truncated" "" "The reply is truncated after half of its announced length.";
    WebPage "web-page" "" "For a file request: 200 with a web page.";
    Slow "slow" "" "The reply is delayed by one second.";
    NoDate "no-date" "" "The reply has no `Date`.";
    Skew "skew" "" "The service's clock is an hour ahead, in `Date` and in the time stamp check.";
    ForeignLocation "foreign-location" "" "A page of dispatch has a `Location` on another host.";
    LoopingLocation "looping-location" "" "A page of dispatch has its own address as `Location`.";
    RepeatedPage "repeated-page" "" "For a page of dispatch after the first: the records of the page before it.";
}

/// Name that matches all endpoints.
pub const EVERY_ENDPOINT: &str = "*";

impl Fault {
    /// Whether the fault combines with other faults. Of the others, a request gets the one that was added first.
    fn is_modifier(self) -> bool {
        matches!(self, Self::Slow | Self::NoDate | Self::Skew)
    }
}

/// Properties of a request that faults depend on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FaultTarget {
    is_file: bool,
    /// Whether the request is for a page of dispatch.
    is_list: bool,
    /// Whether that page is not the first.
    is_later_page: bool,
}

impl FaultTarget {
    /// Derives the properties from route and query.
    pub(super) fn from_request(route: &Route, query: &Query) -> Self {
        let is_list = route.is_dispatch_list();
        let skips = ["$skip", "skip"].iter().find_map(|name| query.get(name));
        let is_later_page = is_list && skips.is_some_and(|skip| skip.trim().parse().is_ok_and(|skip: u64| skip > 0));
        Self { is_file: route.is_file(), is_list, is_later_page }
    }

    /// Whether a fault changes the reply to this request. Otherwise it stays pending.
    fn applies(self, fault: Fault, endpoints: &[&str]) -> bool {
        match fault {
            Fault::WebPage | Fault::NotReady | Fault::NoCoverage => self.is_file,
            Fault::AlreadyQueued | Fault::SameName => endpoints.contains(&"prescription_maps.send"),
            Fault::ForeignLocation | Fault::LoopingLocation => self.is_list,
            Fault::RepeatedPage => self.is_later_page,
            _ => true,
        }
    }
}

#[derive(Debug)]
struct PendingFault {
    endpoint: String,
    fault: Fault,
    times: u32,
}

/// Pending faults, oldest first.
#[derive(Debug, Default)]
pub(super) struct Faults(Mutex<Vec<PendingFault>>);

impl Faults {
    /// Adds `kind` for the next `times` requests to `endpoint`, a full name or `*`. In `kind`, `_` may replace `-`.
    pub(super) fn add(&self, endpoint: &str, kind: &str, times: u32) -> Result<()> {
        let found =
            FAULTS.iter().find(|row| row.name == kind.replace('_', "-") || (!row.code.is_empty() && row.code == kind));
        let Some(row) = found else {
            let known: Vec<&str> = FAULTS.iter().map(|row| row.name).collect();
            return Err(Error::new(Kind::Value, format!("`{kind}` is not a fault; use one of {}", known.join(", "))));
        };
        if endpoint != EVERY_ENDPOINT && api::row(endpoint).is_none() {
            let known: Vec<&str> = api::rows().map(|row| row.full_name).collect();
            return Err(Error::new(
                Kind::Value,
                format!(
                    "`{endpoint}` is not an endpoint; use {EVERY_ENDPOINT} for all, or one of {}",
                    known.join(", ")
                ),
            ));
        }
        locked(&self.0).push(PendingFault { endpoint: endpoint.to_owned(), fault: row.fault, times });
        Ok(())
    }

    /// Removes all pending faults.
    pub(super) fn clear(&self) {
        locked(&self.0).clear();
    }

    /// Removes and returns the faults of a request to any of `endpoints`.
    pub(super) fn take(&self, endpoints: &[&str], target: FaultTarget) -> Vec<Fault> {
        let mut taken: Vec<Fault> = Vec::new();
        let mut pending = locked(&self.0);
        for entry in pending.iter_mut().filter(|entry| entry.times > 0) {
            let fault = entry.fault;
            let is_target = entry.endpoint == EVERY_ENDPOINT || endpoints.contains(&entry.endpoint.as_str());
            let is_excluded =
                taken.iter().any(|other| *other == fault || !(other.is_modifier() || fault.is_modifier()));
            if is_target && !is_excluded && target.applies(fault, endpoints) {
                entry.times = entry.times.saturating_sub(1);
                taken.push(fault);
            }
        }
        pending.retain(|entry| entry.times > 0);
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modifiers_combine_and_other_faults_apply_sequentially() {
        let faults = Faults::default();
        faults.add("*", "503", 1).unwrap();
        faults.add("job_data.list", "reset", 1).unwrap();
        faults.add("*", "skew", 2).unwrap();
        faults.add("*", "no-date", 1).unwrap();
        assert_eq!(
            faults.take(&["job_data.list"], FaultTarget::default()),
            [Fault::Unavailable, Fault::Skew, Fault::NoDate]
        );
        assert_eq!(faults.take(&["access_key"], FaultTarget::default()), [Fault::Skew]);
        assert_eq!(faults.take(&["job_data.list"], FaultTarget::default()), [Fault::Reset]);
        assert_eq!(faults.take(&["job_data.list"], FaultTarget::default()), []);
    }

    #[test]
    fn web_page_waits_for_a_file_request_and_clear_removes_faults() {
        let faults = Faults::default();
        faults.add("*", "web-page", 1).unwrap();
        assert_eq!(faults.take(&["job_data.get"], FaultTarget::default()), []);
        assert_eq!(
            faults.take(&["job_data.download"], FaultTarget { is_file: true, ..FaultTarget::default() }),
            [Fault::WebPage]
        );
        faults.add("*", "slow", 9).unwrap();
        faults.clear();
        assert_eq!(faults.take(&["job_data.get"], FaultTarget::default()), []);
    }

    #[test]
    fn unknown_fault_or_endpoint_is_an_error_that_lists_the_known() {
        let faults = Faults::default();
        let error = faults.add("*", "gremlins", 1).unwrap_err();
        assert!(FAULTS.iter().all(|row| error.message().contains(row.name)));
        assert_eq!(faults.add("jobs.list", "slow", 1).unwrap_err().kind(), Kind::Value);
        assert_eq!(faults.add("*", "", 1).unwrap_err().kind(), Kind::Value);
    }
}
