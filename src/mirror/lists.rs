//! The lists of an account, page by page, each page one step of the journal.
//!
//! The least that the interface allows: jobs from the newest seen on, less an overlap, or all of them where a relist is
//! due; field hubs with their last reports in one list; the current locations of computers in one. `minid` is not used:
//! the list of all jobs has what the lists of the computers have, with dates.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::try_join_all;

use super::journal::{Cursor, Item, ItemKind, Listed, Reading, Step, Vanished};
use super::sync_cycle::Round;
use super::writer::{Run, ends_all};
use crate::api::{self, Endpoint, Returns, Shape};
use crate::client::{Arguments, Position};
use crate::error::{Error, Kind, Result};
use crate::transport::Notices;
use crate::wire::time::write;
use crate::wire::{Value, encode_json};

/// The recommended maximum of specification 4.1.
pub(super) const PAGE: u32 = 1_000;

/// A list of the account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    /// All jobs, or those from some time on.
    Jobs,
    /// Grain cart files.
    Carts,
    /// Field computers.
    Computers,
    /// Where they are now; tells which of them have new locations.
    Places,
    /// Field hubs with their last reports; tells the same of hubs.
    Hubs,
    /// Prescription maps.
    Maps,
}

/// Every list.
pub(super) const LISTS: [List; 6] = [List::Jobs, List::Carts, List::Computers, List::Places, List::Hubs, List::Maps];

impl List {
    /// The full name of its row, which names its cursor, too.
    pub(super) const fn row_name(self) -> &'static str {
        match self {
            Self::Jobs => "job_data.list",
            Self::Carts => "grain_carts.list",
            Self::Computers => "field_computers.list",
            Self::Places => "field_computers.current_locations",
            Self::Hubs => "field_hubs.reports",
            Self::Maps => "prescription_maps.list",
        }
    }

    /// The kind of its records in the journal; jobs and grain carts are items instead.
    pub(super) const fn records(self) -> &'static str {
        match self {
            Self::Jobs => "job_data",
            Self::Carts => "grain_carts",
            Self::Computers => "field_computers",
            Self::Places => "current_locations",
            Self::Hubs => "field_hubs",
            Self::Maps => "prescription_maps",
        }
    }

    const fn item_kind(self) -> Option<ItemKind> {
        match self {
            Self::Jobs => Some(ItemKind::Job),
            Self::Carts => Some(ItemKind::Cart),
            _ => None,
        }
    }
}

/// Reads the lists that this round has not read.
pub(super) async fn read_all(run: &Run, round: &Round) -> Result<()> {
    try_join_all(LISTS.map(|list| read(run, round, list))).await.map(drop)
}

async fn read(run: &Run, round: &Round, list: List) -> Result<()> {
    let row = row(list.row_name())?;
    let cursor = run.journal.look(|look| look.cursor(row.full_name))?;
    if round.has_read(row.full_name) {
        return Ok(());
    }
    match pages(run, round, list, row, cursor).await {
        // A key may give jobs and not, say, grain carts, and a service may have no hubs: what it gives is mirrored.
        Err(error) if list != List::Jobs && !ends_all(&error) => {
            run.note(format!("{} cannot be had: {error}", row.full_name));
            run.journal.step(|step| {
                let cursor = step.cursor(row.full_name)?;
                Round::mark(step, row.full_name, true)?;
                step.set_cursor(row.full_name, &Cursor { unfinished: None, ..cursor })
            })
        }
        other => other,
    }
}

async fn pages(run: &Run, round: &Round, list: List, row: &'static Endpoint, mut cursor: Cursor) -> Result<()> {
    let since = match (list, round.relist) {
        (List::Jobs, None) => cursor.newest_created.and_then(|newest| back(newest, run.options.overlap)),
        _ => None,
    };
    let given: Vec<(&str, String)> = since.iter().map(|since| ("date", write(since))).collect();
    let warnings = Arc::new(Notices::default());
    let pages = run.client.pages(row, Arguments::new(row, &given)?, Some(PAGE), None)?;
    let mut pages = pages.one_by_one().on_error(run.options.on_error).warning(&warnings);
    let begun = cursor.unfinished.filter(|_| round.has_begun(row.full_name));
    let began_at = begun.map_or_else(|| run.now(), |reading| reading.began_at);
    if let (Some(reading), Some(kind), Some(number)) = (begun, list.item_kind(), round.relist) {
        let known: Vec<Item> = run.journal.look(|look| look.items(kind))?;
        let known = known.iter().filter(|item| item.seen == number).map(|item| item.id.as_str());
        let at = Position { page: reading.pages_done, total: reading.total_count, is_at_end: false };
        pages = pages.resumed(at, known);
    }
    while let Some(page) = pages.next_page().await? {
        warnings.take().into_iter().for_each(|text| run.note(text));
        let at = pages.position();
        let now = run.now();
        let newest = page.iter().filter_map(|item| time(item, "create_date")).max();
        cursor.newest_created = cursor.newest_created.max(newest);
        let reading = Reading { pages_done: at.page, total_count: at.total, began_at };
        cursor.unfinished = (!at.is_at_end).then_some(reading);
        if at.is_at_end {
            cursor.read_at = Some(now);
        }
        run.journal.step(|step| {
            keep(step, list, row, &page, round, now)?;
            if at.is_at_end {
                finish(step, list, round, at.total, now)?;
            }
            Round::mark(step, row.full_name, at.is_at_end)?;
            step.set_cursor(row.full_name, &cursor)?;
            step.count_call("lists")
        })?;
        run.called();
        if at.is_at_end {
            break;
        }
    }
    Ok(())
}

/// Keeps a page.
fn keep(
    step: &Step<'_>,
    list: List,
    row: &'static Endpoint,
    page: &[Value],
    round: &Round,
    now: DateTime<Utc>,
) -> Result<()> {
    let shape = item_shape(row)?;
    if let Some(kind) = list.item_kind() {
        let listed: Vec<Listed> = page.iter().filter_map(|item| listed(item, shape)).collect();
        let changes = step.list_page(kind, &listed, round.relist, now)?;
        return Round::count(step, changes, 0);
    }
    for item in page {
        // Current locations are told apart by whose they are.
        let id = if list == List::Places { text(item, "device_id") } else { text(item, "id") };
        let Some(id) = id else { continue };
        step.put_record(list.records(), &id, &encode_json(shape, item).to_string(), round.number, now)?;
    }
    Ok(())
}

/// Ends a reading of a list: what a whole one did not have is gone.
fn finish(step: &Step<'_>, list: List, round: &Round, total: Option<u64>, now: DateTime<Utc>) -> Result<()> {
    match (list.item_kind(), round.relist) {
        (Some(kind), Some(number)) => {
            if let Vanished::Gone(gone) = step.finish_relist(kind, number, total, now)? {
                Round::count(step, super::journal::Changes::default(), gone)?;
            }
            if kind == ItemKind::Job { step.set_relisted(now) } else { Ok(()) }
        }
        (Some(_), None) => Ok(()),
        // Two computers may have one hub, whose record is then there twice: their number is no measure.
        (None, _) if list == List::Places => Ok(()),
        (None, _) => step.finish_records(list.records(), round.number, total, now),
    }
}

fn listed(item: &Value, shape: &Shape) -> Option<Listed> {
    Some(Listed {
        id: text(item, "id")?,
        name: text(item, "name").unwrap_or_default(),
        uri: text(item, "uri"),
        sub_type: text(item, "sub_type"),
        created: time(item, "create_date"),
        updated: time(item, "update_date"),
        json: encode_json(shape, item).to_string(),
    })
}

/// The row of that full name.
pub(super) fn row(name: &str) -> Result<&'static Endpoint> {
    api::row(name).ok_or_else(|| Error::new(Kind::Type, format!("the interface has no `{name}`")))
}

/// The shape of a list's items, or of a detail.
pub(super) fn item_shape(row: &'static Endpoint) -> Result<&'static Shape> {
    match row.returns {
        Returns::Index(index) | Returns::OneOf(index) => Ok(index.item),
        Returns::Detail(shape) => Ok(shape),
        _ => Err(Error::new(Kind::Type, format!("{} gives no record", row.full_name))),
    }
}

pub(super) fn text(record: &Value, name: &str) -> Option<String> {
    record.get(name).and_then(Value::as_text).map(str::to_owned)
}

pub(super) fn time(record: &Value, name: &str) -> Option<DateTime<Utc>> {
    match record.get(name) {
        Some(Value::Time(time)) => Some(*time),
        _ => None,
    }
}

fn back(time: DateTime<Utc>, span: std::time::Duration) -> Option<DateTime<Utc>> {
    TimeDelta::from_std(span).ok().and_then(|span| time.checked_sub_signed(span))
}
