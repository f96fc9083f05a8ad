//! Generates the account of a seed: machines, fields, seasons, jobs and their ids.

use std::sync::Arc;

use chrono::{DateTime, Duration, NaiveDate, NaiveDateTime, Utc};

use super::account_model::{Account, AccountStyle, Computer, Hub};
use super::boundaries::{FIELDS, Field, fields};
use super::details::{self, Display};
use super::deterministic_math::round_to_i64;
use super::failure::Failure;
use super::grain_carts::grain_cart_files;
use super::job::{Coverage, Job};
use super::job_spec::{ArchiveLayout, Crop, JobSpec, Kind};
use super::machine_location::Track;
use super::plane::CoordinateSystem;
use super::prescription::Prescription;
use super::rng::{pick, stream, uniform};
use super::slot_ids::{IDS, slot_id, small_id};
use super::swaths::SwathOptions;
use super::tank_mix::added_products;
use super::units::{AMERICAN, METRIC};
use headland_reader::layer::{Cancel, run_ordered};
use headland_wire::Value;

/// Seasons with jobs.
const SEASONS: [i32; 3] = [2024, 2025, 2026];

/// Season whose archives are in UTM.
const UTM_SEASON: i32 = 2025;

/// Records of the single large job: the harvest of the first field in the last season.
const LARGE_JOB_POINTS: usize = 100_000;

/// Number of job slots of a seed. The slots after them belong to field computers, field hubs and products.
const JOB_SLOTS: u128 = 64;

/// First slot of hubs and of maps, relative to [`JOB_SLOTS`].
const HUB_SLOT: u128 = 8;
const MAP_SLOT: u128 = 32;

/// Slot of the first product of a tank mix after the mix itself.
const ADDED_SLOT: u128 = JOB_SLOTS + 26;

/// Number of points of a small job.
const SMALL_JOB_POINTS: usize = 12;

/// Device type that the service treats as legacy.
const LEGACY_DEVICE_TYPE: &str = "ENVIZIO PRO";

static CROPS: [Crop; 4] = [
    Crop {
        name: "Corn",
        variety: "HX 4210",
        grain: 10_500.0,
        bushel: 25.401_2,
        moisture: 17.5,
        market_moisture: 15.5,
        seeds: 80_000.0,
        seed_mass: 0.33,
    },
    Crop {
        name: "Soybeans",
        variety: "SB 19-07",
        grain: 3_400.0,
        bushel: 27.215_5,
        moisture: 12.8,
        market_moisture: 13.0,
        seeds: 345_000.0,
        seed_mass: 0.16,
    },
    Crop {
        name: "Sorghum",
        variety: "GS 633",
        grain: 6_200.0,
        bushel: 25.401_2,
        moisture: 14.5,
        market_moisture: 14.0,
        seeds: 160_000.0,
        seed_mass: 0.03,
    },
    Crop {
        name: "Sunflower",
        variety: "SF 52",
        grain: 2_300.0,
        bushel: 10.886_2,
        moisture: 9.5,
        market_moisture: 10.0,
        seeds: 62_000.0,
        seed_mass: 0.06,
    },
];

static DISPLAYS: [Display; 3] = [
    Display {
        name: "Combine cab",
        device_type: "VIPER 4+",
        software: "VIPER4PLUS, 21.3.0.26, RAD 2.2",
        has_hub: true,
        dispatch: true,
        states_units: true,
        units: &AMERICAN,
    },
    Display {
        name: "Old sprayer",
        device_type: "ENVIZIO PRO",
        software: "",
        has_hub: true,
        dispatch: false,
        states_units: false,
        units: &AMERICAN,
    },
    Display {
        name: "Loaner",
        device_type: "CR12",
        software: "CR12, 22.1.1.40, RAD 2.3",
        has_hub: false,
        dispatch: true,
        states_units: true,
        units: &METRIC,
    },
];

const OPERATORS: &[&str] = &["Operator 1", "Operator 2", "Operator 3"];

/// Generates the account of a seed with all totals, in that style. Only harvests and some spraying jobs depend on the
/// style, and lists do not. Archives are generated on request.
///
/// Accounts of different seeds below 2^56 share no id of a job, field computer, field hub, prescription map, grain cart
/// file or product. Ids are also unique within an account.
#[must_use]
pub fn generate_account(seed: u64, style: impl Into<AccountStyle>) -> Account {
    generate_until(seed, style.into(), &Cancel::default())
}

/// Same as [`generate_account`]; jobs are missing after cancellation.
pub fn generate_until(seed: u64, style: AccountStyle, cancel: &Cancel) -> Account {
    let fields = fields(seed);
    let mut rng = stream(seed, &[7]);
    // The order of ids is independent of time.
    let mut slots: Vec<u128> = (0..JOB_SLOTS).collect();
    rng.shuffle(&mut slots);
    let reported = start_time(&mut rng, SEASONS[2], Kind::Harvest, FIELDS).and_utc();
    let mut computers: Vec<Computer> = (JOB_SLOTS..)
        .zip(&DISPLAYS)
        .map(|(slot, display)| {
            let id = slot_id(seed, slot);
            let hub = display.has_hub.then(|| slot_id(seed, slot + HUB_SLOT));
            Computer {
                detail: details::computer_detail(display, &id, hub.clone(), reported),
                is_legacy: display.device_type == LEGACY_DEVICE_TYPE,
                track: Track::new(Vec::new()),
                hub,
                id,
            }
        })
        .collect();
    let planned: Vec<(u128, Plan)> = slots.into_iter().zip(plans()).collect();
    let build = |step: usize, job: &mut Option<Job>| {
        cancel.check()?;
        let planned = planned.get(step).and_then(|(slot, plan)| Some((*slot, *plan, fields.get(plan.field)?)));
        *job = planned.map(|(slot, plan, field)| build_job(seed, slot, Plan { style, ..plan }, field, &computers));
        Ok(())
    };
    let mut jobs = Vec::new();
    let mut add = |job: &mut Option<Job>| {
        jobs.extend(job.take());
        Ok(())
    };
    // A logged harvest takes a second. The only error is the cancellation, which the caller checks.
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let _ = run_ordered(threads, planned.len(), build, &mut add);
    jobs.sort_by(|a: &Job, b: &Job| b.created.cmp(&a.created).then_with(|| a.id.cmp(&b.id)));
    for computer in &mut computers {
        let is_own = |job: &&Job| job.detail.get("field_computer_id").and_then(Value::as_text) == Some(&computer.id);
        let own: Vec<&str> = jobs.iter().filter(is_own).map(|job| job.field.as_str()).collect();
        computer.track = Track::new(fields.iter().filter(|field| own.contains(&field.name)).cloned().collect());
    }
    let carts = grain_cart_files(seed, &jobs);
    let hubs = build_hubs(seed, &computers, &fields);
    let maps = (JOB_SLOTS + MAP_SLOT..IDS)
        .zip(prescribed(&jobs))
        .map(|(slot, job)| Prescription::from_job(job, slot_id(seed, slot)));
    Account { maps: maps.collect(), computers, jobs, carts, hubs }
}

/// Returns the hubs of the computers that have one, and a hub on a truck.
fn build_hubs(seed: u64, computers: &[Computer], fields: &[Arc<Field>]) -> Vec<Hub> {
    let hub = |id, name, computer, track| Hub { id, name, make: "Field Hub Works", model: "FH 2", computer, track };
    let mut hubs: Vec<Hub> = ["Combine hub", "Sprayer hub"]
        .into_iter()
        .zip(computers)
        .filter_map(|(name, computer)| {
            Some(hub(computer.hub.clone()?, name, Some(computer.id.clone()), computer.track.clone()))
        })
        .collect();
    hubs.push(hub(slot_id(seed, JOB_SLOTS + HUB_SLOT + 2), "Truck hub", None, Track::new(fields.to_vec())));
    hubs
}

/// Returns the jobs whose rates came from a prescription map.
fn prescribed(jobs: &[Job]) -> impl Iterator<Item = &Job> {
    jobs.iter()
        .filter(|job| job.season == SEASONS[2] && job.spec.kind != Kind::Harvest && job.coverage == Coverage::Recorded)
}

/// Properties of a job that are not random.
#[derive(Clone, Copy, Debug)]
struct Plan {
    season: i32,
    field: usize,
    kind: Kind,
    coverage: Coverage,
    layout: ArchiveLayout,
    /// Number of a small job; `None` for other jobs.
    small: Option<u32>,
    style: AccountStyle,
}

fn plans() -> impl Iterator<Item = Plan> {
    let kinds = [Kind::Planting, Kind::Spraying, Kind::Harvest];
    let regular = SEASONS
        .into_iter()
        .flat_map(move |season| (0..FIELDS).flat_map(move |field| kinds.map(|kind| (season, field, kind))))
        .enumerate()
        .map(|(index, (season, field, kind))| {
            let layout = match index {
                7 => ArchiveLayout::Folder,
                17 => ArchiveLayout::Boundary,
                24 => ArchiveLayout::UpperCase,
                35 => ArchiveLayout::Macintosh,
                _ if index % 5 == 0 => ArchiveLayout::CodePage,
                _ => ArchiveLayout::Flat,
            };
            let style = AccountStyle::default();
            Plan { season, field, kind, coverage: Coverage::Recorded, layout, small: None, style }
        });
    let without_file = |season, field, kind, coverage| {
        let (layout, small, style) = (ArchiveLayout::Flat, None, AccountStyle::default());
        Plan { season, field, kind, coverage, layout, small, style }
    };
    regular.chain([
        without_file(2026, 1, Kind::Spraying, Coverage::None),
        without_file(2025, 2, Kind::Planting, Coverage::Unconvertible(Failure::Convert)),
        // In the first season, so that most of the newest jobs of each kind are convertible.
        without_file(2024, 0, Kind::Spraying, Coverage::Unconvertible(Failure::General)),
        without_file(2024, 3, Kind::Planting, Coverage::Unconvertible(Failure::Server)),
        without_file(2024, 4, Kind::Harvest, Coverage::Unconvertible(Failure::Restart)),
        without_file(2024, 5, Kind::Planting, Coverage::Unconvertible(Failure::FileNotFound)),
        without_file(2024, 2, Kind::Harvest, Coverage::Unconvertible(Failure::InvalidFile)),
    ])
}

/// Generates `count` small jobs of an account's machines, for tests with many jobs. Their archives have a dozen
/// records. The files of jobs with even numbers are available without a wait.
#[must_use]
pub fn small_jobs(seed: u64, count: u32, computers: &[Computer]) -> Vec<Job> {
    let fields = fields(seed);
    let plans: Vec<Plan> = plans().filter(|plan| plan.coverage == Coverage::Recorded).collect();
    let planned = (0..count).zip(plans.iter().cycle());
    planned
        .filter_map(|(number, plan)| {
            let plan = Plan { layout: ArchiveLayout::Flat, small: Some(number), ..*plan };
            Some(build_job(seed, IDS + u128::from(number), plan, fields.get(plan.field)?, computers))
        })
        .collect()
}

#[expect(clippy::indexing_slicing, reason = "one of the displays, and a remainder of the number of crops")]
fn build_job(seed: u64, slot: u128, plan: Plan, field: &Arc<Field>, computers: &[Computer]) -> Job {
    let Plan { season, kind, coverage, layout, .. } = plan;
    let mut rng = stream(seed, &[8, u64::try_from(slot).unwrap_or(0)]);
    let turn = usize::try_from(season - SEASONS[0]).unwrap_or(0);
    let crop = &CROPS[(plan.field + turn) % CROPS.len()];
    let machine = match (kind, turn) {
        (Kind::Spraying, 0) => 1,
        (Kind::Spraying | Kind::Planting, 1) | (Kind::Planting | Kind::Harvest, 2) => 2,
        _ => 0,
    };
    let display = &DISPLAYS[machine];
    let computer = computers.get(machine).map(|computer| computer.id.clone()).unwrap_or_default();
    let is_dry = kind == Kind::Spraying && plan.field == 3;
    let has_polygons = kind == Kind::Spraying || (kind == Kind::Planting && plan.field % 2 == 1);
    let (sub_type, verb, product) = match kind {
        Kind::Planting => ("Planter", "Planting", crop.name),
        Kind::Spraying if is_dry => ("As Applied", "Spreading", "Urea 46-0-0"),
        Kind::Spraying => ("Sprayer", "Spraying", "Burndown mix"),
        Kind::Harvest => ("Yield", "Harvest", crop.name),
    };
    let again = if coverage == Coverage::Recorded { "" } else { " again" };
    let number = plan.small.map_or_else(String::new, |number| format!(" {number}"));
    let name = format!("{} {season} {verb}{again}{number}", field.name);
    let spec = JobSpec {
        seed: rng.u64(..),
        kind,
        harvest_style: plan.style.harvest,
        field: Arc::clone(field),
        crop,
        product,
        added: added_products(plan.style.tank_mixes, kind, plan.field),
        is_dry,
        operator: pick(&mut rng, OPERATORS).unwrap_or_default(),
        start: start_time(&mut rng, season, kind, plan.field),
        units: display.units,
        states_units: display.states_units,
        swath_options: swath_options(&mut rng, plan, is_dry, has_polygons),
        has_polygons,
        system: if season == UTM_SEASON {
            CoordinateSystem::Utm(field.plane.zone())
        } else {
            CoordinateSystem::Geographic
        },
        layout,
        layer: name.replace(' ', "_"),
    };
    let log = (coverage == Coverage::Recorded).then(|| spec.simulate());
    let duration = log.as_ref().and_then(|log| log.swaths.points.last()).map_or(60.0, |point| point.seconds);
    let end = spec.start + Duration::seconds(round_to_i64(duration));
    let created = utc(end + Duration::seconds(rng.i64(3_600..200_000)));
    let updated = created + Duration::seconds(rng.i64(60..20_000));
    let id = plan.small.map_or_else(|| slot_id(seed, slot), |number| small_id(seed, number));
    let metadata = details::JobMetadata {
        id: &id,
        product_ids: std::iter::once(product_slot(kind, is_dry, plan.field + turn))
            .chain(ADDED_SLOT..ADDED_SLOT + 2)
            .map(|slot| slot_id(seed, slot))
            .collect(),
        computer: &computer,
        software: display.software,
        created,
        updated,
        end: utc(end),
    };
    let detail = details::job_detail(&spec, log.as_ref(), &metadata);
    Job {
        id,
        name,
        sub_type: sub_type.to_owned(),
        created,
        updated,
        field: field.name.to_owned(),
        season,
        detail,
        coverage,
        spec,
        device: display.device_type.to_owned(),
        is_ready_immediately: plan.small.is_some_and(|number| number % 2 == 0),
    }
}

/// Returns the slot of a product: each crop as seed and as grain, the mix, and the dry product.
fn product_slot(kind: Kind, is_dry: bool, crop: usize) -> u128 {
    let crop = u128::try_from(crop % CROPS.len()).unwrap_or(0);
    JOB_SLOTS
        + match kind {
            Kind::Planting => 16 + crop,
            Kind::Harvest => 20 + crop,
            Kind::Spraying => 24 + u128::from(is_dry),
        }
}

fn utc(time: NaiveDateTime) -> DateTime<Utc> {
    time.and_utc()
}

/// Returns the start time of a job. Successive fields start two days apart.
fn start_time(rng: &mut fastrand::Rng, season: i32, kind: Kind, field: usize) -> NaiveDateTime {
    let (month, day) = match kind {
        Kind::Planting => (4, 24),
        Kind::Spraying => (6, 12),
        Kind::Harvest => (9, 21),
    };
    let first = NaiveDate::from_ymd_opt(season, month, day).unwrap_or_default();
    let days = i64::try_from(field).unwrap_or(0) * 2;
    first.and_time(chrono::NaiveTime::MIN) + Duration::days(days) + Duration::seconds(rng.i64(6 * 3_600..9 * 3_600))
}

fn swath_options(rng: &mut fastrand::Rng, plan: Plan, is_dry: bool, has_polygons: bool) -> SwathOptions {
    let (width, sections, speed, points) = match plan.kind {
        Kind::Planting => (12.192, if has_polygons { 2 } else { 1 }, 2.3, rng.usize(1_500..3_000)),
        Kind::Spraying if is_dry => (24.0, 1, 5.0, rng.usize(1_500..1_800)),
        Kind::Spraying => (27.432, 4, 5.5, rng.usize(1_700..2_800)),
        Kind::Harvest if plan.field == 0 && plan.season == SEASONS[2] => (6.096, 1, 1.8, LARGE_JOB_POINTS),
        Kind::Harvest => (9.144, 1, 1.8, rng.usize(2_000..4_000)),
    };
    let points = if plan.small.is_some() { SMALL_JOB_POINTS } else { points };
    SwathOptions { width, sections, speed: speed * uniform(rng, 0.92, 1.08), points }
}
