//! Where devices were: their lists of locations, newest first, from the front to what is known already.
//!
//! A list is only read where its device has something new: the last report of a hub and the current location of a
//! computer carry the id of their record (specification 2.3, 2.4). The list of a computer that has a hub holds the records
//! of the hub (2.3), so that the hub's own list is read instead. `date` is not used: from the front on, a list needs no
//! more calls than from a date on, and none more where a month ends.
//!
//! A list is known from its newest record back once a reading has come to the end or to the newest record of the reading
//! before, and the count has grown by no more than what came: where it has, records were filled in further back, and
//! reading goes on until they are found.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value as Tree;

use super::journal::{Location, Look, Record};
use super::lists::{self, List, PAGE};
use super::sync_cycle::Round;
use super::writer::Run;
use crate::client::Arguments;
use crate::error::Result;
use crate::transport::Notices;
use crate::wire::{Value, encode_json};

/// A device with a list of locations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Device {
    /// The full name of the row of its list.
    pub(super) row_name: &'static str,
    /// Its id.
    pub(super) id: String,
}

/// How far the list of a device was read.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Track {
    /// The newest record of the last reading that came to its end: all from it back are known.
    newest: Option<String>,
    /// `TotalCount` at the beginning of that reading.
    total: Option<u64>,
    /// The round in which that reading began.
    round: u64,
    /// A reading that has not come to its end.
    reading: Option<Reading>,
}

/// A reading of a list.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Reading {
    round: u64,
    pages: u64,
    /// Records that were not known.
    fresh: u64,
    newest: Option<String>,
    total: Option<u64>,
}

impl Device {
    fn name(&self) -> String {
        format!("locations {}/{}", self.row_name, self.id)
    }

    fn track(&self, look: &Look) -> Result<Track> {
        let text = look.about(&self.name())?;
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
    }

    /// Pages that a reading which has begun still needs at most, by its count.
    pub(super) fn pages_left(&self, look: &Look) -> Result<u64> {
        let track = self.track(look)?;
        let Some(reading) = track.reading else { return Ok(0) };
        let new = reading.total.map_or(0, |total| total.saturating_sub(track.total.unwrap_or(0)));
        Ok(new.div_ceil(u64::from(PAGE)).saturating_sub(reading.pages).max(1))
    }

    /// Whether a reading has begun.
    pub(super) fn has_begun(&self, look: &Look) -> Result<bool> {
        Ok(self.track(look)?.reading.is_some())
    }
}

/// The devices whose lists this round has to read, or to read on.
pub(super) fn due(run: &Run, round: &Round) -> Result<Vec<Device>> {
    if !run.options.locations {
        return Ok(Vec::new());
    }
    run.journal.look(|look| {
        let mut due = Vec::new();
        let mut covered = BTreeSet::new();
        let mut hub_of = BTreeMap::new();
        for hub in present(look, List::Hubs)? {
            let listed = tree(&hub.listed);
            let newest = listed.get("Report").and_then(|report| id_of(report, "ID"));
            covered.insert(hub.id.clone());
            hub_of.extend(id_of(&listed, "FieldComputer").map(|computer| (computer, hub.id.clone())));
            due.push((Device { row_name: "field_hubs.locations", id: hub.id }, newest));
        }
        let places = places(look)?;
        for computer in present(look, List::Computers)? {
            // The hub knows its computer, and the computer its last hub; some legacy devices have no detail.
            let told = computer.detail.as_deref().map(tree).and_then(|detail| id_of(&detail, "FieldHubID"));
            let hub = hub_of.get(&computer.id).cloned().or(told);
            let own = places.get(&computer.id);
            if own.is_none() && hub.as_ref().is_some_and(|hub| covered.contains(hub)) {
                continue;
            }
            let newest = own.or_else(|| places.get(&hub?)).cloned();
            due.push((Device { row_name: "field_computers.locations", id: computer.id }, newest));
        }
        let mut open = Vec::new();
        for (device, newest) in due {
            let track = device.track(look)?;
            let is_done = track.round == round.number || (newest.is_some() && newest == track.newest);
            // A device that nothing is told of is looked at where everything is.
            let is_silent = newest.is_none() && round.relist.is_none();
            if track.reading.is_some() || !(is_done || is_silent) {
                open.push(device);
            }
        }
        Ok(open)
    })
}

/// The records of a list that are not gone.
pub(super) fn present(look: &Look, list: List) -> Result<Vec<Record>> {
    let mut records = look.records(list.records())?;
    records.retain(|record| record.gone_at.is_none());
    Ok(records)
}

/// The ids of the current locations, by device.
fn places(look: &Look) -> Result<BTreeMap<String, String>> {
    let places = look.records(List::Places.records())?;
    Ok(places.into_iter().filter_map(|place| Some((place.id, id_of(&tree(&place.listed), "ID")?))).collect())
}

fn tree(json: &str) -> Tree {
    serde_json::from_str(json).unwrap_or_default()
}

fn id_of(record: &Tree, name: &str) -> Option<String> {
    record.get(name).and_then(Tree::as_str).filter(|id| !id.is_empty()).map(str::to_owned)
}

/// Reads the next page of a device's list; says whether there is another one to read.
pub(super) async fn read_page(run: &Run, device: &Device, round: u64) -> Result<bool> {
    let row = lists::row(device.row_name)?;
    let shape = lists::item_shape(row)?;
    let mut track = run.journal.look(|look| device.track(look))?;
    let mut reading = track.reading.take().unwrap_or(Reading { round, pages: 0, fresh: 0, newest: None, total: None });
    let arguments = Arguments::new(row, &[("id", device.id.clone())])?;
    let warnings = Arc::new(Notices::default());
    let pages = run.client.pages(row, arguments, Some(PAGE), Some(reading.pages))?;
    let mut pages = pages.on_error(run.options.on_error).warning(&warnings);
    let total = pages.total().await?;
    let page = pages.next_page().await?.unwrap_or_default();
    warnings.take().into_iter().for_each(|text| run.note(text));
    if reading.pages == 0 {
        (reading.newest, reading.total) = (page.first().and_then(|record| lists::text(record, "id")), total);
    }
    reading.pages = reading.pages.saturating_add(1);
    let is_full = page.len() >= usize::try_from(PAGE).unwrap_or(usize::MAX);
    let is_last = total.map_or(!is_full, |total| reading.pages.saturating_mul(u64::from(PAGE)) >= total);
    let is_known =
        |record: &Value| track.newest.is_some() && record.get("id").and_then(Value::as_text) == track.newest.as_deref();
    let meets_known = page.iter().any(is_known);
    let locations: Vec<Location> = page
        .iter()
        .filter_map(|record| {
            Some(Location {
                device_kind: lists::text(record, "sub_type").unwrap_or_default(),
                device_id: lists::text(record, "device_id").unwrap_or_else(|| device.id.clone()),
                record_id: lists::text(record, "id")?,
                time: lists::time(record, "gps_date_time"),
                json: encode_json(shape, record).to_string(),
            })
        })
        .collect();
    let more = run.journal.step(|step| {
        reading.fresh = reading.fresh.saturating_add(step.add_locations(&locations)?);
        let explained = match (track.total, reading.total) {
            (Some(before), Some(now)) => now <= before.saturating_add(reading.fresh),
            _ => true,
        };
        let more = !(is_last || page.is_empty() || (meets_known && explained));
        if more {
            track.reading = Some(reading);
        } else {
            track.newest = reading.newest.or(track.newest);
            (track.total, track.round) = (reading.total, reading.round);
        }
        step.set_about(&device.name(), &serde_json::to_string(&track).unwrap_or_default())?;
        step.count_call("lists")?;
        // A reading that an earlier round began knows nothing of what came since.
        Ok(more || track.round != round)
    })?;
    run.called();
    Ok(more)
}
