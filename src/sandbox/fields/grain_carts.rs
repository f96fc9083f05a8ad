//! Grain carts: loads of a harvest, weighed at the edge of its field, and their GRC files. A bridge device uploads a file
//! repeatedly as it grows.

use std::fmt::Write as _;
use std::sync::Arc;

use chrono::{Duration, NaiveDateTime};

use super::deterministic_math::{i64_to_f64, round_to_i64, scaled, unscaled};
use super::job::{Coverage, Job};
use super::job_spec::{Crop, Kind};
use super::plane::CoordinateSystem;
use super::rng::{noise, pick, stream};
use headland_wire::Value;

/// Kilograms per pound.
const POUND: f64 = 0.453_592_37;

/// First id of grain cart files, above the short ids of other records and uploads.
const FIRST_ID: u64 = 10_000_000_000;

/// Ids of grain cart files per seed, more than it needs.
const IDS: u64 = 1_000;

/// Larger seeds share ids: ids are 64-bit integers.
const SEEDS: u64 = 1 << 50;

/// First season with grain carts.
const FIRST_SEASON: i32 = 2025;

const TRUCKS: &[&str] = &["Truck 1", "Truck 2", "Red semi"];
/// One name contains a comma, one a non-ASCII letter.
const DESTINATIONS: &[&str] = &["Elevator", "Bin 4, north", "Silo Süd"];

const UNITS: &str =
    ",Pounds,,,Percent,Percent,Percent,Pounds/Bushel,Bushels,Bushels,,UTC Date,UTC Time,Degrees,Degrees,,,,";
const NAMES: &str = "LoadNumber,Weight,TruckID,Destination,MeasuredMoisture,MoistureCorrection,Moisture,TestWeight,\
                     WetBushels,DryBushels,Variety,LoadDate,LoadTime,Latitude,Longitude,LoadCellCAL,LocalDate,LocalTime,\
                     Comment";

/// A grain cart file as of one upload.
#[derive(Clone, Debug)]
pub struct GrainCart {
    /// Id of the upload; later uploads have higher ids.
    pub id: String,
    /// File name, shared by all uploads of a file.
    pub name: String,
    /// Number of loads in the file.
    pub loads: usize,
    /// Whether it is the last upload with its name.
    pub is_newest: bool,
    /// Id of the field computer that logged the harvest.
    pub computer: String,
    cart: Arc<Cart>,
}

/// Truth of a grain cart file.
#[derive(Clone, Debug, PartialEq)]
pub struct CartTruth {
    /// Id of the record.
    pub id: String,
    /// File name.
    pub name: String,
    /// Name of the field.
    pub field: String,
    /// Number of loads in the file.
    pub loads: u64,
    /// Total weight of the loads in pounds. In the last upload of a name it is the harvested mass of the job.
    pub total_pounds: f64,
    /// Total of the loads' dry bushels, each rounded to two decimals.
    pub total_dry_bushels: f64,
    /// Whether it is the last upload with its name.
    pub is_newest: bool,
}

/// Format of a grain cart file (field notes, Grain cart files).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CartFormat {
    /// Whether the file has all irregularities of the field notes except those of encoding.
    pub has_oddities: bool,
    /// Whether the encoding is Latin-1.
    pub is_latin_1: bool,
    /// Whether the file starts with a byte order mark.
    pub has_bom: bool,
}

/// A file with all loads of the harvest.
#[derive(Debug)]
struct Cart {
    name: String,
    computer: String,
    number: usize,
    field: &'static str,
    crop: &'static Crop,
    season: i32,
    bridge: u32,
    /// Offset of local time from UTC in hours.
    zone: i64,
    loads: Vec<Load>,
}

#[derive(Debug)]
struct Load {
    /// Weight in tenths of a pound.
    weight: i64,
    /// Moisture and its correction in tenths of a percent.
    measured: i64,
    correction: i64,
    time: NaiveDateTime,
    /// Longitude and latitude in degrees.
    location: (f64, f64),
    truck: &'static str,
    destination: &'static str,
}

/// Generates the grain cart files of an account's harvests in the order of their ids.
pub(super) fn grain_cart_files(seed: u64, jobs: &[Job]) -> Vec<GrainCart> {
    let harvests = jobs.iter().filter(|job| {
        job.spec.kind == Kind::Harvest && job.coverage == Coverage::Recorded && job.season >= FIRST_SEASON
    });
    let mut uploads = Vec::new();
    for (job, number) in harvests.zip(101..) {
        let cart = Arc::new(build_cart(job, number));
        let all = cart.loads.len();
        // The file is uploaded at three sizes, and its last state twice.
        for (turn, loads) in [all.div_ceil(3), (2 * all).div_ceil(3), all, all].into_iter().enumerate() {
            let last = cart.loads.get(loads.saturating_sub(1)).map(|load| load.time).unwrap_or_default();
            uploads.push((last + Duration::minutes(if turn == 3 { 600 } else { 30 }), turn, loads, Arc::clone(&cart)));
        }
    }
    uploads.sort_by_key(|(time, turn, _, cart)| (*time, cart.number, *turn));
    let first = FIRST_ID.saturating_add((seed % SEEDS).saturating_mul(IDS));
    let record = |((_, turn, loads, cart), slot): ((_, usize, usize, Arc<Cart>), u64)| GrainCart {
        id: first.saturating_add(slot).to_string(),
        name: cart.name.clone(),
        loads,
        is_newest: turn == 3,
        computer: cart.computer.clone(),
        cart,
    };
    uploads.into_iter().zip(1..).map(record).collect()
}

fn build_cart(job: &Job, number: usize) -> Cart {
    let spec = &job.spec;
    let mut rng = stream(spec.seed, &[9]);
    let plane = &spec.field.plane;
    let harvested = scaled(harvested_mass(&job.detail) / POUND, 1);
    let mut remaining = harvested;
    let mut time = spec.start;
    let mut loads = Vec::new();
    while remaining > 0 {
        let weight = (rng.i64(3_000..4_500) * 100).min(remaining);
        remaining -= weight;
        time += Duration::seconds(rng.i64(1_400..2_600));
        let corner = spec.field.boundary.get(rng.usize(..spec.field.boundary.len().max(1)));
        let (longitude, latitude) =
            corner.map_or((0.0, 0.0), |corner| plane.coordinates(*corner, CoordinateSystem::Geographic));
        loads.push(Load {
            weight,
            measured: scaled(spec.crop.moisture * (1.0 + 0.04 * noise(&mut rng)), 1),
            correction: rng.i64(-3..4),
            time,
            location: (longitude, latitude),
            truck: pick(&mut rng, TRUCKS).unwrap_or_default(),
            destination: pick(&mut rng, DESTINATIONS).unwrap_or_default(),
        });
    }
    let bridge = rng.u32(10_000..100_000);
    let name = format!(
        "{}_{}_{number}_{}_{bridge}.grc",
        spec.crop.name,
        spec.field.name.replace(' ', "_"),
        spec.start.format("%Y-%m-%d_%H%M%S")
    );
    let middle = i64::from(plane.zone()) * 6 - 183;
    let zone = round_to_i64(i64_to_f64(middle) / 15.0);
    let computer = job.detail.get("field_computer_id").and_then(Value::as_text).unwrap_or_default().to_owned();
    Cart { name, computer, number, field: spec.field.name, crop: spec.crop, season: job.season, bridge, zone, loads }
}

/// Returns the harvested mass of the job's detail in kilograms.
fn harvested_mass(detail: &Value) -> f64 {
    let Some(Value::List(products)) = detail.get("products") else { return 0.0 };
    match products.first().and_then(|product| product.get("total_weight")) {
        Some(Value::Decimal(mass)) => *mass,
        _ => 0.0,
    }
}

impl GrainCart {
    /// Returns the truth of the file.
    #[must_use]
    pub fn truth(&self) -> CartTruth {
        let loads = self.listed_loads();
        CartTruth {
            id: self.id.clone(),
            name: self.name.clone(),
            field: self.cart.field.to_owned(),
            loads: u64::try_from(loads.len()).unwrap_or(u64::MAX),
            total_pounds: unscaled(loads.iter().map(|load| load.weight).sum(), 1),
            total_dry_bushels: unscaled(loads.iter().map(|load| scaled(self.dry_bushels(load), 2)).sum(), 2),
            is_newest: self.is_newest,
        }
    }

    /// Returns the bytes of the file.
    #[must_use]
    pub fn content(&self, format: CartFormat) -> Vec<u8> {
        let mut text = self.header(format);
        for (row, load) in self.listed_loads().iter().enumerate() {
            text.push_str(&self.row(row, load, format.has_oddities));
            text.push_str("\r\n");
        }
        if format.is_latin_1 {
            // All characters of these files are in Latin-1.
            return text.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap_or(b'?')).collect();
        }
        let bom: &[u8] = if format.has_bom { b"\xEF\xBB\xBF" } else { b"" };
        [bom, text.as_bytes()].concat()
    }

    fn listed_loads(&self) -> &[Load] {
        self.cart.loads.get(..self.loads).unwrap_or_default()
    }

    fn header(&self, format: CartFormat) -> String {
        let (cart, loads) = (&self.cart, self.listed_loads());
        let truth = self.truth();
        let stamp = |load: Option<&Load>| load.map(|load| load.time).unwrap_or_default();
        let (first, last) = (stamp(loads.first()), stamp(loads.last()));
        let weights: i64 = loads.iter().map(|load| load.weight).sum();
        let wet: i64 = loads.iter().map(|load| load.weight * moisture(load)).sum();
        // Some devices write another total than the sum of the loads.
        let total = round_to_i64(truth.total_pounds) - if format.has_oddities { 2 } else { 0 };
        let keys = [
            ("GrcVersion", "1.6".to_owned()),
            ("SoftwareVersion", "2.4.1".to_owned()),
            ("JobNumber", cart.number.to_string()),
            ("Grower", "Grower 1".to_owned()),
            ("Farm", "Rivière Farm".to_owned()),
            ("Field", cart.field.to_owned()),
            ("Year", cart.season.to_string()),
            ("Crop", cart.crop.name.to_owned()),
            ("BridgeId", cart.bridge.to_string()),
            ("DateCreated", first.format("%Y-%m-%d").to_string()),
            ("TimeCreated", first.format("%H:%M:%S").to_string()),
            ("DateLastModified", last.format("%Y-%m-%d").to_string()),
            ("TimeLastModified", last.format("%H:%M:%S").to_string()),
            ("TotalPounds", total.to_string()),
            ("TotalDryBushels", format!("{:.2}", truth.total_dry_bushels)),
            ("AverageMoisture", format!("{:.1}", i64_to_f64(wet) / i64_to_f64(weights.max(1)) / 10.0)),
        ];
        let mut text = String::new();
        for (key, value) in keys {
            // Writing to a `String` never fails.
            let (Ok(()) | Err(_)) = write!(text, "{key},{value},\r\n");
        }
        text + UNITS + "\r\n" + NAMES + "\r\n"
    }

    fn row(&self, row: usize, load: &Load, has_oddities: bool) -> String {
        let irregular = |turn: usize, period: usize| has_oddities && row % period == turn;
        let local = load.time + Duration::hours(self.cart.zone);
        let labelled = if has_oddities { local } else { load.time };
        let clock = |time: NaiveDateTime| {
            let text = time.format("%H:%M:%S").to_string();
            if irregular(1, 4) { text.chars().take(7).collect() } else { text }
        };
        let bushels = |exact: f64| {
            let hundredths = if has_oddities { round_to_i64((exact * 100.0).floor()) } else { scaled(exact, 2) };
            format!("{:.2}", unscaled(hundredths, 2))
        };
        let percent = |tenths: i64| if irregular(3, 6) { String::new() } else { format!("{:.1}", unscaled(tenths, 1)) };
        let degrees = |degrees: f64| if irregular(2, 5) { String::new() } else { format!("{degrees:.7}") };
        let comment = if irregular(3, 6) { format!("{:.1}", unscaled(moisture(load), 1)) } else { String::new() };
        let (longitude, latitude) = load.location;
        let cells = [
            row.saturating_add(1).to_string(),
            format!("{:.1}", unscaled(load.weight, 1)),
            load.truck.to_owned(),
            csv_quoted(load.destination),
            percent(load.measured),
            percent(load.correction),
            percent(moisture(load)),
            format!("{:.1}", self.test_weight()),
            bushels(self.wet_bushels(load)),
            bushels(self.dry_bushels(load)),
            self.cart.crop.variety.to_owned(),
            labelled.format("%Y-%m-%d").to_string(),
            clock(labelled),
            degrees(latitude),
            degrees(longitude),
            "1.0000".to_owned(),
            local.format("%Y-%m-%d").to_string(),
            clock(local),
            comment,
        ];
        cells.join(",") + if irregular(4, 7) { "," } else { "" }
    }

    /// Pounds per bushel.
    fn test_weight(&self) -> f64 {
        (self.cart.crop.bushel / POUND).round()
    }

    fn wet_bushels(&self, load: &Load) -> f64 {
        unscaled(load.weight, 1) / self.test_weight()
    }

    /// Bushels at the moisture of sale, which is one percent below the usual moisture at harvest.
    fn dry_bushels(&self, load: &Load) -> f64 {
        let dry_share = (100.0 - unscaled(moisture(load), 1)) / (101.0 - self.cart.crop.moisture);
        self.wet_bushels(load) * dry_share
    }
}

/// Corrected moisture in tenths of a percent.
fn moisture(load: &Load) -> i64 {
    load.measured + load.correction
}

fn csv_quoted(text: &str) -> String {
    if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}
