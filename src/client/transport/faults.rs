//! Classifies faults: requests without a reply, and incomplete replies.

use super::classify::Classified;
use super::retry_policy::Outcome;
use super::{Certificate, Fault, FaultKind};
use headland_base::error::{Error, Kind};

/// Classifies a fault of a request to `host`, through `proxy` if there is one.
pub(super) fn classify_fault(fault: &Fault, host: &str, proxy: Option<&str>) -> Classified {
    let message = &fault.message;
    let through = proxy.map(|proxy| format!(" through the proxy `{proxy}`")).unwrap_or_default();
    let (outcome, message) = match fault.kind {
        FaultKind::Request => {
            (Outcome::Unsendable, format!("the request to {host} could not be built and was not sent: {message}"))
        }
        FaultKind::Name if proxy.is_some() => (
            Outcome::NotSent,
            format!(
                "cannot resolve host of a request to {host}{through}: {message}; check the spelling of the proxy in \
                 HTTPS_PROXY"
            ),
        ),
        FaultKind::Name => {
            (Outcome::NotSent, format!("cannot resolve host `{host}`: {message}; check the spelling of the address"))
        }
        FaultKind::Connect | FaultKind::Refused if proxy.is_some() => (
            Outcome::NotSent,
            format!(
                "cannot connect to {host}{through}: {message}; correct HTTPS_PROXY, or name the host in NO_PROXY if it \
                 needs no proxy"
            ),
        ),
        FaultKind::Connect | FaultKind::Refused => (Outcome::NotSent, format!("cannot connect to {host}: {message}")),
        FaultKind::Tls => {
            let advice = Certificate::from_message(message).advice();
            (Outcome::Untrusted, format!("the TLS connection to {host}{through} failed: {message}. {advice}"))
        }
        // A proxy whose name is resolved slowly, or that drops packets, is not refused before the time is over.
        FaultKind::Timeout if proxy.is_some() => (
            Outcome::Lost,
            format!(
                "no reply from {host}{through}: {message}; check that the proxy in HTTPS_PROXY is reachable, or name \
                 the host in NO_PROXY if it needs no proxy"
            ),
        ),
        FaultKind::Timeout => (Outcome::Lost, format!("no reply from {host}: {message}")),
        FaultKind::Reset => {
            (Outcome::Lost, format!("the connection to {host}{through} closed before a reply was received: {message}"))
        }
        FaultKind::Truncated => (Outcome::Truncated, format!("the reply of {host} is incomplete: {message}")),
    };
    Classified { outcome, error: Error::new(Kind::Transport, message), wait: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificate_error_gives_advice() {
        for (message, advice) in [
            ("invalid peer certificate: Other(OtherError(CaUsedAsEndEntity))", "make one for the server"),
            ("invalid peer certificate: certificate expired: verification time 2", "check the clock"),
            ("invalid peer certificate: certificate not valid for name \"x\"", "the name in its subjectAltName"),
            ("invalid peer certificate: UnknownIssuer", "Pass ca_file"),
        ] {
            let classified =
                classify_fault(&Fault { kind: FaultKind::Tls, message: message.to_owned() }, "x.org", None);
            let text = classified.error.message();
            assert!(text.contains(message) && text.contains(advice), "{text}");
            assert_eq!(classified.outcome, Outcome::Untrusted);
        }
    }

    #[test]
    fn every_fault_of_a_request_through_a_proxy_names_the_proxy() {
        for kind in [FaultKind::Name, FaultKind::Connect, FaultKind::Refused, FaultKind::Tls, FaultKind::Timeout] {
            let fault = Fault { kind, message: "why".to_owned() };
            let text = classify_fault(&fault, "x.org", Some("proxy:3128")).error.message().into_owned();
            assert!(text.contains("x.org through the proxy `proxy:3128`") && text.contains("why"), "{text}");
            assert_eq!(text.contains("HTTPS_PROXY"), !matches!(kind, FaultKind::Tls), "{text}");
            assert!(!classify_fault(&fault, "x.org", None).error.message().contains("proxy"));
        }
    }
}
