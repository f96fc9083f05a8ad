//! Paging of specification 4.7: page parameters and the address of the next page.

use crate::query::{Query, percent_decode};
use crate::variants::{ActiveVariants, Variant};

/// Maximum records per page, by row. The specification says that it differs per endpoint, without values (section 8).
pub(super) static CAPS: &[(&str, u64)] = &[
    ("dispatch.equipment.operations", 50),
    ("dispatch.products.list", 100),
    ("dispatch.batches.active", 25),
    ("legacy_orders.work_orders", 40),
    ("legacy_orders.products", 60),
    ("legacy_orders.blends", 30),
];

/// Maximum records per page of other rows.
const DEFAULT_CAP: u64 = 50;

/// Requested page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Page {
    /// Records per page: `$top`, limited by the cap; the cap without `$top`.
    pub(super) size: u64,
    /// Number of pages of that size before this page.
    pub(super) skip: u64,
    /// Whether the request asks for `x-total-count`.
    pub(super) wants_total: bool,
}

impl Page {
    /// Parses the parameters, with or without `$`, in any letter case. Returns a message for an invalid value.
    pub(super) fn read(query: &Query, row: &str) -> Result<Self, String> {
        let cap = CAPS.iter().find(|(name, _)| *name == row).map_or(DEFAULT_CAP, |(_, cap)| *cap);
        let whole = |name: &str, default: u64| match parameter(query, name) {
            None => Ok(default),
            Some(text) => {
                text.trim().parse::<u64>().map_err(|_| format!("${name} must be a whole number >= 0, found `{text}`."))
            }
        };
        let wants_total = match parameter(query, "count").map(str::trim) {
            None => false,
            Some(text) if text.eq_ignore_ascii_case("true") => true,
            Some(text) if text.eq_ignore_ascii_case("false") => false,
            Some(text) => return Err(format!("$count must be true or false, found `{text}`.")),
        };
        Ok(Self { size: whole("top", cap)?.min(cap), skip: whole("skip", 0)?, wants_total })
    }

    /// Returns the number of records before the page.
    pub(super) fn start(self) -> u64 {
        self.skip.saturating_mul(self.size)
    }

    /// Returns the address of the page `after` pages later; 0 is this page. It repeats the request's parameters, in the
    /// form of the active variants.
    pub(super) fn location(self, address: &str, after: u64, query: &str, variants: &ActiveVariants) -> String {
        let asked = Query::parse(query);
        let again = |name| parameter(&asked, name).map(|value| (name, value.trim().to_owned()));
        let skip = self.skip.saturating_add(after).to_string();
        let pages = [again("top"), Some(("skip", skip)), again("count")];
        let (bare, unasked) = (variants.has(Variant::LocationNoDollar), variants.has(Variant::LocationNoQuestion));
        let mut parts: Vec<String> = Vec::new();
        for (name, value) in pages.into_iter().flatten() {
            // Without `?`, the first `$` separates path and query.
            let dollar = if bare && !(unasked && parts.is_empty()) { "" } else { "$" };
            parts.push(format!("{dollar}{name}={value}"));
        }
        let is_other = |part: &&str| {
            let name = percent_decode(part.split('=').next().unwrap_or_default(), true);
            let name = name.trim_start_matches('$');
            !part.is_empty() && !["top", "skip", "count"].iter().any(|known| known.eq_ignore_ascii_case(name))
        };
        parts.extend(query.split('&').filter(is_other).map(str::to_owned));
        let get = if variants.has(Variant::LocationGet) { "GET " } else { "" };
        format!("{get}{address}{}{}", if unasked { "" } else { "?" }, parts.join("&"))
    }
}

fn parameter<'a>(query: &'a Query, name: &str) -> Option<&'a str> {
    query.get(&format!("${name}")).or_else(|| query.get(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use headland_api::{self as api, Returns};

    #[test]
    fn each_list_has_its_own_cap() {
        let lists: Vec<&str> =
            api::rows().filter(|row| matches!(row.returns, Returns::Listing(_))).map(|row| row.full_name).collect();
        let mut caps: Vec<u64> = CAPS.iter().map(|(_, cap)| *cap).collect();
        assert!(!lists.is_empty() && lists.iter().all(|name| CAPS.iter().any(|(known, _)| known == name)));
        caps.sort_unstable();
        caps.dedup();
        assert_eq!(caps.len(), lists.len());
    }

    #[test]
    fn next_page_address_repeats_the_request_parameters() {
        let location = |query: &str, variants: &[&str]| {
            let variants: Vec<String> = variants.iter().map(|&name| name.to_owned()).collect();
            let page = Page::read(&Query::parse(query), "").unwrap();
            page.location("http://h/p", 1, query, &ActiveVariants::parse(&variants).unwrap())
        };
        assert_eq!(location("", &[]), "http://h/p?$skip=1");
        assert_eq!(
            location("%24TOP=5&skip=3&x=a%26b&$count=true", &[]),
            "http://h/p?$top=5&$skip=4&$count=true&x=a%26b"
        );
        let query = "$top=5&$count=true";
        assert_eq!(location(query, &["location-get"]), "GET http://h/p?$top=5&$skip=1&$count=true");
        assert_eq!(location(query, &["location-no-dollar"]), "http://h/p?top=5&skip=1&count=true");
        assert_eq!(location(query, &["location-no-question"]), "http://h/p$top=5&$skip=1&$count=true");
        assert_eq!(
            location(query, &["location-no-dollar", "location-no-question"]),
            "http://h/p$top=5&skip=1&count=true"
        );
    }

    #[test]
    fn invalid_page_parameters_are_errors_and_large_offsets_saturate() {
        for text in ["$top=-1", "top=ten", "$skip=1.5", "$skip=", "$count=yes", "$top=99999999999999999999"] {
            assert!(Page::read(&Query::parse(text), "").unwrap_err().contains("must be"), "{text}");
        }
        let far = Page::read(&Query::parse("$skip=18446744073709551615&$COUNT=True"), "").unwrap();
        assert_eq!((far.start(), far.wants_total), (u64::MAX, true));
    }
}
