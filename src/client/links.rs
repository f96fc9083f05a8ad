//! Addresses that records carry: which row and which arguments an address stands for, so that it can be asked for on
//! the configured base. Its own host is never contacted.

use super::arguments::{Arguments, decode};
use crate::api::{self, Endpoint, Method, Place, Returns, Service};
use crate::error::{Error, Kind, Result};
use crate::transport::{Base, shown};

/// The call that an address stands for.
#[derive(Debug)]
pub struct Followed {
    /// The row.
    pub row: &'static Endpoint,
    /// The arguments by their Python names.
    pub given: Vec<(&'static str, String)>,
    /// Records per page, where the address says it.
    pub page_size: Option<u32>,
    /// The page, where the address names one.
    pub page: Option<u64>,
}

/// Finds the call for an address; what is wrong with it is told before any call.
pub(super) fn follow(base: &Base, uri: &str) -> Result<Followed> {
    let told = |why: String| Error::new(Kind::Value, format!("the uri `{}` {why}", shown(uri)));
    let wrong = |why: &str| told(why.to_owned());
    let (path, query) = parts(uri).map_err(wrong)?;
    let path = below(base.prefix(), path).trim_end_matches('/');
    let query: Vec<(String, String)> = query.split('&').filter(|pair| !pair.is_empty()).map(pair).collect();
    let (row, ids) = find(path, query.iter().any(|(name, _)| name.eq_ignore_ascii_case("format"))).map_err(wrong)?;
    let names = row.parameters.iter().filter(|parameter| parameter.place == Place::Path);
    let mut followed =
        Followed { row, given: names.map(|parameter| parameter.name).zip(ids).collect(), page_size: None, page: None };
    for (name, value) in query {
        let is_named = |wire: &str| wire.eq_ignore_ascii_case(&name);
        let number = |what: &str| told(format!("has `{value}` as {what}, which takes a whole number"));
        let parameter =
            row.parameters.iter().find(|parameter| parameter.place == Place::Query && is_named(parameter.wire));
        match parameter {
            Some(parameter) if !parameter.is_constant() => followed.given.push((parameter.name, value)),
            Some(parameter) if parameter.default.is_some_and(|only| only.eq_ignore_ascii_case(&value)) => {}
            Some(_) => {
                return Err(told(format!("asks for the format `{value}`, which {} does not have", row.full_name)));
            }
            None if is_named("pagesize") => followed.page_size = Some(value.parse().map_err(|_| number("pagesize"))?),
            None if is_named("page") => followed.page = Some(value.parse().map_err(|_| number("page"))?),
            None => {
                return Err(told(format!("has the parameter `{name}`, which {} does not take", row.full_name)));
            }
        }
    }
    if !row.paged {
        // The specification lists them for some details, without an effect (4.2).
        (followed.page_size, followed.page) = (None, None);
    }
    Arguments::new(row, &followed.given)?;
    Ok(followed)
}

/// Path and query of an address.
fn parts(uri: &str) -> std::result::Result<(&str, &str), &'static str> {
    const ABSOLUTE: &str = "is no absolute address: write it as the service gives it, such as https://host/jobdata/31";
    let (scheme, rest) = uri.split_once("://").ok_or(ABSOLUTE)?;
    if !(scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http")) {
        return Err("has another scheme than https");
    }
    if uri.chars().any(|c| c.is_whitespace() || c.is_control() || matches!(c, '\\' | '#')) {
        return Err("holds a space, a backslash, a fragment or a control character");
    }
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (host, rest) = rest.split_at(end);
    if host.contains('@') {
        return Err("holds a user name or a password: the service takes keys");
    }
    if host.is_empty() {
        return Err("names no host");
    }
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    if path.split('/').any(|segment| matches!(decode(segment).as_str(), "." | "..")) {
        return Err("climbs with `.` or `..`");
    }
    Ok((path, query))
}

/// The path below the base's own, where the address has that, too.
fn below<'a>(prefix: &str, path: &'a str) -> &'a str {
    match path.split_at_checked(prefix.len()) {
        Some((front, rest)) if front.eq_ignore_ascii_case(prefix) && rest.starts_with('/') => rest,
        _ => path,
    }
}

/// A pair of a query, as it was meant.
fn pair(text: &str) -> (String, String) {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    (decode(&name.replace('+', " ")), decode(&value.replace('+', " ")))
}

/// The rows below the base address.
fn signed() -> impl Iterator<Item = &'static Endpoint> {
    api::rows().filter(|row| row.service() == Service::FieldData)
}

/// The row that reads from a path, with the ids in it; the one that names most of the path itself.
fn find(path: &str, wants_file: bool) -> std::result::Result<(&'static Endpoint, Vec<String>), &'static str> {
    let here = || signed().filter_map(|row| Some((row, ids(row.path, path)?)));
    let fewest = here().map(|(_, ids)| ids.len()).min().ok_or("is the address of nothing that the interface has")?;
    let mut readable = here().filter(|(row, ids)| row.method == Method::Get && ids.len() == fewest).peekable();
    match readable.peek() {
        None => return Err("is the address of something that cannot be read"),
        Some((row, _)) if !row.is_implemented() => return Err("is an address that the service does not implement"),
        Some(_) => {}
    }
    readable
        .find(|(row, _)| match row.returns {
            Returns::File => wants_file,
            Returns::Detail(_) | Returns::OneOf(_) | Returns::Index(_) => !wants_file,
            _ => false,
        })
        .ok_or("asks for a format where there is no file")
}

/// The ids in a path of that form.
fn ids(form: &str, path: &str) -> Option<Vec<String>> {
    let (mut words, mut segments) = (form.split('/'), path.split('/'));
    let mut ids = Vec::new();
    loop {
        match (words.next(), segments.next()) {
            (None, None) => return Some(ids),
            (Some(word), Some(segment)) if word.starts_with('{') && !segment.is_empty() => ids.push(decode(segment)),
            (Some(word), Some(segment)) if word.eq_ignore_ascii_case(segment) => {}
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn followed(uri: &str) -> Result<Followed> {
        follow(&Base::parse("https://proxy.example.com:8443/Farm").unwrap(), uri)
    }

    #[test]
    fn every_row_that_reads_is_found_by_its_own_address() {
        for row in signed().filter(|row| row.method == Method::Get && row.is_implemented()) {
            let path = row.path.replace("{id}", "3%201").to_uppercase();
            let format = row.parameter("format").map_or("", |_| "?FORMAT=bin");
            let call = followed(&format!("HTTPS://production.example.com{path}{format}")).unwrap();
            assert_eq!((call.row.path, call.row.method), (row.path, Method::Get));
            assert_eq!(call.row.parameter("format").is_some(), row.parameter("format").is_some(), "{}", row.full_name);
            if row.path.contains("{id}") {
                assert_eq!(call.given[0], ("id", "3 1".to_owned()));
            }
        }
    }

    #[test]
    fn the_query_says_the_rest() {
        for (uri, name, given, paging) in [
            (
                "https://production.example.com/FARM/FieldComputers/460/JobData/?minid=7&pagesize=5&page=2",
                "field_computers.job_data",
                vec![("id", "460"), ("min_id", "7")],
                (Some(5), Some(2)),
            ),
            (
                "http://production.example.com/JobData/31?format=SHP&pageSize=20&page=0",
                "job_data.download",
                vec![("id", "31"), ("format", "SHP")],
                (None, None),
            ),
            ("https://x.org/graincart/8?format=bin", "grain_carts.download", vec![("id", "8")], (None, None)),
        ] {
            let call = followed(uri).unwrap();
            let found: Vec<_> = call.given.iter().map(|(name, value)| (*name, value.as_str())).collect();
            assert_eq!((call.row.full_name, found), (name, given), "{uri}");
            assert_eq!((call.page_size, call.page), paging, "{uri}");
        }
    }

    #[test]
    fn what_is_wrong_with_an_address_is_named() {
        for (uri, why) in [
            ("", "absolute"),
            ("/jobdata/31", "absolute"),
            ("//x.org/jobdata/31", "absolute"),
            ("ftp://x.org/jobdata/31", "scheme"),
            ("file:///jobdata/31", "scheme"),
            ("https:///jobdata/31", "no host"),
            ("https://joe:hunter2@x.org/jobdata/31", "password"),
            ("https://x.org/a/../jobdata/31", "climbs"),
            ("https://x.org/jobdata/%2E%2e", "climbs"),
            ("https://x.org/jobdata/31#x", "fragment"),
            ("https://x.org\\jobdata/31", "backslash"),
            ("https://x.org/jobdata/3 1", "space"),
            ("https://x.org", "nothing that"),
            ("https://x.org/", "nothing that"),
            ("https://x.org/other/jobdata/31", "nothing that"),
            ("https://x.org/jobdata/31/x", "nothing that"),
            ("https://x.org/jobdata/3%2F1", "'/'"),
            ("https://x.org/prescriptionmaps/1/fieldcomputers/2", "cannot be read"),
            ("https://x.org/fieldcomputers/all/locations", "does not implement"),
            ("https://x.org/fieldcomputers?format=x", "format"),
            ("https://x.org/graincart/8?format=SHP", "format"),
            ("https://x.org/jobdata/31?format=PDF", "PDF"),
            ("https://x.org/jobdata?colour=red", "colour"),
            ("https://x.org/jobdata?page=two", "two"),
            ("https://x.org/jobdata?date=soon", "soon"),
        ] {
            let error = followed(uri).unwrap_err();
            assert_eq!(error.kind(), Kind::Value, "{uri}");
            assert!(error.message().contains(why), "{uri}: {error}");
            assert!(!error.message().contains("hunter2"), "{error}");
        }
    }
}
