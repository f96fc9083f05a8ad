//! Status of a mirror, from its journal and its published folders; makes no calls.

use std::path::PathBuf;

use chrono::{DateTime, Utc};

use super::archive_store::{Finding, Problem};
use super::journal::{Calls, FileState, ItemKind, Journal, ReadTxn, StateCount};
use super::layout::Folder;
use super::layout::POINTER;
use super::options::Options;
use super::renewed_key;
use super::sync_cycle::{SyncCycle, is_relist_due};
use headland_base::error::Result;

/// Maximum number of unavailable records listed.
const MAX_NAMED: usize = 20;

/// Record whose file or detail is unavailable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unavailable {
    /// Job or grain cart.
    pub kind: ItemKind,
    /// Id.
    pub id: String,
    /// Name.
    pub name: String,
    /// File state, `failed` or `quarantined`; or `no detail` if the service refused the detail of a job.
    pub state: &'static str,
    /// The reason.
    pub reason: String,
}

/// Status of a mirror.
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    /// Path of the folder.
    pub path: PathBuf,
    /// Jobs and grain carts by kind and file state.
    pub states: Vec<StateCount>,
    /// Stored archives.
    pub archives: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Details of jobs not read yet.
    pub details_due: u64,
    /// When the first conversion in progress may be requested.
    pub next_ready_at: Option<DateTime<Utc>>,
    /// Time of the last list of jobs.
    pub listed_at: Option<DateTime<Utc>>,
    /// Time of the last full list of jobs. Later changes that no other list shows are unknown.
    pub relisted_at: Option<DateTime<Utc>>,
    /// Whether the next sync lists all jobs.
    pub relist_due: bool,
    /// Start of an unfinished sync.
    pub unfinished_since: Option<DateTime<Utc>>,
    /// Time of the lists of a plan that no sync has followed yet.
    pub planned_at: Option<DateTime<Utc>>,
    /// Calls by purpose, of the last run and in total.
    pub calls: Vec<Calls>,
    /// Published generation.
    pub generation: Option<u64>,
    /// Whether it shows everything in the journal: all records, and the rows of all downloaded files.
    pub is_published: bool,
    /// Why readers do not get the last publication, if a generation or folder was removed, and what to do.
    pub lost: Option<String>,
    /// Some of the unavailable files and details.
    pub unavailable: Vec<Unavailable>,
}

/// Digests of the account that the folder mirrors: that of its access key, and those of earlier keys. None without a
/// journal.
pub fn accounts(path: &std::path::Path) -> Result<Vec<String>> {
    if !path.join("journal.sqlite").is_file() {
        return Ok(Vec::new());
    }
    let folder = Folder::open(path, false)?;
    Journal::open(&folder, None)?.read(renewed_key::accounts)
}

/// Kinds in the list of jobs that the mirror has read; none without a journal.
pub(super) fn listed_types(path: &std::path::Path) -> Result<Vec<String>> {
    if !path.join("journal.sqlite").is_file() {
        return Ok(Vec::new());
    }
    let folder = Folder::open(path, false)?;
    let counts = Journal::open(&folder, None)?.read(ReadTxn::count_items)?;
    let mut listed: Vec<String> = counts.into_iter().filter_map(|count| count.sub_type).collect();
    listed.dedup();
    Ok(listed)
}

pub(super) fn read(path: &std::path::Path, options: &Options, now: DateTime<Utc>) -> Result<Status> {
    let folder = Folder::open(path, false)?;
    let journal = Journal::open(&folder, None)?;
    let generation = folder.current()?.map(|current| current.number);
    journal.read(|txn| {
        let (archives, bytes) = txn.count_archives()?;
        let published = txn.published()?;
        let cycle = SyncCycle::load(txn)?;
        Ok(Status {
            path: path.to_owned(),
            details_due: txn.count_details_due()?,
            next_ready_at: txn.next_ready_at()?,
            archives,
            bytes,
            states: txn.count_items()?,
            listed_at: txn.cursor("job_data.list")?.read_at,
            relisted_at: txn.relist()?.last_full_at,
            relist_due: is_relist_due(txn, options, now)?,
            unfinished_since: cycle.as_ref().filter(|cycle| !cycle.is_plan).map(|cycle| cycle.began),
            planned_at: cycle
                .as_ref()
                .filter(|cycle| cycle.is_plan && cycle.has_read_any_list())
                .map(|cycle| cycle.began),
            calls: txn.calls()?,
            generation,
            // If the last generation was removed, an older one may be current.
            is_published: published.is_some_and(|published| {
                generation.unwrap_or(0) == published.generation
                    && txn.revision().is_ok_and(|now| now == published.revision)
            }),
            lost: damage_message(&folder, txn)?,
            unavailable: list_unavailable(txn)?,
        })
    })
}

/// Message why readers do not get the last publication: a generation is missing, or folders differ from it.
fn damage_message(folder: &Folder, txn: &ReadTxn) -> Result<Option<String>> {
    let findings = match find_lost(folder, txn)? {
        Some(lost) => vec![lost],
        None => folder.outdated_folders()?,
    };
    let sentences: Vec<String> = findings.iter().map(ToString::to_string).collect();
    Ok((!sentences.is_empty()).then(|| sentences.join("; ")))
}

/// The removed file if readers do not get the last publication: the pointer, or the folder of that generation.
pub(super) fn find_lost(folder: &Folder, txn: &ReadTxn) -> Result<Option<Finding>> {
    // The journal records a generation after the pointer names it, and is read first.
    let last = txn.published()?.map_or(0, |published| published.generation);
    let newest = folder.newest()?.map_or(0, |newest| newest.number);
    let (name, why) = match folder.current()? {
        Some(current) if current.number < last => {
            (format!("generations/{last:06}"), format!("readers get the older generation {}", current.number))
        }
        None if newest < last => (format!("generations/{last:06}"), "the published state is missing".to_owned()),
        None if newest > 0 => (POINTER.to_owned(), "readers do not find the published state".to_owned()),
        _ => return Ok(None),
    };
    let detail = format!("{why}; sync again to repair that");
    Ok(Some(Finding { problem: Problem::Missing, path: folder.path().join(name), detail }))
}

fn list_unavailable(txn: &ReadTxn) -> Result<Vec<Unavailable>> {
    let mut unavailable = Vec::new();
    for state in ["failed", "quarantined"] {
        for item in txn.in_state(state, MAX_NAMED)? {
            if let FileState::Failed { reason, .. } | FileState::Quarantined { reason, .. } = item.file {
                unavailable.push(Unavailable { kind: item.kind, id: item.id, name: item.name, state, reason });
            }
        }
    }
    let (kind, state) = (ItemKind::Job, "no detail");
    let refused = txn.without_detail(MAX_NAMED)?.into_iter();
    unavailable.extend(refused.map(|(id, name, reason)| Unavailable { kind, id, name, state, reason }));
    Ok(unavailable)
}
