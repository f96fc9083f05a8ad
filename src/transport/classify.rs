//! What a reply or a fault means: its outcome, the error it would be, and the wait the service asks for.

use std::time::Duration;

use http::HeaderMap;
use http::header::{CONTENT_TYPE, LOCATION};

use super::retry_policy::Outcome;
use super::{Certificate, Fault, FaultKind, error_body};
use crate::error::{Error, Kind};
use crate::limiter::Heard;
use crate::wire::{ServiceResponse, decode_response, time};

/// As much of a text of the service is shown in a message.
const SHOWN: usize = 300;

/// How an attempt ended, and what that is worth telling.
#[derive(Clone, Debug)]
pub struct Judged {
    /// What the table of retries is asked about.
    pub outcome: Outcome,
    /// The error that the user sees if nothing more is tried.
    pub error: Error,
    /// How long the service asks to wait.
    pub wait: Option<Duration>,
}

/// A reply whose body was read whole.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen<'a> {
    /// The argument of the client that gives the service's base address.
    pub(super) argument: &'static str,
    /// What the request proved itself with, in words.
    pub(super) proof: &'static str,
    pub(super) path: &'a str,
    /// The base address, where the path names no record: then the address is wrong if there is nothing.
    pub(super) base: Option<&'a str>,
    pub(super) status: u16,
    pub(super) headers: &'a HeaderMap,
    pub(super) heard: &'a Heard,
    pub(super) body: &'a [u8],
}

/// Judges a fault.
pub(super) fn judge_fault(fault: &Fault, host: &str) -> Judged {
    let message = &fault.message;
    let (outcome, message) = match fault.kind {
        FaultKind::Request => {
            (Outcome::Unsendable, format!("the request to {host} could not be built and was not sent: {message}"))
        }
        FaultKind::Name => (Outcome::NotSent, format!("nobody knows the name {host}: {message}")),
        FaultKind::Connect | FaultKind::Refused => (Outcome::NotSent, format!("cannot connect to {host}: {message}")),
        FaultKind::Tls => {
            let advice = Certificate::of(message).advice();
            (Outcome::Untrusted, format!("{host} could not prove who it is: {message}. {advice}"))
        }
        FaultKind::Timeout => (Outcome::Lost, format!("no reply from {host}: {message}")),
        FaultKind::Reset => (Outcome::Lost, format!("the connection to {host} broke before a reply came: {message}")),
        FaultKind::Cut => (Outcome::Cut, format!("the reply of {host} is incomplete: {message}")),
    };
    Judged { outcome, error: Error::new(Kind::Transport, message), wait: None }
}

/// Judges a reply whose status is not 2XX.
pub(super) fn judge_reply(seen: &Seen<'_>) -> Judged {
    let response = decode_response(seen.body);
    if let Some(judged) = response.as_ref().and_then(|response| judge_response(response, seen.heard))
        && judged.outcome == Outcome::MoreTime
    {
        return judged.at(seen.status);
    }
    let (said, is_document) = said(seen, response.as_ref());
    let (outcome, kind, what) = match seen.status {
        300..=399 => (Outcome::Refused, Kind::Transport, redirected(seen)),
        401 => (Outcome::Refused, Kind::Authentication, refused_proof(seen)),
        403 => {
            (Outcome::Refused, Kind::PermissionDenied, format!("the {} does not permit `{}`", seen.proof, seen.path))
        }
        404 => (Outcome::Refused, Kind::NotFound, format!("there is nothing at `{}`", seen.path)),
        405 => (Outcome::Refused, Kind::MethodNotAllowed, format!("`{}` does not take this method", seen.path)),
        408 => (Outcome::Busy, Kind::ServiceUnavailable, "the service waited too long for the request".to_owned()),
        409 => (Outcome::Refused, Kind::Conflict, "another record is in the way".to_owned()),
        429 => (Outcome::TooMany, Kind::RateLimited, "the rate limit is exceeded".to_owned()),
        400..=499 => (Outcome::Refused, Kind::InvalidRequest, "the service refused the request".to_owned()),
        502..=504 => (Outcome::Busy, Kind::ServiceUnavailable, "the service is busy".to_owned()),
        500..=599 => (Outcome::Broken, Kind::ServiceUnavailable, "the service is in trouble".to_owned()),
        _ => (Outcome::Refused, Kind::Decode, "the service answered with a status that means nothing".to_owned()),
    };
    let mut message = said.as_ref().map_or_else(|| what.clone(), |said| format!("{what}: {said}"));
    if let Some(base) = seen.base.filter(|_| seen.status == 404) {
        message = format!("{message} (the base address `{base}` may be wrong, which `{}` sets)", seen.argument);
    }
    let result = response.and_then(|response| response.result);
    let error = Error::new(kind, message).with(|facts| {
        facts.status = Some(seen.status);
        facts.result = result;
        facts.retry_after = seen.heard.retry_after;
        facts.is_document = is_document;
        if kind == Kind::Authentication {
            facts.check.clone_from(&said);
        }
    });
    let wait = match outcome {
        Outcome::TooMany => seen.heard.retry_after.or(seen.heard.reset),
        _ => seen.heard.retry_after,
    };
    Judged { outcome, error, wait }
}

/// Judges a `ServiceResponse` by its status, whatever the HTTP code; `None` where it reports success.
#[must_use]
pub fn judge_response(response: &ServiceResponse, heard: &Heard) -> Option<Judged> {
    let info = shorten(response.error_info.trim());
    let status = response.status.trim();
    let is = |word: &str| status.eq_ignore_ascii_case(word);
    let judged = if is("MORE_TIME_NEEDED") {
        // Which element has the time span is not shown (specification 4.4).
        let texts = [Some(&response.error_info), response.result.as_ref()];
        let wait = heard.retry_after.or_else(|| texts.into_iter().flatten().find_map(|text| time::find_span(text)));
        Judged {
            outcome: Outcome::MoreTime,
            error: Error::new(Kind::NotReady, "the service needs more time").with(|facts| facts.retry_after = wait),
            wait,
        }
    } else if is("NO_COVERAGE") {
        refused(Kind::NoCoverage, if info.is_empty() { "the job has no coverage" } else { &info })
    } else if is("INVALID_REQUEST") {
        refused(Kind::InvalidRequest, &format!("the service refused the request: {info}"))
    } else if is("CONVERSION_STATUS_SUCCESS") || (info.is_empty() && !is_conversion_status(status)) {
        return None;
    } else if info.is_empty() {
        refused(Kind::ConversionFailed, &format!("the service answered {status}, without a reason"))
    } else {
        refused(Kind::ConversionFailed, &format!("the service answered {status}: {info}"))
    };
    let error = judged.error.with(|facts| {
        facts.result.clone_from(&response.result);
        facts.conversion = is_conversion_status(status).then(|| status.to_owned());
    });
    Some(Judged { error, ..judged })
}

/// Whether a status is one of a conversion (specification 3): those fail with or without a text.
fn is_conversion_status(status: &str) -> bool {
    status.get(..18).is_some_and(|start| start.eq_ignore_ascii_case("CONVERSION_STATUS_"))
}

fn refused(kind: Kind, message: &str) -> Judged {
    Judged { outcome: Outcome::Refused, error: Error::new(kind, message), wait: None }
}

impl Judged {
    /// The same, at an HTTP status.
    #[must_use]
    pub fn at(self, status: u16) -> Self {
        Self { error: self.error.with(|facts| facts.status = Some(status)), ..self }
    }
}

/// Whether a 401 speaks of the time of the request.
pub(super) fn is_about_time(said: &str) -> bool {
    let said = said.to_ascii_lowercase();
    ["timestamp", "time stamp", "time-stamp", "lifetime", "clock"].iter().any(|word| said.contains(word))
        || (said.contains("expired") && !said.contains("key"))
}

/// What the body says, as one line: the text of a `ServiceResponse`, or plain text; of a web page only that it is one,
/// and whether it is.
fn said(seen: &Seen<'_>, response: Option<&ServiceResponse>) -> (Option<String>, bool) {
    let line = |text: &str| Some(shorten(text)).filter(|text| !text.is_empty());
    if let Some(words) = error_body::words(seen.body) {
        return (Some(shorten(&words)), false);
    }
    if let Some(response) = response {
        let info = response.error_info.trim();
        return (line(if info.is_empty() { response.status.trim() } else { info }), false);
    }
    let content_type = seen.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let text = std::str::from_utf8(seen.body).unwrap_or_default().trim();
    if text.starts_with('<') {
        return (Some(format!("(a document of type `{}` came with it)", shorten(content_type))), true);
    }
    // A JSON string is a plain text too.
    (line(text.trim_matches('"')), false)
}

fn refused_proof(seen: &Seen<'_>) -> String {
    let what = if seen.proof == "token" { "token" } else { "credentials" };
    format!("the service refused the {what}")
}

fn redirected(seen: &Seen<'_>) -> String {
    let location = seen.headers.get(LOCATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let host = reqwest::Url::parse(location).ok().and_then(|url| url.host_str().map(str::to_owned));
    let host = host.map_or_else(|| "another address".to_owned(), |host| format!("`{host}`"));
    format!(
        "the service redirects to {host}, which is not followed because the {} is for the given host alone: if that is \
         where the service has moved, set {} to it",
        seen.proof, seen.argument
    )
}

/// One line of at most so many characters.
pub(super) fn shorten(text: &str) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(status: u16, headers: &[(&'static str, &'static str)], body: &str) -> Judged {
        judge_at("/jobdata/1", None, status, headers, body)
    }

    fn judge_at(
        path: &str,
        base: Option<&str>,
        status: u16,
        headers: &[(&'static str, &'static str)],
        body: &str,
    ) -> Judged {
        let headers: HeaderMap =
            headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        let heard = Heard::read(&headers, chrono::Utc::now());
        let (argument, body) = ("base_url", body.as_bytes());
        judge_reply(&Seen { argument, proof: "access key", path, base, status, headers: &headers, heard: &heard, body })
    }

    #[test]
    fn where_a_list_is_missing_the_base_address_is_named() {
        let base = "https://service.example/v2";
        let said = r#"{"status":"INVALID_REQUEST","errorInfo":"No such address.","result":"nil"}"#;
        let list = judge_at("/v2/jobdata", Some(base), 404, &[], said);
        assert_eq!(
            list.error.message(),
            "there is nothing at `/v2/jobdata`: No such address. (the base address `https://service.example/v2` may be \
             wrong, which `base_url` sets)"
        );
        assert!(!judge_at("/v2/jobdata", Some(base), 403, &[], said).error.message().contains("base address"));
        assert!(!judge(404, &[], said).error.message().contains("base address"), "a record may be gone");
    }

    #[test]
    fn a_certificate_that_is_refused_is_told_with_what_to_do() {
        for (message, advice) in [
            ("invalid peer certificate: Other(OtherError(CaUsedAsEndEntity))", "make one for the server"),
            ("invalid peer certificate: certificate expired: verification time 2", "check the clock"),
            ("invalid peer certificate: certificate not valid for name \"x\"", "the name in its subjectAltName"),
            ("invalid peer certificate: UnknownIssuer", "Pass ca_file"),
        ] {
            let judged = judge_fault(&Fault { kind: FaultKind::Tls, message: message.to_owned() }, "x.org");
            let told = judged.error.message();
            assert!(told.contains(message) && told.contains(advice), "{told}");
            assert_eq!(judged.outcome, Outcome::Untrusted);
        }
    }

    #[test]
    fn every_status_has_its_kind() {
        for (status, kind, outcome) in [
            (301, Kind::Transport, Outcome::Refused),
            (400, Kind::InvalidRequest, Outcome::Refused),
            (401, Kind::Authentication, Outcome::Refused),
            (403, Kind::PermissionDenied, Outcome::Refused),
            (404, Kind::NotFound, Outcome::Refused),
            (405, Kind::MethodNotAllowed, Outcome::Refused),
            (409, Kind::Conflict, Outcome::Refused),
            (422, Kind::InvalidRequest, Outcome::Refused),
            (429, Kind::RateLimited, Outcome::TooMany),
            (500, Kind::ServiceUnavailable, Outcome::Broken),
            (503, Kind::ServiceUnavailable, Outcome::Busy),
            (504, Kind::ServiceUnavailable, Outcome::Busy),
        ] {
            let judged = judge(status, &[], "");
            assert_eq!((judged.error.kind(), judged.outcome), (kind, outcome), "{status}");
            assert_eq!(judged.error.facts().status, Some(status));
        }
    }

    #[test]
    fn the_failed_check_is_told() {
        let judged = judge(401, &[], "Signature check failed.\n");
        assert_eq!(judged.error.facts().check.as_deref(), Some("Signature check failed."));
        assert!(judged.error.message().starts_with("the service refused the credentials: "), "{}", judged.error);
        let json = judge(401, &[], r#"{"status":"INVALID_REQUEST","errorInfo":"Access key revoked","result":"r-17"}"#);
        assert_eq!(json.error.facts().check.as_deref(), Some("Access key revoked"));
        assert_eq!(json.error.facts().result.as_deref(), Some("r-17"));
    }

    #[test]
    fn more_time_is_told_by_the_status_of_the_body_whatever_the_http_code() {
        for status in [202, 400, 404, 500, 503] {
            let judged = judge(status, &[], r#"{"status":"MORE_TIME_NEEDED","errorInfo":"00:00:30","result":"nil"}"#);
            assert_eq!((judged.outcome, judged.wait), (Outcome::MoreTime, Some(Duration::from_secs(30))), "{status}");
        }
        let header_first = judge(
            503,
            &[("retry-after", "7")],
            r#"{"status":"MORE_TIME_NEEDED","errorInfo":"00:00:30","result":"nil"}"#,
        );
        assert_eq!(header_first.wait, Some(Duration::from_secs(7)));
    }

    #[test]
    fn a_failed_conversion_is_told_with_and_without_a_reason() {
        let response = |status: &str, info: &str| ServiceResponse {
            status: status.to_owned(),
            error_info: info.to_owned(),
            result: None,
        };
        let judge = |status: &str, info: &str| judge_response(&response(status, info), &Heard::default());
        for (info, says) in [("", "CONVERSION_STATUS_FAILED, without a reason"), ("Out of paper.", "Out of paper.")] {
            let judged = judge("CONVERSION_STATUS_FAILED", info).unwrap();
            assert_eq!(judged.error.kind(), Kind::ConversionFailed);
            assert!(judged.error.message().contains(says), "{}", judged.error);
        }
        assert!(judge("CONVERSION_STATUS_SUCCESS", "done").is_none());
        assert!(judge("QUEUED", "").is_none());
    }

    #[test]
    fn a_wait_is_found_in_a_sentence_and_in_the_result_4_4() {
        for body in [
            r#"{"status":"MORE_TIME_NEEDED","errorInfo":"More time needed: 00:00:30.","result":"nil"}"#,
            r#"{"status":"MORE_TIME_NEEDED","errorInfo":"please wait","result":"00:00:30"}"#,
        ] {
            assert_eq!(
                judge(200, &[], body).wait.or(judge(202, &[], body).wait),
                Some(Duration::from_secs(30)),
                "{body}"
            );
        }
    }

    #[test]
    fn a_redirect_names_its_host_and_a_web_page_is_not_quoted() {
        let moved = judge(302, &[("location", "https://elsewhere.example/jobdata?token=1")], "");
        assert!(moved.error.message().contains("`elsewhere.example`"), "{}", moved.error);
        assert!(!moved.error.message().contains("token"), "{}", moved.error);
        let page = judge(500, &[("content-type", "text/html")], "<html><body>boom</body></html>");
        assert!(page.error.message().contains("text/html"), "{}", page.error);
        assert!(!page.error.message().contains("boom"), "{}", page.error);
    }

    #[test]
    fn an_expired_key_is_not_about_time() {
        assert!(is_about_time("TimeStamp check failed"));
        assert!(is_about_time("Request expired"));
        assert!(!is_about_time("Access key expired"));
    }
}
