//! Finds the job types of a dataset that callers name in another spelling, or by their names in lists.

use std::collections::BTreeSet;

use headland_agronomy::{JobType, JobTypes, Match};
use headland_base::error::{Error, Kind, Result};

/// Type in the dataset of jobs for which neither list nor detail states a kind.
const UNKNOWN: &str = "Unknown";

/// The types of the dataset for a word: all that may be of a kind, since the details that decide have been read; those
/// of another spelling; or the type in details of a listed one.
pub(super) fn select_types(asked: &str, existing: &BTreeSet<String>) -> Result<BTreeSet<String>> {
    let types = JobTypes::new(&[asked.to_owned()])?;
    let is_found = |name: &&String| {
        let label = (*name != UNKNOWN).then_some(name.as_str());
        *name == asked || types.match_label(label) != Match::No
    };
    let found: BTreeSet<String> = existing.iter().filter(is_found).cloned().collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let label = JobType::find(asked).filter(|known| !known.is_kind);
    let details = label.map_or(&[][..], |label| label.details);
    if let [detail] = details
        && let Some(found) = existing.get(*detail)
    {
        return Ok(BTreeSet::from([found.clone()]));
    }
    let is_other = details.iter().any(|detail| JobType::plain(detail) != JobType::plain(asked));
    let hint = if is_other {
        format!("; in a dataset, the listed type '{asked}' is {}", either(details))
    } else {
        String::new()
    };
    let all: Vec<&str> = existing.iter().map(String::as_str).collect();
    let all = if all.is_empty() { "none".to_owned() } else { all.join(", ") };
    Err(Error::new(Kind::Value, format!("there is no job type '{asked}' in the dataset; there are: {all}{hint}")))
}

fn either(kinds: &[&str]) -> String {
    kinds.iter().map(|kind| format!("'{kind}'")).collect::<Vec<_>>().join(" or ")
}
