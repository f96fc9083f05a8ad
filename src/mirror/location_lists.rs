//! Reads the location lists of devices, newest first, until the known records.
//!
//! A list is read only if its device has a new record. The last report of a hub and the current location of a computer
//! contain a record id (specification 2.3, 2.4). The list of a computer with a hub holds the hub's records (2.3), so
//! only the hub's list is read. `date` is not used: it would save no call, and cost one at the end of a month.
//!
//! A read is complete at the end of the list. It is also complete at the newest record of the previous read, if the
//! count grew by at most the new records. Otherwise records were added further back, and the read continues to find
//! them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value as Tree;

use super::journal::{Location, ReadTxn, Record};
use super::lists::{self, List, PAGE};
use super::sync_cycle::SyncCycle;
use super::writer::MirrorWriter;
use headland_base::error::Result;
use headland_client::Arguments;
use headland_client::transport::Warnings;
use headland_wire::{Value, encode_json};

/// Device with a list of locations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Device {
    /// Full name of the endpoint of its list.
    pub(super) row_name: &'static str,
    pub(super) id: String,
}

/// Read state of a device's list.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct ReadState {
    /// Newest record of the last complete read. All older records are known.
    newest: Option<String>,
    /// `TotalCount` at the start of that read.
    total: Option<u64>,
    /// Cycle in which that read started.
    round: u64,
    /// Unfinished read.
    reading: Option<Reading>,
}

/// Unfinished read of a list.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Reading {
    round: u64,
    pages: u64,
    /// Records that were new.
    fresh: u64,
    newest: Option<String>,
    total: Option<u64>,
}

impl Device {
    fn meta_key(&self) -> String {
        format!("locations {}/{}", self.row_name, self.id)
    }

    fn read_state(&self, txn: &ReadTxn) -> Result<ReadState> {
        let text = txn.get_meta(&self.meta_key())?;
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
    }

    /// Upper bound for the remaining pages of an unfinished read, by its count.
    pub(super) fn pages_left(&self, txn: &ReadTxn) -> Result<u64> {
        let state = self.read_state(txn)?;
        let Some(reading) = state.reading else { return Ok(0) };
        let new = reading.total.map_or(0, |total| total.saturating_sub(state.total.unwrap_or(0)));
        Ok(new.div_ceil(u64::from(PAGE)).saturating_sub(reading.pages).max(1))
    }

    /// Whether a read is unfinished.
    pub(super) fn has_begun(&self, txn: &ReadTxn) -> Result<bool> {
        Ok(self.read_state(txn)?.reading.is_some())
    }
}

/// Devices whose lists this cycle has to read, or to continue.
pub(super) fn due_devices(writer: &MirrorWriter, cycle: &SyncCycle) -> Result<Vec<Device>> {
    if !writer.options.locations {
        return Ok(Vec::new());
    }
    writer.journal.read(|txn| {
        let mut due = Vec::new();
        let mut covered = BTreeSet::new();
        let mut hub_of = BTreeMap::new();
        for hub in present_records(txn, List::Hubs)? {
            let listed = parse_json(&hub.listed);
            let newest = listed.get("Report").and_then(|report| id_field(report, "ID"));
            covered.insert(hub.id.clone());
            hub_of.extend(id_field(&listed, "FieldComputer").map(|computer| (computer, hub.id.clone())));
            due.push((Device { row_name: "field_hubs.locations", id: hub.id }, newest));
        }
        let current = current_location_ids(txn)?;
        for computer in present_records(txn, List::Computers)? {
            // The hub's record names its computer, and the computer's detail its last hub. Some legacy devices have no
            // detail.
            let from_detail =
                computer.detail.as_deref().map(parse_json).and_then(|detail| id_field(&detail, "FieldHubID"));
            let hub = hub_of.get(&computer.id).cloned().or(from_detail);
            let own = current.get(&computer.id);
            if own.is_none() && hub.as_ref().is_some_and(|hub| covered.contains(hub)) {
                continue;
            }
            let newest = own.or_else(|| current.get(&hub?)).cloned();
            due.push((Device { row_name: "field_computers.locations", id: computer.id }, newest));
        }
        let mut unread = Vec::new();
        for (device, newest) in due {
            let state = device.read_state(txn)?;
            let is_done = state.round == cycle.number || (newest.is_some() && newest == state.newest);
            // A device without a current record is checked only in a full list.
            let has_no_news = newest.is_none() && cycle.relist.is_none();
            if state.reading.is_some() || !(is_done || has_no_news) {
                unread.push(device);
            }
        }
        Ok(unread)
    })
}

/// Records of a list that are not marked as removed.
pub(super) fn present_records(txn: &ReadTxn, list: List) -> Result<Vec<Record>> {
    let mut records = txn.records(list.records())?;
    records.retain(|record| record.gone_at.is_none());
    Ok(records)
}

/// Ids of the current locations, by device.
fn current_location_ids(txn: &ReadTxn) -> Result<BTreeMap<String, String>> {
    let current = txn.records(List::CurrentLocations.records())?;
    Ok(current
        .into_iter()
        .filter_map(|record| Some((record.id, id_field(&parse_json(&record.listed), "ID")?)))
        .collect())
}

fn parse_json(json: &str) -> Tree {
    serde_json::from_str(json).unwrap_or_default()
}

fn id_field(record: &Tree, name: &str) -> Option<String> {
    record.get(name).and_then(Tree::as_str).filter(|id| !id.is_empty()).map(str::to_owned)
}

/// Reads the next page of a device's list; returns whether another one is left.
pub(super) async fn read_page(writer: &MirrorWriter, device: &Device, cycle: u64) -> Result<bool> {
    let row = lists::endpoint(device.row_name)?;
    let shape = lists::item_shape(row)?;
    let mut state = writer.journal.read(|txn| device.read_state(txn))?;
    let mut reading =
        state.reading.take().unwrap_or(Reading { round: cycle, pages: 0, fresh: 0, newest: None, total: None });
    let arguments = Arguments::new(row, &[("id", device.id.clone())])?;
    let warnings = Arc::new(Warnings::default());
    let pages = writer.client.pages(row, arguments, Some(PAGE), Some(reading.pages))?;
    let mut pages = pages.on_error(writer.options.on_error).with_warnings(&warnings);
    let total = pages.total().await?;
    let page = pages.next_page().await?.unwrap_or_default();
    warnings.take().into_iter().for_each(|text| writer.add_note(text));
    if reading.pages == 0 {
        (reading.newest, reading.total) = (page.first().and_then(|record| lists::text_field(record, "id")), total);
    }
    reading.pages = reading.pages.saturating_add(1);
    let is_full = page.len() >= usize::try_from(PAGE).unwrap_or(usize::MAX);
    let is_last = total.map_or(!is_full, |total| reading.pages.saturating_mul(u64::from(PAGE)) >= total);
    let is_known =
        |record: &Value| state.newest.is_some() && record.get("id").and_then(Value::as_text) == state.newest.as_deref();
    let reaches_known = page.iter().any(is_known);
    let locations: Vec<Location> = page
        .iter()
        .filter_map(|record| {
            Some(Location {
                device_kind: lists::text_field(record, "sub_type").unwrap_or_default(),
                device_id: lists::text_field(record, "device_id").unwrap_or_else(|| device.id.clone()),
                record_id: lists::text_field(record, "id")?,
                time: lists::time_field(record, "gps_date_time"),
                json: encode_json(shape, record).to_string(),
            })
        })
        .collect();
    if locations.len() < page.len() {
        let skipped = page.len().saturating_sub(locations.len());
        writer.add_note(format!(
            "{} of {} lists {skipped} records without an id, which are skipped",
            device.row_name, device.id
        ));
    }
    let more = writer.journal.write(|txn| {
        reading.fresh = reading.fresh.saturating_add(txn.add_locations(&locations)?);
        let explained = match (state.total, reading.total) {
            (Some(before), Some(now)) => now <= before.saturating_add(reading.fresh),
            _ => true,
        };
        let more = !(is_last || page.is_empty() || (reaches_known && explained));
        if more {
            state.reading = Some(reading);
        } else {
            state.newest = reading.newest.or(state.newest);
            (state.total, state.round) = (reading.total, reading.round);
        }
        txn.set_meta(&device.meta_key(), &serde_json::to_string(&state).unwrap_or_default())?;
        txn.count_call("lists")?;
        // A read started by an earlier cycle misses newer records.
        Ok(more || state.round != cycle)
    })?;
    writer.count_finished_call();
    Ok(more)
}
