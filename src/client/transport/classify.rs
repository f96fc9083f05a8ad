//! Classifies replies and faults: the outcome, the error, and the wait that the service requests.

use std::time::Duration;

use http::HeaderMap;
use http::header::{CONTENT_TYPE, LOCATION};

use super::error_body;
use super::retry_policy::Outcome;
use crate::limiter::RateLimitHeaders;
use headland_base::error::{Error, Kind};
use headland_base::times::iso;
use headland_wire::{ServiceResponse, decode_response};

/// Number of characters of a service's text that a message shows.
const SHOWN: usize = 300;

/// The classified end of an attempt.
#[derive(Clone, Debug)]
pub struct Classified {
    /// The input of the retry policy.
    pub outcome: Outcome,
    /// The error that the user gets if the call is not retried.
    pub error: Error,
    /// The wait that the service requests.
    pub wait: Option<Duration>,
}

/// A reply whose body was read completely.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResponseParts<'a> {
    /// The argument of the client that sets the service's base address.
    pub(super) argument: &'static str,
    /// The name of the credential in messages.
    pub(super) credential: &'static str,
    pub(super) path: &'a str,
    /// The base address, if the path names no record. In that case a 404 means that the base address may be wrong.
    pub(super) base: Option<&'a str>,
    pub(super) status: u16,
    pub(super) headers: &'a HeaderMap,
    pub(super) rate_limit: &'a RateLimitHeaders,
    pub(super) body: &'a [u8],
}

/// Classifies a reply whose status is not 2XX.
pub(super) fn classify_reply(parts: &ResponseParts<'_>) -> Classified {
    let response = decode_response(parts.body);
    if let Some(classified) = response.as_ref().and_then(|response| classify_response(response, parts.rate_limit))
        && classified.outcome == Outcome::MoreTime
    {
        return classified.with_status(parts.status);
    }
    let (detail, is_document) = body_message(parts, response.as_ref());
    let (outcome, kind, what) = match parts.status {
        300..=399 => (Outcome::Refused, Kind::Transport, redirect_message(parts)),
        401 => (Outcome::Refused, Kind::Authentication, refused_credential(parts)),
        403 => (Outcome::Refused, Kind::PermissionDenied, forbidden(parts, is_document)),
        404 => (Outcome::Refused, Kind::NotFound, format!("there is nothing at `{}`", parts.path)),
        405 => (Outcome::Refused, Kind::MethodNotAllowed, format!("`{}` does not accept this method", parts.path)),
        408 => (Outcome::Busy, Kind::ServiceUnavailable, "the service timed out waiting for the request".to_owned()),
        409 => (Outcome::Refused, Kind::Conflict, "the request conflicts with another record".to_owned()),
        429 => (Outcome::TooMany, Kind::RateLimited, "the rate limit is exceeded".to_owned()),
        400..=499 => (Outcome::Refused, Kind::InvalidRequest, "the service refused the request".to_owned()),
        502..=504 => (Outcome::Busy, Kind::ServiceUnavailable, "the service is busy".to_owned()),
        500..=599 => (Outcome::Broken, Kind::ServiceUnavailable, "the service has an internal error".to_owned()),
        _ => (Outcome::Refused, Kind::Decode, "the service answered with an unexpected status".to_owned()),
    };
    let mut message = detail.as_ref().map_or_else(|| what.clone(), |detail| format!("{what}: {detail}"));
    if let Some(base) = parts.base.filter(|_| parts.status == 404) {
        message = format!("{message} (the base URL `{base}` of `{}` may be wrong)", parts.argument);
    }
    let result = response.and_then(|response| response.result);
    let error = Error::new(kind, message).with(|facts| {
        facts.status = Some(parts.status);
        facts.result = result;
        facts.retry_after = parts.rate_limit.retry_after;
        facts.is_document = is_document;
        if kind == Kind::Authentication {
            facts.check.clone_from(&detail);
        }
    });
    let wait = match outcome {
        Outcome::TooMany => parts.rate_limit.retry_after.or(parts.rate_limit.reset),
        _ => parts.rate_limit.retry_after,
    };
    Classified { outcome, error, wait }
}

/// Classifies a `ServiceResponse` by its `status`, regardless of the HTTP status; `None` if it reports success.
#[must_use]
pub fn classify_response(response: &ServiceResponse, rate_limit: &RateLimitHeaders) -> Option<Classified> {
    let info = shorten(response.error_info.trim());
    let status = response.status.trim();
    let is = |word: &str| status.eq_ignore_ascii_case(word);
    let classified = if is("MORE_TIME_NEEDED") {
        // The specification does not say which element contains the time span (4.4).
        let texts = [Some(&response.error_info), response.result.as_ref()];
        let wait = rate_limit.retry_after.or_else(|| texts.into_iter().flatten().find_map(|text| iso::find_span(text)));
        Classified {
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
    let error = classified.error.with(|facts| {
        facts.result.clone_from(&response.result);
        facts.conversion = is_conversion_status(status).then(|| status.to_owned());
    });
    Some(Classified { error, ..classified })
}

/// Whether a status is that of a conversion (specification 3). Such a status is a failure with or without a text.
fn is_conversion_status(status: &str) -> bool {
    status.get(..18).is_some_and(|start| start.eq_ignore_ascii_case("CONVERSION_STATUS_"))
}

fn refused(kind: Kind, message: &str) -> Classified {
    Classified { outcome: Outcome::Refused, error: Error::new(kind, message), wait: None }
}

impl Classified {
    /// Adds the HTTP status to the error.
    #[must_use]
    pub fn with_status(self, status: u16) -> Self {
        Self { error: self.error.with(|facts| facts.status = Some(status)), ..self }
    }
}

/// Whether the text of a 401 is about the time of the request.
pub(super) fn is_about_time(detail: &str) -> bool {
    let detail = detail.to_ascii_lowercase();
    ["timestamp", "time stamp", "time-stamp", "lifetime", "clock"].iter().any(|word| detail.contains(word))
        || (detail.contains("expired") && !detail.contains("key"))
}

/// The message in the body as one line: the text of a `ServiceResponse`, or plain text. For a web page it states only
/// the type. The second value is whether the body is a document.
fn body_message(parts: &ResponseParts<'_>, response: Option<&ServiceResponse>) -> (Option<String>, bool) {
    let line = |text: &str| Some(shorten(text)).filter(|text| !text.is_empty());
    if let Some(message) = error_body::message_from(parts.body) {
        return (Some(shorten(&message)), false);
    }
    if let Some(response) = response {
        let info = response.error_info.trim();
        return (line(if info.is_empty() { response.status.trim() } else { info }), false);
    }
    let content_type = parts.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let text = std::str::from_utf8(parts.body).unwrap_or_default().trim();
    if text.starts_with('<') {
        return (Some(format!("(the reply is a document of type `{}`)", shorten(content_type))), true);
    }
    // A JSON string counts as plain text.
    (line(text.trim_matches('"')), false)
}

/// The service gives a reason as text or as a document of its own; a page is that of somebody on the way.
fn forbidden(parts: &ResponseParts<'_>, is_document: bool) -> String {
    let text = String::from_utf8_lossy(parts.body).to_ascii_lowercase();
    if is_document && text.contains("<html") {
        format!(
            "the reply to `{}` is a web page and not one of the service: a proxy or a firewall of your network may block the \
             address; ask its administrator",
            parts.path
        )
    } else {
        format!("the {} does not permit `{}`", parts.credential, parts.path)
    }
}

fn refused_credential(parts: &ResponseParts<'_>) -> String {
    let what = if parts.credential == "token" { "token" } else { "credentials" };
    format!("the service refused the {what}")
}

fn redirect_message(parts: &ResponseParts<'_>) -> String {
    let location = parts.headers.get(LOCATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let host = reqwest::Url::parse(location).ok().and_then(|url| url.host_str().map(str::to_owned));
    let host = host.map_or_else(|| "another address".to_owned(), |host| format!("`{host}`"));
    format!(
        "the service redirects to {host}; headland does not follow, because the {} is only for the given host: if the \
         service has moved there, set {} to it",
        parts.credential, parts.argument
    )
}

/// One line of at most [`SHOWN`] characters.
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

    fn classify(status: u16, headers: &[(&'static str, &'static str)], body: &str) -> Classified {
        classify_at("/jobdata/1", None, status, headers, body)
    }

    fn classify_at(
        path: &str,
        base: Option<&str>,
        status: u16,
        headers: &[(&'static str, &'static str)],
        body: &str,
    ) -> Classified {
        let headers: HeaderMap =
            headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        let rate_limit = RateLimitHeaders::from_headers(&headers, chrono::Utc::now());
        let (argument, body) = ("base_url", body.as_bytes());
        classify_reply(&ResponseParts {
            argument,
            credential: "access key",
            path,
            base,
            status,
            headers: &headers,
            rate_limit: &rate_limit,
            body,
        })
    }

    #[test]
    fn missing_list_error_names_the_base_address() {
        let base = "https://service.example/v2";
        let detail = r#"{"status":"INVALID_REQUEST","errorInfo":"No such address.","result":"nil"}"#;
        let list = classify_at("/v2/jobdata", Some(base), 404, &[], detail);
        assert_eq!(
            list.error.message(),
            "there is nothing at `/v2/jobdata`: No such address. (the base URL `https://service.example/v2` of \
             `base_url` may be wrong)"
        );
        assert!(!classify_at("/v2/jobdata", Some(base), 403, &[], detail).error.message().contains("base URL"));
        assert!(!classify(404, &[], detail).error.message().contains("base URL"), "a record may be gone");
    }

    #[test]
    fn status_gives_error_kind_and_outcome() {
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
            let classified = classify(status, &[], "");
            assert_eq!((classified.error.kind(), classified.outcome), (kind, outcome), "{status}");
            assert_eq!(classified.error.facts().status, Some(status));
        }
    }

    #[test]
    fn unauthorized_error_gives_the_failed_check() {
        let classified = classify(401, &[], "Signature check failed.\n");
        assert_eq!(classified.error.facts().check.as_deref(), Some("Signature check failed."));
        assert!(
            classified.error.message().starts_with("the service refused the credentials: "),
            "{}",
            classified.error
        );
        let json =
            classify(401, &[], r#"{"status":"INVALID_REQUEST","errorInfo":"Access key revoked","result":"r-17"}"#);
        assert_eq!(json.error.facts().check.as_deref(), Some("Access key revoked"));
        assert_eq!(json.error.facts().result.as_deref(), Some("r-17"));
    }

    #[test]
    fn more_time_is_read_from_the_body_with_any_http_status() {
        for status in [202, 400, 404, 500, 503] {
            let classified =
                classify(status, &[], r#"{"status":"MORE_TIME_NEEDED","errorInfo":"00:00:30","result":"nil"}"#);
            assert_eq!(
                (classified.outcome, classified.wait),
                (Outcome::MoreTime, Some(Duration::from_secs(30))),
                "{status}"
            );
        }
        let header_first = classify(
            503,
            &[("retry-after", "7")],
            r#"{"status":"MORE_TIME_NEEDED","errorInfo":"00:00:30","result":"nil"}"#,
        );
        assert_eq!(header_first.wait, Some(Duration::from_secs(7)));
    }

    #[test]
    fn failed_conversion_error_gives_the_reason_if_any() {
        let response = |status: &str, info: &str| ServiceResponse {
            status: status.to_owned(),
            error_info: info.to_owned(),
            result: None,
        };
        let classify =
            |status: &str, info: &str| classify_response(&response(status, info), &RateLimitHeaders::default());
        for (info, says) in [("", "CONVERSION_STATUS_FAILED, without a reason"), ("Out of paper.", "Out of paper.")] {
            let classified = classify("CONVERSION_STATUS_FAILED", info).unwrap();
            assert_eq!(classified.error.kind(), Kind::ConversionFailed);
            assert!(classified.error.message().contains(says), "{}", classified.error);
        }
        assert!(classify("CONVERSION_STATUS_SUCCESS", "done").is_none());
        assert!(classify("QUEUED", "").is_none());
    }

    #[test]
    fn wait_is_read_from_error_info_and_result_4_4() {
        for body in [
            r#"{"status":"MORE_TIME_NEEDED","errorInfo":"More time needed: 00:00:30.","result":"nil"}"#,
            r#"{"status":"MORE_TIME_NEEDED","errorInfo":"please wait","result":"00:00:30"}"#,
        ] {
            assert_eq!(
                classify(200, &[], body).wait.or(classify(202, &[], body).wait),
                Some(Duration::from_secs(30)),
                "{body}"
            );
        }
    }

    #[test]
    fn redirect_error_names_the_host_and_quotes_no_page() {
        let moved = classify(302, &[("location", "https://elsewhere.example/jobdata?token=1")], "");
        assert!(moved.error.message().contains("`elsewhere.example`"), "{}", moved.error);
        assert!(!moved.error.message().contains("token"), "{}", moved.error);
        let blocked = classify(403, &[("content-type", "text/html")], "<!DOCTYPE html><HTML><p>Blocked");
        assert!(blocked.error.message().contains("proxy or a firewall"), "{}", blocked.error);
        for own in ["no access", "<Error><Reason>scope</Reason></Error>"] {
            assert!(classify(403, &[], own).error.message().contains("does not permit"), "{own}");
        }
        let page = classify(500, &[("content-type", "text/html")], "<html><body>boom</body></html>");
        assert!(page.error.message().contains("text/html"), "{}", page.error);
        assert!(!page.error.message().contains("boom"), "{}", page.error);
    }

    #[test]
    fn expired_key_is_not_about_time() {
        assert!(is_about_time("TimeStamp check failed"));
        assert!(is_about_time("Request expired"));
        assert!(!is_about_time("Access key expired"));
    }
}
