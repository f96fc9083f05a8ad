//! Rate limit headers of a reply (specification 8).

use std::time::Duration;

use chrono::{DateTime, Utc};
use http::HeaderMap;

/// Upper bound of any wait that a header requests. It bounds the arithmetic and invalid values.
pub const LONGEST_WAIT: Duration = Duration::from_secs(86_400);

/// The rate limit as the server reports it. It only tightens what the local log allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateLimitHeaders {
    /// `X-RateLimit-Limit`: calls per window.
    pub limit: Option<u32>,
    /// `X-RateLimit-Remaining`: calls left before the reset.
    pub remaining: Option<u32>,
    /// `X-RateLimit-Reset`: whole seconds until the reset, rounded up.
    pub reset: Option<Duration>,
    /// `Retry-After`, as seconds or as a date (RFC 9110, section 10.2.3:
    /// <https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3>).
    pub retry_after: Option<Duration>,
    /// How long all calls are blocked after a 429.
    pub block: Option<Duration>,
}

impl RateLimitHeaders {
    /// The wait that a 429 requests, if it states one.
    #[must_use]
    pub fn requested_wait(&self) -> Option<Duration> {
        self.retry_after.or(self.reset).filter(|wait| !wait.is_zero())
    }

    /// Reads the headers. A header that cannot be parsed is ignored.
    #[must_use]
    pub fn from_headers(headers: &HeaderMap, now: DateTime<Utc>) -> Self {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
        let number = |name: &str| text(name).and_then(|text| text.parse::<u32>().ok());
        // The date is by the service's clock, which may differ from the local one.
        let now = text("date").and_then(parse_http_date).unwrap_or(now);
        Self {
            limit: number("x-ratelimit-limit"),
            remaining: number("x-ratelimit-remaining"),
            reset: text("x-ratelimit-reset").and_then(seconds),
            retry_after: text("retry-after").and_then(|text| seconds(text).or_else(|| duration_until(text, now))),
            block: None,
        }
    }
}

fn seconds(text: &str) -> Option<Duration> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| *seconds >= 0.0)?;
    Some(Duration::try_from_secs_f64(seconds).unwrap_or(LONGEST_WAIT).min(LONGEST_WAIT))
}

fn duration_until(text: &str, now: DateTime<Utc>) -> Option<Duration> {
    Some(parse_http_date(text)?.signed_duration_since(now).to_std().unwrap_or(Duration::ZERO).min(LONGEST_WAIT))
}

/// Parses a date of HTTP, such as `Tue, 01 Sep 2026 12:00:20 GMT` (RFC 9110, section 5.6.7).
pub(crate) fn parse_http_date(text: &str) -> Option<DateTime<Utc>> {
    DateTime::parse_from_rfc2822(text).ok().map(|date| date.to_utc())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn invalid_header_values_are_ignored() {
        let now = DateTime::parse_from_rfc3339("2026-09-01T12:00:00Z").unwrap().with_timezone(&Utc);
        let found = RateLimitHeaders::from_headers(
            &headers(&[
                ("x-ratelimit-limit", "30"),
                ("x-ratelimit-remaining", "7"),
                ("x-ratelimit-reset", "12"),
                ("retry-after", "Tue, 01 Sep 2026 12:00:20 GMT"),
            ]),
            now,
        );
        assert_eq!((found.limit, found.remaining), (Some(30), Some(7)));
        assert_eq!(found.reset, Some(Duration::from_secs(12)));
        assert_eq!(found.retry_after, Some(Duration::from_secs(20)));
        let with_another_date =
            headers(&[("date", "Tue, 01 Sep 2026 13:00:00 GMT"), ("retry-after", "Tue, 01 Sep 2026 13:00:20 GMT")]);
        assert_eq!(RateLimitHeaders::from_headers(&with_another_date, now).retry_after, Some(Duration::from_secs(20)));
        for (remaining, retry_after, reset) in [("-1", "soon", "NaN"), ("1.5", "-30", "-1")] {
            let nonsense = headers(&[
                ("x-ratelimit-remaining", remaining),
                ("retry-after", retry_after),
                ("x-ratelimit-reset", reset),
            ]);
            assert_eq!(RateLimitHeaders::from_headers(&nonsense, now), RateLimitHeaders::default());
        }
        for endless in ["1e300", "1e400", "Tue, 01 Sep 2099 12:00:00 GMT"] {
            let found = RateLimitHeaders::from_headers(&headers(&[("retry-after", endless)]), now);
            assert_eq!(found.retry_after, Some(LONGEST_WAIT), "{endless}");
        }
    }
}
