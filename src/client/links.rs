//! Addresses in records: finds the row and the arguments of an address, to request it from the configured base.
//!
//! The host in the address is never contacted.

use super::arguments::{Arguments, decode};
use crate::transport::{BaseUrl, redacted};
use headland_api::{self as api, Endpoint, Method, Place, Returns, Service};
use headland_base::error::{Error, Kind, Result};

/// The call for an address.
#[derive(Debug)]
pub struct ResolvedLink {
    /// The row.
    pub row: &'static Endpoint,
    /// The arguments by their Python names.
    pub given: Vec<(&'static str, String)>,
    /// Records per page, if the address states it.
    pub page_size: Option<u32>,
    /// The page, if the address states it.
    pub page: Option<u64>,
}

/// Finds the call for an address; an invalid address is an error before any call.
pub(super) fn resolve(base: &BaseUrl, uri: &str) -> Result<ResolvedLink> {
    let error = |why: String| Error::new(Kind::Value, format!("the uri `{}` {why}", redacted(uri)));
    let wrong = |why: &str| error(why.to_owned());
    let (path, query) = split_uri(uri).map_err(wrong)?;
    let path = strip_base(base.prefix(), path).trim_end_matches('/');
    let query: Vec<(String, String)> = query.split('&').filter(|pair| !pair.is_empty()).map(decode_pair).collect();
    let (row, ids) =
        find_row(path, query.iter().any(|(name, _)| name.eq_ignore_ascii_case("format"))).map_err(wrong)?;
    let names = row.parameters.iter().filter(|parameter| parameter.place == Place::Path);
    let mut resolved = ResolvedLink {
        row,
        given: names.map(|parameter| parameter.name).zip(ids).collect(),
        page_size: None,
        page: None,
    };
    for (name, value) in query {
        let is_named = |wire: &str| wire.eq_ignore_ascii_case(&name);
        let number = |what: &str| error(format!("has `{value}` as {what}: expected a whole number"));
        let parameter =
            row.parameters.iter().find(|parameter| parameter.place == Place::Query && is_named(parameter.wire));
        match parameter {
            Some(parameter) if !parameter.is_constant() => resolved.given.push((parameter.name, value)),
            Some(parameter) if parameter.default.is_some_and(|only| only.eq_ignore_ascii_case(&value)) => {}
            Some(_) => {
                return Err(error(format!("requests the format `{value}`, which {} does not have", row.full_name)));
            }
            None if is_named("pagesize") => resolved.page_size = Some(value.parse().map_err(|_| number("pagesize"))?),
            None if is_named("page") => resolved.page = Some(value.parse().map_err(|_| number("page"))?),
            None => {
                return Err(error(format!("has the parameter `{name}`, which {} does not accept", row.full_name)));
            }
        }
    }
    if !row.paged {
        // The specification lists them for some details, without an effect (4.2).
        (resolved.page_size, resolved.page) = (None, None);
    }
    Arguments::new(row, &resolved.given)?;
    Ok(resolved)
}

/// Path and query of an address.
fn split_uri(uri: &str) -> std::result::Result<(&str, &str), &'static str> {
    const ABSOLUTE: &str = "is not an absolute URL: pass it as the service returns it, such as https://host/jobdata/31";
    let (scheme, rest) = uri.split_once("://").ok_or(ABSOLUTE)?;
    if !(scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http")) {
        return Err("has another scheme than https");
    }
    if uri.chars().any(|c| c.is_whitespace() || c.is_control() || matches!(c, '\\' | '#')) {
        return Err("contains a space, a backslash, a fragment or a control character");
    }
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (host, rest) = rest.split_at(end);
    if host.contains('@') {
        return Err("contains a user name or a password: the service uses keys");
    }
    if host.is_empty() {
        return Err("has no host");
    }
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    if path.split('/').any(|segment| matches!(decode(segment).as_str(), "." | "..")) {
        return Err("contains a segment `.` or `..`");
    }
    Ok((path, query))
}

/// Removes the path prefix of the base, if the path has it.
fn strip_base<'a>(prefix: &str, path: &'a str) -> &'a str {
    match path.split_at_checked(prefix.len()) {
        Some((front, rest)) if front.eq_ignore_ascii_case(prefix) && rest.starts_with('/') => rest,
        _ => path,
    }
}

/// Decodes a pair of a query.
fn decode_pair(text: &str) -> (String, String) {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    (decode(&name.replace('+', " ")), decode(&value.replace('+', " ")))
}

/// The rows of the field data API.
fn field_data_rows() -> impl Iterator<Item = &'static Endpoint> {
    api::rows().filter(|row| row.service() == Service::FieldData)
}

/// The row that reads a path, and the ids in the path. The row with the fewest ids takes precedence.
fn find_row(path: &str, wants_file: bool) -> std::result::Result<(&'static Endpoint, Vec<String>), &'static str> {
    let here = || field_data_rows().filter_map(|row| Some((row, row.match_path(path)?)));
    let fewest = here().map(|(_, ids)| ids.len()).min().ok_or("is not a path of the interface")?;
    let mut readable = here().filter(|(row, ids)| row.method == Method::Get && ids.len() == fewest).peekable();
    match readable.peek() {
        None => return Err("is the path of something that cannot be read"),
        Some((row, _)) if !row.is_implemented() => return Err("is a path that the service does not implement"),
        Some(_) => {}
    }
    readable
        .find(|(row, _)| match row.returns {
            Returns::File => wants_file,
            Returns::Detail(_) | Returns::OneOf(_) | Returns::Index(_) => !wants_file,
            _ => false,
        })
        .map(|(row, ids)| (row, ids.into_iter().map(decode).collect()))
        .ok_or("requests a format, but is not the path of a file")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(uri: &str) -> Result<ResolvedLink> {
        resolve(&BaseUrl::parse("https://proxy.example.com:8443/Farm").unwrap(), uri)
    }

    #[test]
    fn links_to_all_readable_rows_are_resolved() {
        for row in field_data_rows().filter(|row| row.method == Method::Get && row.is_implemented()) {
            let path = row.path.replace("{id}", "3%201").to_uppercase();
            let format = row.parameter("format").map_or("", |_| "?FORMAT=bin");
            let call = resolved(&format!("HTTPS://production.example.com{path}{format}")).unwrap();
            assert_eq!((call.row.path, call.row.method), (row.path, Method::Get));
            assert_eq!(call.row.parameter("format").is_some(), row.parameter("format").is_some(), "{}", row.full_name);
            if row.path.contains("{id}") {
                assert_eq!(call.given[0], ("id", "3 1".to_owned()));
            }
        }
    }

    #[test]
    fn link_query_gives_arguments_and_paging() {
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
            let call = resolved(uri).unwrap();
            let found: Vec<_> = call.given.iter().map(|(name, value)| (*name, value.as_str())).collect();
            assert_eq!((call.row.full_name, found), (name, given), "{uri}");
            assert_eq!((call.page_size, call.page), paging, "{uri}");
        }
    }

    #[test]
    fn invalid_link_error_names_the_cause() {
        for (uri, why) in [
            ("", "absolute"),
            ("/jobdata/31", "absolute"),
            ("//x.org/jobdata/31", "absolute"),
            ("ftp://x.org/jobdata/31", "scheme"),
            ("file:///jobdata/31", "scheme"),
            ("https:///jobdata/31", "no host"),
            ("https://joe:hunter2@x.org/jobdata/31", "password"),
            ("https://x.org/a/../jobdata/31", "contains a segment"),
            ("https://x.org/jobdata/%2E%2e", "contains a segment"),
            ("https://x.org/jobdata/31#x", "fragment"),
            ("https://x.org\\jobdata/31", "backslash"),
            ("https://x.org/jobdata/3 1", "space"),
            ("https://x.org", "not a path"),
            ("https://x.org/", "not a path"),
            ("https://x.org/other/jobdata/31", "not a path"),
            ("https://x.org/jobdata/31/x", "not a path"),
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
            let error = resolved(uri).unwrap_err();
            assert_eq!(error.kind(), Kind::Value, "{uri}");
            assert!(error.message().contains(why), "{uri}: {error}");
            assert!(!error.message().contains("hunter2"), "{error}");
        }
    }
}
