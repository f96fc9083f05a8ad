//! Selects the jobs of a dataset by types, as lists and reads of the service do: the label of the list decides, and the
//! detail where the label leaves the kind open.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_schema::{DataType, Field, Schema};

use super::footer;
use super::published::{Dataset, Part};
use super::row_groups::{RowGroups, read};
use headland_agronomy::{JobType, JobTypes, Match};
use headland_base::error::{Error, Kind, Result};
use headland_reader::layer::Cancel;

/// Type in the dataset of jobs for which neither list nor detail states a kind.
const UNKNOWN: &str = "Unknown";

/// Table of the jobs, and its columns.
const JOBS: &str = "jobs";
const ID: &str = "id";
const LABEL: &str = "sub_type";

/// The parts with rows of jobs of these types, each with the ids of these jobs if it has rows of others too.
pub(super) fn select_jobs(dataset: &Dataset, parts: Vec<Part>, asked: &[String], cancel: &Cancel) -> Result<Vec<Part>> {
    let words = asked.iter().map(|word| Word::new(word)).collect::<Result<Vec<_>>>()?;
    let labels = labels(dataset, cancel)?;
    let mut is_found = vec![false; words.len()];
    let mut selected = Vec::new();
    for mut part in parts {
        let origins = dataset.manifest.parts.get(part.index).map(|part| part.origins.as_slice()).unwrap_or_default();
        let (mut jobs, mut is_whole) = (BTreeSet::new(), true);
        let job_type = part.job_type.as_deref();
        for origin in origins {
            let is_job = origin.kind == "job";
            let label = if is_job { labels.get(&origin.job_id).map(String::as_str) } else { job_type };
            let mut is_selected = false;
            for (word, is_found) in words.iter().zip(&mut is_found) {
                if word.includes(label, job_type) {
                    (is_selected, *is_found) = (true, true);
                }
            }
            is_whole &= is_selected;
            if is_selected {
                jobs.insert(origin.job_id.clone());
            }
        }
        if !jobs.is_empty() {
            part.jobs = (!is_whole).then(|| jobs.into_iter().collect());
            selected.push(part);
        }
    }
    match words.iter().zip(is_found).find(|(_, is_found)| !is_found) {
        Some((word, _)) => Err(word.error(&dataset.job_types())),
        None => Ok(selected),
    }
}

/// A word of the caller.
struct Word<'a> {
    text: &'a str,
    types: JobTypes,
}

impl<'a> Word<'a> {
    fn new(text: &'a str) -> Result<Self> {
        Ok(Self { text, types: JobTypes::new(&[text.to_owned()])? })
    }

    /// Whether a job with this label in the list, and this type in the dataset, is of the type.
    fn includes(&self, label: Option<&str>, job_type: Option<&str>) -> bool {
        match self.types.match_label(label) {
            Match::Yes => true,
            Match::Maybe => self.types.includes_detail(job_type.filter(|job_type| *job_type != UNKNOWN)),
            // Such as `Soil Sampling`, which only details name.
            Match::No => job_type.is_some_and(|job_type| {
                self.types.has_unlisted() && JobType::plain(job_type) == JobType::plain(self.text)
            }),
        }
    }

    /// The error if no job is of the type.
    fn error(&self, existing: &BTreeSet<String>) -> Error {
        let asked = self.text;
        let label = JobType::find(asked).filter(|known| !known.is_kind);
        let details = label.map_or(&[][..], |label| label.details);
        let is_other = details.iter().any(|detail| JobType::plain(detail) != JobType::plain(asked));
        let hint = if is_other {
            let kinds = details.iter().map(|kind| format!("'{kind}'")).collect::<Vec<_>>().join(" or ");
            format!("; '{asked}' is a label of lists, and {kinds} selects all jobs of its kind")
        } else {
            String::new()
        };
        let all: Vec<&str> = existing.iter().map(String::as_str).collect();
        let all = if all.is_empty() { "none".to_owned() } else { all.join(", ") };
        let message = format!("there is no job type '{asked}' in the dataset; there are: {all}{hint}");
        Error::new(Kind::Value, message)
    }
}

/// The labels of jobs in the list, by their ids.
fn labels(dataset: &Dataset, cancel: &Cancel) -> Result<HashMap<String, String>> {
    let is_jobs = |path: &str| Path::new(path).file_stem().is_some_and(|stem| stem == JOBS);
    let Some(table) = dataset.manifest.catalog.iter().find(|table| is_jobs(&table.path)) else {
        return Ok(HashMap::new());
    };
    let path = dataset.path().join(&table.path);
    let groups = footer::read(&path, &table.crc32)?.groups.iter().map(|group| group.index).collect();
    let crc32 = table.crc32.clone();
    let rows = RowGroups { path, crc32, job_type: None, year: None, groups, bounds: None, jobs: None };
    let schema = Schema::new([ID, LABEL].map(|name| Field::new(name, DataType::Utf8, true)).to_vec());
    let mut labels = HashMap::new();
    for batch in read(&[rows], &Arc::new(schema), None, cancel)? {
        let texts = |index: usize| batch.columns().get(index).and_then(|column| column.as_string_opt::<i32>());
        for (id, label) in texts(0).into_iter().flatten().zip(texts(1).into_iter().flatten()) {
            labels.extend(id.zip(label).map(|(id, label)| (id.to_owned(), label.to_owned())));
        }
    }
    Ok(labels)
}
