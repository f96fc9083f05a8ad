//! Filter of a sync: the jobs whose details and files are requested. The lists are always read whole.

use std::collections::BTreeSet;

use chrono::{DateTime, Days, Utc};

use super::journal::{FileState, Item, ItemKind, ReadTxn};
use headland_agronomy::{JobTypes, Match};
use headland_api as api;
use headland_api::job_data::JOB_DATA_DETAIL;
use headland_base::error::{Error, Kind, Result};
use headland_base::times::Cell;
use headland_base::times::iso::stated;
use headland_client::Arguments;
use headland_wire::{Content, Value, decode_detail};

/// Maximum number of ids that a note names.
const MAX_NAMED: usize = 20;

/// Jobs whose details and files a sync requests; by default all jobs and grain carts.
///
/// It never removes anything from the mirror. A conversion that has begun is collected, and a lost archive is requested
/// again, regardless of the filter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    job_types: Option<JobTypes>,
    /// Earliest time of creation.
    since: Option<DateTime<Utc>>,
    /// First time of creation that is too late.
    until: Option<DateTime<Utc>>,
    /// Ids of jobs.
    ids: Option<BTreeSet<String>>,
}

impl Filter {
    /// Filter of job types in any spelling, of times as ISO 8601, and of ids of jobs. `None` omits a condition. A date alone
    /// in `until` includes that day, in UTC.
    pub fn new(
        job_types: Option<&[String]>,
        since: Option<&str>,
        until: Option<&str>,
        ids: Option<&[String]>,
    ) -> Result<Self> {
        let filter = Self {
            job_types: job_types.map(JobTypes::new).transpose()?,
            since: since.map(|text| parse_time("since", text)).transpose()?,
            until: until.map(parse_end).transpose()?,
            ids: ids.map(|ids| ids.iter().map(|id| check_id(id)).collect()).transpose()?,
        };
        if let (Some(since), Some(until), Some(from), Some(to)) = (since, until, filter.since, filter.until)
            && from >= to
        {
            return Err(value_error(format!("`since` {since} is not before `until` {until}")));
        }
        Ok(filter)
    }

    /// Whether it has a condition.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.job_types.is_some() || self.since.is_some() || self.until.is_some() || self.ids.is_some()
    }

    /// Whether a word for a type is unknown, so that [`Filter::check_types`] has to compare it with the list of jobs.
    pub(super) fn has_unlisted_types(&self) -> bool {
        self.job_types.as_ref().is_some_and(JobTypes::has_unlisted)
    }

    /// Fails if a word is neither a known type nor one of those that the mirror has listed.
    pub(super) fn check_types(&self, listed: &[String]) -> Result<()> {
        self.job_types.as_ref().map_or(Ok(()), |types| types.check(listed))
    }

    /// Whether the conditions apply to an item. A job without a time of creation meets the condition for it, and a job
    /// whose label leaves its kind open meets that for it until its detail is known. Grain carts have no time in lists,
    /// and `ids` are those of jobs.
    #[must_use]
    pub fn includes(&self, item: &Item) -> bool {
        match self.match_listed(item) {
            Match::Maybe => self
                .job_types
                .as_ref()
                .zip(item.detail.as_deref())
                .is_none_or(|(types, detail)| types.includes_detail(stated_type(detail).as_deref())),
            found => found == Match::Yes,
        }
    }

    /// Whether the detail of a job decides.
    pub(super) fn needs_detail(&self, item: &Item) -> bool {
        self.match_listed(item) == Match::Maybe
    }

    /// Compares what the list states of an item.
    fn match_listed(&self, item: &Item) -> Match {
        if item.kind == ItemKind::Cart {
            let is_included = self.ids.is_none() && self.job_types.as_ref().is_none_or(JobTypes::includes_grain_carts);
            return if is_included { Match::Yes } else { Match::No };
        }
        let meets_others = self.ids.as_ref().is_none_or(|ids| ids.contains(&item.id))
            && item.created.is_none_or(|created| {
                self.since.is_none_or(|since| created >= since) && self.until.is_none_or(|until| created < until)
            });
        match &self.job_types {
            _ if !meets_others => Match::No,
            None => Match::Yes,
            Some(types) => types.match_label(item.sub_type.as_deref()),
        }
    }

    /// Whether to request the file of an item that was not requested yet.
    pub(super) fn includes_file(&self, item: &Item) -> bool {
        item.is_lost || self.includes(item)
    }

    /// Whether to request the detail of a job. The dataset needs one for each job with an archive.
    pub(super) fn includes_detail(&self, item: &Item) -> bool {
        let has_rows = item.archive.is_some() || item.is_lost || matches!(item.file, FileState::Converting { .. });
        (has_rows && item.detail.is_none()) || self.match_listed(item) != Match::No
    }

    /// Notes for the user on ids that the list of jobs does not have, or that the other conditions leave out.
    pub(super) fn notes(&self, txn: &ReadTxn) -> Result<Vec<String>> {
        let (mut missing, mut others) = (Vec::new(), Vec::new());
        for id in self.ids.iter().flatten() {
            match txn.item(ItemKind::Job, id)?.filter(|item| item.file != FileState::Gone) {
                None => missing.push(id.as_str()),
                Some(item) if !self.includes(&item) => others.push(id.as_str()),
                Some(_) => {}
            }
        }
        let note = |ids: &[&str], text: &str| (!ids.is_empty()).then(|| format!("`ids`: {text} {}", join(ids)));
        let missing = note(&missing, "the list of jobs does not have");
        Ok(missing.into_iter().chain(note(&others, "the other filters leave out")).collect())
    }
}

/// Type of a job in its stored detail.
fn stated_type(detail: &str) -> Option<String> {
    let detail = decode_detail(Content::Json, detail.as_bytes(), &JOB_DATA_DETAIL).ok()?;
    detail.get("job_type").and_then(Value::as_text).map(str::to_owned)
}

fn parse_time(name: &str, text: &str) -> Result<DateTime<Utc>> {
    stated(text).map_err(|reason| value_error(format!("`{name}` {reason}")))
}

/// First time after `until`: the time itself, or the end of a day.
fn parse_end(text: &str) -> Result<DateTime<Utc>> {
    let time = parse_time("until", text)?;
    let is_date = Cell::parse(text).clock.is_none();
    Ok(if is_date { time.checked_add_days(Days::new(1)).unwrap_or(time) } else { time })
}

/// Id of a job, checked as for a call.
fn check_id(id: &str) -> Result<String> {
    if let Some(parameter) = api::row("job_data.get").and_then(|row| row.parameter("id")) {
        Arguments::check(parameter, id, "an id of `ids`")?;
    }
    Ok(id.to_owned())
}

/// The first ids, and the number of the others.
fn join(ids: &[&str]) -> String {
    let named: Vec<String> = ids.iter().take(MAX_NAMED).map(|id| format!("`{id}`")).collect();
    let more = ids.len().saturating_sub(MAX_NAMED);
    if more > 0 { format!("{} and {more} more", named.join(", ")) } else { named.join(", ") }
}

fn value_error(message: String) -> Error {
    Error::new(Kind::Value, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Archive;

    fn item(kind: ItemKind, sub_type: Option<&str>, created: Option<&str>) -> Item {
        let created = created.map(|text| parse_time("created", text).unwrap());
        Item { sub_type: sub_type.map(str::to_owned), created, ..Item::listed(kind, "31") }
    }

    fn job(sub_type: &str) -> Item {
        item(ItemKind::Job, Some(sub_type), Some("2026-06-01T12:00:00Z"))
    }

    fn by_types(names: &[&str]) -> Result<Filter> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        Filter::new(Some(&names), None, None, None)
    }

    fn by_times(since: Option<&str>, until: Option<&str>) -> Result<Filter> {
        Filter::new(None, since, until, None)
    }

    fn message<T: std::fmt::Debug>(result: Result<T>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn filter_without_conditions_includes_everything() {
        let filter = Filter::default();
        assert!(!filter.is_set());
        assert!(filter.includes(&job("Yield")) && filter.includes(&item(ItemKind::Cart, None, None)));
    }

    #[test]
    fn detail_decides_whether_a_job_with_an_open_label_is_included() {
        let planting = by_types(&["planting"]).unwrap();
        let open = |detail: Option<&str>| Item { detail: detail.map(str::to_owned), ..job("Planter/Sprayer") };
        for (detail, is_included) in [
            (None, true),
            (Some(r#"{"JobType":"Planter"}"#), true),
            (Some(r#"{"JobType":"AsApplied"}"#), false),
            (Some("null"), true),
        ] {
            let item = open(detail);
            assert_eq!((planting.includes(&item), planting.needs_detail(&item)), (is_included, true), "{detail:?}");
            assert!(planting.includes_detail(&item), "a changed job may have another kind");
        }
        assert!(planting.includes(&job("Planter")) && !planting.needs_detail(&job("Planter")));
        assert!(planting.needs_detail(&item(ItemKind::Job, None, None)));
        let unlabelled = Item { detail: Some(r#"{"JobType":"Yield"}"#.to_owned()), ..job("") };
        assert!(!planting.includes(&unlabelled) && by_types(&["harvest"]).unwrap().includes(&unlabelled));
        let sprayer = by_types(&["Sprayer"]).unwrap();
        assert!(!sprayer.includes(&job("")) && !sprayer.includes(&job("Planter/Sprayer")));
    }

    #[test]
    fn unknown_job_type_is_an_error_unless_the_mirror_has_listed_it() {
        let filter = by_types(&["tillage"]).unwrap();
        assert!(filter.has_unlisted_types() && !by_types(&["harvest"]).unwrap().has_unlisted_types());
        assert!(message(filter.check_types(&[])).starts_with("`job_type`: unknown type `tillage`; known: "));
        assert!(filter.check_types(&["Tillage".to_owned()]).is_ok() && filter.includes(&job("Tillage")));
        assert_eq!(message(by_types(&[])), "`job_type` is empty; omit it for all job types");
    }

    #[test]
    fn since_is_inclusive_and_until_exclusive_but_a_date_includes_its_day() {
        let created = |text: &str| item(ItemKind::Job, Some("Yield"), Some(text));
        let filter = by_times(Some("2026-06-01"), Some("2026-06-02T12:00:00+02:00")).unwrap();
        for (text, is_included) in [
            ("2026-05-31T23:59:59Z", false),
            ("2026-06-01T00:00:00Z", true),
            ("2026-06-02T09:59:59Z", true),
            ("2026-06-02T10:00:00Z", false),
        ] {
            assert_eq!(filter.includes(&created(text)), is_included, "{text}");
        }
        for until in [" 2026-06-01 ", "20260601", "2026/06/01", "2026-6-1"] {
            let day = by_times(Some("2026-06-01"), Some(until)).unwrap();
            let (last, next) = (created("2026-06-01T23:59:59.9Z"), created("2026-06-02T00:00:00Z"));
            assert!(day.includes(&last) && !day.includes(&next), "{until}");
            assert!(day.includes(&item(ItemKind::Job, Some("Yield"), None)), "a job without a time is included");
        }
        assert!(by_times(None, Some("9999-12-31")).unwrap().includes(&created("9999-12-31T23:59:59Z")));
    }

    #[test]
    fn wrong_times_are_errors_that_name_the_argument() {
        assert!(
            message(by_times(Some("soon"), None)).starts_with("`since` is not a time: `soon`; write it as ISO 8601")
        );
        assert!(message(by_times(None, Some(""))).starts_with("`until` is not a time: ``"));
        for (since, until) in [("2026-06-02", "2026-06-01"), ("2026-06-01T12:00:00Z", "2026-06-01T12:00:00Z")] {
            let expected = format!("`since` {since} is not before `until` {until}");
            assert_eq!(message(by_times(Some(since), Some(until))), expected);
        }
    }

    #[test]
    fn ids_are_of_jobs_and_checked_as_for_a_call() {
        let by_ids = |ids: &[&str]| {
            Filter::new(None, None, None, Some(&ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>()))
        };
        assert!(by_ids(&["7", "31"]).unwrap().includes(&job("Yield")));
        assert!(!by_ids(&["7"]).unwrap().includes(&job("Yield")));
        assert!(!by_ids(&[]).unwrap().includes(&job("Yield")));
        assert!(!by_ids(&["31"]).unwrap().includes(&item(ItemKind::Cart, None, None)));
        assert!(message(by_ids(&["a/b"])).starts_with("an id of `ids` contains '/'"));
    }

    #[test]
    fn grain_carts_are_left_out_only_by_job_types_and_ids() {
        let cart = item(ItemKind::Cart, None, None);
        assert!(by_times(Some("2026-06-01"), None).unwrap().includes(&cart));
        assert!(by_types(&["Yield", "GrainCart"]).unwrap().includes(&cart));
        assert!(!by_types(&["Yield"]).unwrap().includes(&cart));
    }

    #[test]
    fn lost_archives_and_details_of_published_rows_are_requested_in_any_case() {
        let filter = by_types(&["Planter"]).unwrap();
        let archive = Archive { sha256: String::new(), file_name: String::new(), bytes: 0 };
        let asked = FileState::Converting { ready_at: DateTime::UNIX_EPOCH, requests: 1 };
        let requests = |item: &Item| (filter.includes_file(item), filter.includes_detail(item));
        assert_eq!(requests(&job("Yield")), (false, false));
        assert_eq!(requests(&Item { is_lost: true, ..job("Yield") }), (true, true));
        assert_eq!(requests(&Item { archive: Some(archive.clone()), ..job("Yield") }), (false, true));
        assert_eq!(requests(&Item { file: asked, ..job("Yield") }), (false, true));
        let earlier = Item { archive: Some(archive), detail: Some("{}".to_owned()), ..job("Yield") };
        assert_eq!(requests(&earlier), (false, false), "the detail of the earlier version stays");
        assert_eq!(requests(&job("Planter")), (true, true));
    }

    #[test]
    fn long_list_of_ids_is_shortened() {
        assert_eq!(join(&["7", "31"]), "`7`, `31`");
        assert!(join(&["7"; 22]).ends_with("`7` and 2 more"));
    }
}
