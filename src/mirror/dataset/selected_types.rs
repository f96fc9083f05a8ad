//! Finds the job types of a dataset that callers name in another spelling, or by their names in lists.

use std::collections::BTreeSet;

use crate::agronomy::JobType;
use crate::error::{Error, Kind, Result};

/// The type of the dataset for a name: an exact match, another spelling, or the type in details of the named jobs.
pub(super) fn select_type(asked: &str, existing: &BTreeSet<String>) -> Result<String> {
    if existing.contains(asked) {
        return Ok(asked.to_owned());
    }
    let plain = JobType::plain(asked);
    let known = JobType::find(asked);
    let details = known.map_or(&[][..], |known| known.details);
    let mut found: Vec<&str> =
        existing.iter().map(String::as_str).filter(|kind| !plain.is_empty() && JobType::plain(kind) == plain).collect();
    if let (true, [detail]) = (found.is_empty(), details) {
        found.extend(existing.get(*detail).map(String::as_str));
    }
    match *found {
        [one] => Ok(one.to_owned()),
        [] => {
            let what = known.filter(|known| known.listed.contains(&&*plain)).map_or("", |_| "the listed type ");
            let is_other = details.iter().any(|detail| JobType::plain(detail) != plain);
            let hint = if is_other {
                format!("; in a dataset, {what}'{asked}' is {}", either(details))
            } else {
                String::new()
            };
            let all: Vec<&str> = existing.iter().map(String::as_str).collect();
            let all = if all.is_empty() { "none".to_owned() } else { all.join(", ") };
            Err(value_error(format!("there is no job type '{asked}' in the dataset; there are: {all}{hint}")))
        }
        _ => Err(value_error(format!("`job_type` '{asked}' is ambiguous: pass {}, as in the dataset", either(&found)))),
    }
}

fn either(kinds: &[&str]) -> String {
    kinds.iter().map(|kind| format!("'{kind}'")).collect::<Vec<_>>().join(" or ")
}

fn value_error(message: String) -> Error {
    Error::new(Kind::Value, message)
}
