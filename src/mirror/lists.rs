//! Reads the lists of an account, page by page, with one journal transaction per page.
//!
//! Makes the fewest calls that the interface allows. Jobs are listed from the newest known one on, less an overlap, or
//! all if a full list is due. The lists without dates are read with a full list, or once they are as old: computers,
//! hubs with their last reports, maps and grain carts. The current locations of all computers are read each time, since
//! they show which computers have new locations.
//!
//! `minid` is not used: the list of all jobs contains those of the computers, and has dates.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::try_join_all;

use super::journal::{Cursor, Item, ItemKind, Listed, Reading, Removed, WriteTxn};
use super::sync_cycle::{SyncCycle, is_recent};
use super::writer::{MirrorWriter, is_fatal};
use headland_api::{self as api, Endpoint, Returns, Shape};
use headland_base::error::{Error, Kind, Result};
use headland_base::times::iso::write;
use headland_client::transport::Warnings;
use headland_client::{Arguments, Position, check_id};
use headland_wire::{Value, encode_json};

/// Recommended maximum of specification 4.1.
pub(super) const PAGE: u32 = 1_000;

/// List of the account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    /// All jobs, or those from a time on.
    Jobs,
    /// Grain cart files.
    Carts,
    /// Field computers.
    Computers,
    /// Current locations of computers; shows which ones have new locations.
    CurrentLocations,
    /// Field hubs with their last reports; shows which ones have new locations.
    Hubs,
    /// Prescription maps.
    Maps,
}

/// Maximum number of skipped records named in a note.
const MAX_NAMED: usize = 5;

/// Maximum length of a record's name in a note.
const MAX_NAME: usize = 60;

/// All lists.
pub(super) const LISTS: [List; 6] =
    [List::Jobs, List::Carts, List::Computers, List::CurrentLocations, List::Hubs, List::Maps];

impl List {
    /// Full name of its endpoint, also the name of its cursor.
    pub(super) const fn row_name(self) -> &'static str {
        match self {
            Self::Jobs => "job_data.list",
            Self::Carts => "grain_carts.list",
            Self::Computers => "field_computers.list",
            Self::CurrentLocations => "field_computers.current_locations",
            Self::Hubs => "field_hubs.reports",
            Self::Maps => "prescription_maps.list",
        }
    }

    /// Kind of its records in the journal. Jobs and grain carts are items instead.
    pub(super) const fn records(self) -> &'static str {
        match self {
            Self::Jobs => "job_data",
            Self::Carts => "grain_carts",
            Self::Computers => "field_computers",
            Self::CurrentLocations => "current_locations",
            Self::Hubs => "field_hubs",
            Self::Maps => "prescription_maps",
        }
    }

    /// Field that identifies its records. Current locations are identified by their device.
    const fn id_field(self) -> &'static str {
        match self {
            Self::CurrentLocations => "device_id",
            _ => "id",
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

/// Reads the lists of this cycle that it has not read.
pub(super) async fn read_all(writer: &MirrorWriter, cycle: &SyncCycle) -> Result<()> {
    let mut due = Vec::new();
    for list in LISTS {
        if is_due(writer, cycle, list)? {
            due.push(list);
        }
    }
    try_join_all(due.into_iter().map(|list| read_list(writer, cycle, list))).await.map(drop)
}

/// Whether a cycle reads a list. After an error, a list without dates is due again at once, since its last read is old.
fn is_due(writer: &MirrorWriter, cycle: &SyncCycle, list: List) -> Result<bool> {
    let is_frequent = match list {
        List::Jobs => true,
        List::CurrentLocations => writer.options.locations,
        List::Carts | List::Computers | List::Hubs | List::Maps => false,
    };
    let read_at = writer.journal.read(|txn| txn.cursor(list.row_name()))?.read_at;
    Ok(is_frequent || cycle.relist.is_some() || !is_recent(read_at, &writer.options, writer.now()))
}

async fn read_list(writer: &MirrorWriter, cycle: &SyncCycle, list: List) -> Result<()> {
    let row = endpoint(list.row_name())?;
    let cursor = writer.journal.read(|txn| txn.cursor(row.full_name))?;
    if cycle.has_read(row.full_name) {
        return Ok(());
    }
    match read_pages(writer, cycle, list, row, cursor).await {
        // An access key may exclude a list, such as grain carts, and a service may have no hubs. The other lists are
        // still mirrored.
        Err(error) if list != List::Jobs && !is_fatal(&error) => {
            writer.add_note(format!("cannot read the list `{}`: {error}", row.full_name));
            writer.journal.write(|txn| {
                let cursor = txn.cursor(row.full_name)?;
                SyncCycle::mark_page_read(txn, row.full_name, true)?;
                txn.set_cursor(row.full_name, &Cursor { unfinished: None, ..cursor })
            })
        }
        other => other,
    }
}

async fn read_pages(
    writer: &MirrorWriter,
    cycle: &SyncCycle,
    list: List,
    row: &'static Endpoint,
    mut cursor: Cursor,
) -> Result<()> {
    let since = match (list, cycle.relist) {
        (List::Jobs, None) => cursor.newest_created.and_then(|newest| subtract(newest, writer.options.overlap)),
        _ => None,
    };
    let arguments: Vec<(&str, String)> = since.iter().map(|since| ("date", write(since))).collect();
    let warnings = Arc::new(Warnings::default());
    let pages = writer.client.pages(row, Arguments::new(row, &arguments)?, Some(PAGE), None)?;
    let mut pages = pages.sequential().on_error(writer.options.on_error).with_warnings(&warnings);
    let begun = cursor.unfinished.filter(|_| cycle.has_begun(row.full_name));
    let began_at = begun.map_or_else(|| writer.now(), |reading| reading.began_at);
    if let (Some(reading), Some(kind), Some(number)) = (begun, list.item_kind(), cycle.relist) {
        let known: Vec<Item> = writer.journal.read(|txn| txn.items(kind))?;
        let known = known.iter().filter(|item| item.seen == number).map(|item| item.id.as_str());
        let position = Position { page: reading.pages_done, total: reading.total_count, is_at_end: false };
        pages = pages.resumed(position, known);
    }
    let mut skipped = 0;
    while let Some(page) = pages.next_page().await? {
        warnings.take().into_iter().for_each(|text| writer.add_note(text));
        let (page, unusable) = split_usable(list, page);
        if let Some(note) = skipped_note(row, &unusable) {
            writer.add_note(note);
            skipped = unusable.len().saturating_add(skipped);
        }
        let position = pages.position();
        let now = writer.now();
        let newest = page.iter().filter_map(|item| time_field(item, "create_date")).max();
        cursor.newest_created = cursor.newest_created.max(newest);
        let reading = Reading { pages_done: position.page, total_count: position.total, began_at };
        cursor.unfinished = (!position.is_at_end).then_some(reading);
        if position.is_at_end {
            cursor.read_at = Some(now);
        }
        writer.journal.write(|txn| {
            store_page(txn, list, row, &page, cycle, now)?;
            if position.is_at_end {
                // Skipped records count as listed, so that removed ones are still noticed.
                let total = position.total.map(|total| total.saturating_sub(u64::try_from(skipped).unwrap_or(total)));
                finish_list(txn, list, cycle, total, now)?;
            }
            SyncCycle::mark_page_read(txn, row.full_name, position.is_at_end)?;
            txn.set_cursor(row.full_name, &cursor)?;
            txn.count_call("lists")
        })?;
        writer.count_finished_call();
        if position.is_at_end {
            break;
        }
    }
    Ok(())
}

/// Splits a page into the records whose ids can be stored and sent, and texts that describe the others.
///
/// A record with any other id would fail each of its calls, and a few of them end every sync.
fn split_usable(list: List, page: Vec<Value>) -> (Vec<Value>, Vec<String>) {
    let (mut usable, mut unusable) = (Vec::with_capacity(page.len()), Vec::new());
    for record in page {
        let reason = match text_field(&record, list.id_field()) {
            None => "is missing".to_owned(),
            Some(id) => match check_id(&id) {
                Ok(_) => {
                    usable.push(record);
                    continue;
                }
                Err(reason) => reason,
            },
        };
        let name: String = text_field(&record, "name").unwrap_or_default().chars().take(MAX_NAME).collect();
        unusable.push(format!("{name:?}, whose id {}", reason.escape_debug()));
    }
    (usable, unusable)
}

fn skipped_note(row: &Endpoint, unusable: &[String]) -> Option<String> {
    let named = unusable.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>().join("; ");
    let more = unusable.len().saturating_sub(MAX_NAMED);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let message =
        format!("`{}` lists records that cannot be requested, which are skipped: {named}{more}", row.full_name);
    (!unusable.is_empty()).then_some(message)
}

/// Stores a page.
fn store_page(
    txn: &WriteTxn<'_>,
    list: List,
    row: &'static Endpoint,
    page: &[Value],
    cycle: &SyncCycle,
    now: DateTime<Utc>,
) -> Result<()> {
    let shape = item_shape(row)?;
    if let Some(kind) = list.item_kind() {
        let listed: Vec<Listed> = page.iter().filter_map(|item| to_listed(item, shape)).collect();
        let changes = txn.list_page(kind, &listed, cycle.relist, now)?;
        return SyncCycle::count_changes(txn, changes, 0);
    }
    for item in page {
        let Some(id) = text_field(item, list.id_field()) else { continue };
        txn.put_record(list.records(), &id, &encode_json(shape, item).to_string(), cycle.number)?;
    }
    Ok(())
}

/// Ends the read of a list. Records missing from a full list are marked as removed.
fn finish_list(
    txn: &WriteTxn<'_>,
    list: List,
    cycle: &SyncCycle,
    total: Option<u64>,
    now: DateTime<Utc>,
) -> Result<()> {
    match (list.item_kind(), cycle.relist) {
        (Some(kind), Some(number)) => {
            if let Removed::Gone(gone) = txn.finish_relist(kind, number, total, now)? {
                SyncCycle::count_changes(txn, super::journal::Changes::default(), gone)?;
            }
            if kind == ItemKind::Job { txn.set_relisted(now) } else { Ok(()) }
        }
        (Some(_), None) => Ok(()),
        // Two computers may share a hub, whose record then occurs twice. So the count says nothing.
        (None, _) if list == List::CurrentLocations => Ok(()),
        (None, _) => txn.finish_records(list.records(), cycle.number, total, now),
    }
}

fn to_listed(item: &Value, shape: &Shape) -> Option<Listed> {
    Some(Listed {
        id: text_field(item, "id")?,
        name: text_field(item, "name").unwrap_or_default(),
        sub_type: text_field(item, "sub_type"),
        created: time_field(item, "create_date"),
        updated: time_field(item, "update_date"),
        json: encode_json(shape, item).to_string(),
    })
}

/// Endpoint with a full name.
pub(super) fn endpoint(name: &str) -> Result<&'static Endpoint> {
    api::row(name).ok_or_else(|| Error::new(Kind::Type, format!("the interface has no `{name}`")))
}

/// Shape of the records of a list or detail.
pub(super) fn item_shape(row: &'static Endpoint) -> Result<&'static Shape> {
    match row.returns {
        Returns::Index(index) | Returns::OneOf(index) => Ok(index.item),
        Returns::Detail(shape) => Ok(shape),
        _ => Err(Error::new(Kind::Type, format!("{} returns no record", row.full_name))),
    }
}

pub(super) fn text_field(record: &Value, name: &str) -> Option<String> {
    record.get(name).and_then(Value::as_text).map(str::to_owned)
}

pub(super) fn time_field(record: &Value, name: &str) -> Option<DateTime<Utc>> {
    match record.get(name) {
        Some(Value::Time(time)) => Some(*time),
        _ => None,
    }
}

fn subtract(time: DateTime<Utc>, span: std::time::Duration) -> Option<DateTime<Utc>> {
    TimeDelta::from_std(span).ok().and_then(|span| time.checked_sub_signed(span))
}
