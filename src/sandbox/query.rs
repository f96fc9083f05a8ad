//! Parses the query of a request; names match in any letter case.

use chrono::{DateTime, Utc};
use percent_encoding::percent_decode_str;

use super::paging::{DEFAULT_PAGE_SIZE, PageRequest};
use headland_base::times::iso::{self, Read};

/// Decoded parameters of a query.
#[derive(Debug, Default)]
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    /// Parses the text after `?`.
    pub(super) fn parse(text: &str) -> Self {
        let pair = |part: &str| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            (percent_decode(name, true), percent_decode(value, true))
        };
        Self(text.split('&').filter(|part| !part.is_empty()).map(pair).collect())
    }

    /// Returns the first value of a name, in any letter case.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Returns the requested page (specification 4.1), or an error message.
    pub(super) fn page(&self) -> Result<PageRequest, String> {
        let whole_number = |name: &str, default: u64| match self.get(name) {
            None => Ok(default),
            Some(text) => {
                text.trim().parse::<u64>().map_err(|_| format!("{name} must be a whole number >= 0, found `{text}`."))
            }
        };
        Ok(PageRequest { size: whole_number("pageSize", DEFAULT_PAGE_SIZE)?, page: whole_number("page", 0)? })
    }

    /// Returns the `date` of a list, or an error message.
    pub(super) fn date(&self) -> Result<Option<DateTime<Utc>>, String> {
        let Some(text) = self.get("date") else { return Ok(None) };
        // An unescaped `+` of a time zone offset is decoded as a space.
        let with_plus = text.rsplit_once(' ').map(|(time, zone)| format!("{time}+{zone}"));
        match (iso::read(text), with_plus.as_deref().map(iso::read)) {
            (Read::Time(time), _) | (Read::Wrong, Some(Read::Time(time))) => Ok(Some(time)),
            _ => Err(format!("date must be an ISO 8601 date-time such as 2026-09-01T00:00:00Z, found `{text}`.")),
        }
    }
}

/// Decodes percent-encoding, and `+` as a space in a query. Invalid escapes are unchanged.
pub(super) fn percent_decode(text: &str, is_query: bool) -> String {
    let text = if is_query { text.replace('+', " ") } else { text.to_owned() };
    percent_decode_str(&text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_in_any_letter_case_and_values_are_decoded() {
        let query = Query::parse("PAGESIZE=5&page=2&Format=shp&x=a%20b+c%2&y");
        assert_eq!(query.page(), Ok(PageRequest { size: 5, page: 2 }));
        assert_eq!(query.get("format"), Some("shp"));
        assert_eq!(query.get("X"), Some("a b c%2"));
        assert_eq!(query.get("y"), Some(""));
        assert_eq!(Query::parse("").page(), Ok(PageRequest { size: 20, page: 0 }));
    }

    #[test]
    fn invalid_page_parameters_are_errors() {
        for text in ["pageSize=-1", "pagesize=ten", "page=1.5", "page=", "pagesize=99999999999999999999"] {
            assert!(Query::parse(text).page().unwrap_err().contains("whole number"), "{text}");
        }
    }

    #[test]
    fn dates_are_read_in_several_iso_8601_forms() {
        let expected = Query::parse("date=2022-02-28T19:00:00Z").date().unwrap();
        assert!(expected.is_some());
        for text in [
            "date=2022-02-28%2019:00:00",
            "date=2022-02-28+19:00:00",
            "DATE=2022-02-28T20:00:00%2B01:00",
            "date=2022-02-28T20:00:00+01:00",
        ] {
            assert_eq!(Query::parse(text).date(), Ok(expected), "{text}");
        }
        for text in ["date=", "date=2022-02-30", "date=soon", "date=0001-01-01"] {
            assert!(Query::parse(text).date().is_err(), "{text}");
        }
        assert_eq!(Query::parse("page=1").date(), Ok(None));
    }
}
