//! Jobs that a sprayer logs from a delivered prescription map, on behalf of tests.

use std::io::Read as _;

use bytes::Bytes;
use chrono::{Duration, SubsecRound as _};
use rusqlite::{OptionalExtension as _, Row, params};

use super::Sandbox;
use super::database::{Database, NewUpload, SqlResult, from_micros};
use super::fields::{Prescription, SprayOptions, SprayTruth, spray_map};
use super::locked::locked;
use super::map_store::StoredMap;
use headland_base::error::{Error, Kind, Result};
use headland_prescription::read_as_display;
use headland_reader::archive::Source;
use headland_reader::layer::units::Unit;
use headland_wire::{Name, Value};

/// Units of the sprayer; the first is that of a map that states none.
const UNITS: [&str; 4] = ["L/ha", "kg/ha", "gal/ac", "lb/ac"];
/// The product of a map that names none.
const PRODUCT: &str = "Product A";

/// Advice for a map that no field computer has.
const SEND_FIRST: &str = "send it to a field computer, then move the clock with `advance`";

/// A sprayed job.
#[derive(Clone, Debug)]
pub struct SprayedJob {
    /// Id of the job.
    pub id: String,
    /// Unit of its rates.
    pub unit: &'static str,
    /// Truth of the model.
    pub truth: SprayTruth,
}

impl Sandbox {
    /// Adds the job that a sprayer logs from a delivered map. Its work ends now. A map that does not exist, is not
    /// delivered or has errors is an error.
    pub fn spray(&self, map: &str, lag: usize, overlap: f64, sections_off: bool) -> Result<SprayedJob> {
        let state = &self.service.state;
        let found = state.store.map(0, map).map_err(|error| failed(&error))?;
        let found = found.ok_or_else(|| wrong(format!("there is no prescription map `{map}`")))?;
        if state.store.last_delivery(0, &found.id, self.now()).map_err(|error| failed(&error))?.is_none() {
            return Err(wrong(format!("the prescription map `{map}` is not delivered: {SEND_FIRST}")));
        }
        let read = read_as_display(&Source::Bytes(self.map_bytes(&found.id)?))?;
        let generated = state.accounts.maps(0).iter().find(|known| known.id == found.id);
        let unit = known_unit(read.unit.as_deref().or(generated.map(Prescription::unit)))?;
        let product = read.product.unwrap_or_else(|| PRODUCT.to_owned());
        let options = SprayOptions { lag, overlap, sections_off, product, unit, end: self.now().trunc_subsecs(0) };
        let name = format!("Spraying_{}_{}", found.id, options.end.format("%Y%m%d_%H%M%S"));
        let (zip, truth) = spray_map(&name, &read.zones, &options)?;
        let mut part = state.uploads.begin()?;
        part.write(&zip)?;
        let file = state.uploads.keep(part)?;
        let id = state
            .store
            .add_upload(0, NewUpload { name: &name, file: &file }, None, self.now())
            .map_err(|error| failed(&error))?;
        state.store.set_sprayed(&id, &found.id, &options, &truth).map_err(|error| failed(&error))?;
        Ok(SprayedJob { id, unit, truth })
    }

    /// Returns the id of the newest delivered map with the bytes of a file.
    pub fn delivered_map(&self, file: &[u8]) -> Result<String> {
        let store = &self.service.state.store;
        for map in store.maps(0).map_err(|error| failed(&error))? {
            if store.last_delivery(0, &map.id, self.now()).map_err(|error| failed(&error))?.is_some()
                && self.map_bytes(&map.id)? == file
            {
                return Ok(map.id);
            }
        }
        Err(wrong(format!("no delivered prescription map has the bytes of this file: {SEND_FIRST}")))
    }

    /// Returns the zip of a map.
    fn map_bytes(&self, id: &str) -> Result<Bytes> {
        let state = &self.service.state;
        if let Some(map) = state.accounts.maps(0).iter().find(|map| map.id == id) {
            return map.shapefile_zip().map(Bytes::from);
        }
        let file = state.store.map_file(id).map_err(|error| failed(&error))?;
        let (_, file) = file.ok_or_else(|| wrong(format!("the prescription map `{id}` has no file")))?;
        let mut bytes = Vec::new();
        let read = state.uploads.open_stored(&file).and_then(|(mut file, _)| file.read_to_end(&mut bytes));
        read.map_err(|error| Error::new(Kind::File, format!("the prescription map `{id}` cannot be read: {error}")))?;
        Ok(Bytes::from(bytes))
    }
}

impl Database {
    /// Records the map that an uploaded job was sprayed from, and the fields of its detail.
    fn set_sprayed(&self, job: &str, map: &str, options: &SprayOptions, truth: &SprayTruth) -> SqlResult<()> {
        let start = options.end - Duration::seconds(truth.seconds);
        let kind = if options.unit.starts_with(['L', 'g']) { "Sprayer" } else { "As Applied" };
        let [least, mean, most] = truth.targets;
        let mut connection = locked(&self.0);
        let transaction = connection.transaction()?;
        transaction.execute("UPDATE job SET sub_type = ? WHERE id = ?", [kind, job])?;
        transaction.execute(
            "INSERT INTO sprayed (job, map, product, start, finish, volume, area, least, mean, most) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                job,
                map,
                options.product,
                start.timestamp_micros(),
                options.end.timestamp_micros(),
                truth.applied,
                truth.area,
                least,
                mean,
                most
            ],
        )?;
        transaction.commit()
    }

    /// Returns the fields of a sprayed job's detail; none for other jobs.
    pub(super) fn sprayed_fields(&self, job: &str) -> SqlResult<Vec<(Name, Value)>> {
        let query = "SELECT product, area, volume, mean, least, most, start, finish FROM sprayed WHERE job = ?";
        Ok(locked(&self.0).query_row(query, [job], detail_fields).optional()?.unwrap_or_default())
    }

    /// Returns the map that a job was sprayed from.
    pub(super) fn sprayed_map(&self, customer: u32, job: &str) -> SqlResult<Option<StoredMap>> {
        let query = "SELECT map FROM sprayed WHERE job = ?";
        let map: Option<String> = locked(&self.0).query_row(query, [job], |row| row.get(0)).optional()?;
        map.map_or(Ok(None), |map| self.map(customer, &map))
    }
}

fn detail_fields(row: &Row<'_>) -> SqlResult<Vec<(Name, Value)>> {
    let named = |(name, value): (&'static str, Value)| (Name::Borrowed(name), value);
    let time = |index: usize| SqlResult::Ok(Value::Time(from_micros(row.get(index)?)));
    // Displays round to six decimals.
    let decimal = |index: usize| SqlResult::Ok(Value::Decimal((row.get::<_, f64>(index)? * 1e6).round() / 1e6));
    let product = [
        ("id", Value::Text("1".to_owned())),
        ("product_number", Value::Integer(0)),
        ("product_name", Value::Text(row.get(0)?)),
        ("applied_area", decimal(1)?),
        ("applied_volume", decimal(2)?),
        ("target_rate", decimal(3)?),
        ("target_rate_min", decimal(4)?),
        ("target_rate_max", decimal(5)?),
    ];
    let fields = [
        ("job_type", Value::Text("AsApplied".to_owned())),
        ("start_date", time(6)?),
        ("end_date", time(7)?),
        ("products", Value::List(vec![Value::Record(product.into_iter().map(named).collect())])),
    ];
    Ok(fields.into_iter().map(named).collect())
}

/// Finds the sprayer's unit for that of a map.
fn known_unit(stated: Option<&str>) -> Result<&'static str> {
    let Some(stated) = stated else { return Ok(UNITS[0]) };
    let spelled = Unit::spell(stated);
    let unit = UNITS.into_iter().find(|unit| Unit::spell(unit) == spelled);
    unit.ok_or_else(|| {
        wrong(format!("the prescription map is in `{stated}`; the sprayer applies {}", UNITS.join(", ")))
    })
}

fn wrong(message: String) -> Error {
    Error::for_argument("rx_id", message)
}

fn failed(error: &rusqlite::Error) -> Error {
    Error::new(Kind::File, format!("the sandbox cannot use its database: {error}"))
}
