//! Maps a method and a path to rows of the endpoint table.

use http::request::Parts;
use http::{StatusCode, header};

use super::query::{Query, percent_decode};
use super::reply::Reply;
use headland_api::{self as api, Endpoint, Returns, Service};

/// Result of routing.
#[derive(Debug)]
pub(super) enum Route {
    /// Rows with this method and path. They differ only in how the client interprets the reply.
    Found {
        /// At least one row.
        rows: Vec<&'static Endpoint>,
        /// Decoded path parameters in the order of the path.
        ids: Vec<String>,
    },
    /// A known path with a method that it does not allow; contains the allowed methods.
    WrongMethod(Vec<&'static str>),
    /// An unknown path.
    Unknown,
}

impl Route {
    /// Finds the rows for a method and a raw path, in any letter case. A literal segment has priority over a parameter,
    /// so `all` is never an id.
    pub(super) fn find(method: &str, path: &str, query: &Query) -> Self {
        Self::find_in(Service::FieldData, method, path, query)
    }

    /// Finds the rows of one service; `path` is relative to the service's address.
    pub(super) fn find_in(service: Service, method: &str, path: &str, query: &Query) -> Self {
        let matching: Vec<(&'static Endpoint, Vec<&str>)> =
            service_rows(service).filter_map(|row| Some((row, row.match_path(path)?))).collect();
        let Some(fewest) = matching.iter().map(|(_, ids)| ids.len()).min() else { return Self::Unknown };
        let candidates: Vec<_> = matching.into_iter().filter(|(_, ids)| ids.len() == fewest).collect();
        let wants_file = query.get("format").is_some();
        let fits = |row: &Endpoint| row.method.as_str() == method;
        let is_wanted = |row: &Endpoint| row.parameter("format").is_some() == wants_file;
        // Rows without the parameter `format` ignore it, as any unknown parameter.
        let any_wanted = candidates.iter().any(|(row, _)| fits(row) && is_wanted(row));
        let rows: Vec<_> = candidates
            .iter()
            .filter(|(row, _)| fits(row) && (is_wanted(row) || !any_wanted))
            .map(|(row, _)| *row)
            .collect();
        match candidates.into_iter().next() {
            Some((_, ids)) if !rows.is_empty() => {
                Self::Found { rows, ids: ids.into_iter().map(|id| percent_decode(id, false)).collect() }
            }
            _ => Self::WrongMethod(allowed_methods(service, path)),
        }
    }

    /// Returns the row and the path parameters, or the error reply.
    pub(super) fn into_row(self, head: &Parts) -> Result<(&'static Endpoint, Vec<String>), Reply> {
        let path = head.uri.path();
        let unknown = || Reply::invalid(StatusCode::NOT_FOUND, format!("There is nothing at {path}."));
        match self {
            Self::Found { rows, ids } => rows.first().map(|row| (*row, ids)).ok_or_else(unknown),
            Self::WrongMethod(allowed) => {
                let allowed = allowed.join(", ");
                let info = format!("{path} does not accept {}; it accepts {allowed}.", head.method);
                Err(Reply::invalid(StatusCode::METHOD_NOT_ALLOWED, info).with_header(header::ALLOW, allowed))
            }
            Self::Unknown => Err(unknown()),
        }
    }

    /// Returns the full names of the rows.
    pub(super) fn names(&self) -> Vec<&'static str> {
        match self {
            Self::Found { rows, .. } => rows.iter().map(|row| row.full_name).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether the request is for a dispatch list, which is raw and continues at `Location`.
    pub(super) fn is_dispatch_list(&self) -> bool {
        matches!(self, Self::Found { rows, .. } if rows.iter().any(|row| matches!(row.returns, Returns::Listing(_))))
    }

    /// Whether the request is for a file.
    pub(super) fn is_file(&self) -> bool {
        let is_file = |row: &&Endpoint| matches!(row.returns, Returns::File | Returns::Conversion | Returns::Layer);
        matches!(self, Self::Found { rows, .. } if rows.iter().any(is_file))
    }
}

/// Returns the rows of a service.
fn service_rows(service: Service) -> impl Iterator<Item = &'static Endpoint> {
    api::rows().filter(move |row| row.service() == service)
}

/// Returns the allowed methods of a path, for `Allow`.
pub(super) fn allowed_methods(service: Service, path: &str) -> Vec<&'static str> {
    let mut methods: Vec<&'static str> =
        service_rows(service).filter(|row| row.match_path(path).is_some()).map(|row| row.method.as_str()).collect();
    methods.sort_unstable();
    methods.dedup();
    methods
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(method: &str, path: &str, query: &str) -> Route {
        Route::find(method, path, &Query::parse(query))
    }

    #[test]
    fn path_in_any_letter_case_finds_its_row() {
        for row in api::rows() {
            let path = row.path.to_uppercase();
            let query = if row.parameter("format").is_some() { "FORMAT=shp" } else { "" };
            let route = Route::find_in(row.service(), row.method.as_str(), &path, &Query::parse(query));
            assert!(route.names().contains(&row.full_name), "{}: {route:?}", row.full_name);
        }
    }

    #[test]
    fn parameter_format_selects_the_file_row() {
        assert_eq!(find("GET", "/jobdata/31", "").names(), ["job_data.get", "job_data.products"]);
        let route = find("GET", "/JobData/3%201", "format=BIN");
        assert_eq!(route.names(), ["job_data.download", "job_data.request", "job_data.read"]);
        assert!(route.is_file());
        assert!(matches!(route, Route::Found { ids, .. } if ids == ["3 1"]));
        assert_eq!(find("GET", "/fieldcomputers", "format=x").names(), ["field_computers.list"]);
    }

    #[test]
    fn wrong_method_and_unknown_path_are_distinguished() {
        assert!(matches!(find("DELETE", "/jobdata", ""), Route::WrongMethod(allow) if allow == ["GET", "POST"]));
        assert!(matches!(find("POST", "/jobdata/31", "format=SHP"), Route::WrongMethod(allow) if allow == ["GET"]));
        for path in ["/", "", "/jobdata/", "/jobdata/31/x", "//jobdata", "/nothing"] {
            assert!(matches!(find("GET", path, ""), Route::Unknown), "{path}");
        }
    }
}
