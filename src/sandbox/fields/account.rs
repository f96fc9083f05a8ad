//! The account of a seed: which machine did what on which field in which season, and under which ids.

use std::sync::Arc;

use chrono::{DateTime, Duration, NaiveDate, NaiveDateTime, Utc};

use super::account_model::{Account, Computer, Hub};
use super::boundaries::{FIELDS, Field, fields};
use super::details::{self, Display};
use super::deterministic_math::whole;
use super::failure::Failure;
use super::grain_carts::carts;
use super::job::{Coverage, Job};
use super::job_spec::{Crop, Kind, Packing, Work};
use super::plane::System;
use super::prescription::Prescription;
use super::rng::{between, pick, stream};
use super::swaths::Manner;
use super::track::Track;
use super::units::{AMERICAN, METRIC};
use crate::wire::Value;

/// The seasons.
const SEASONS: [i32; 3] = [2024, 2025, 2026];

/// The season whose archives are in UTM.
const PROJECTED: i32 = 2025;

/// Records of the one large job: the harvest of the first field in the last season.
const LARGE: usize = 100_000;

/// Ids that each seed owns.
const IDS: u128 = 128;

/// The first id among those of a seed that no job has: field computers, field hubs and products follow.
const AFTER_JOBS: u128 = 64;

/// The first id of a hub and of a map, counted from there.
const HUBS: u128 = 8;
const MAPS: u128 = 32;

/// Where the ids of small jobs begin, and how many marks such a job has.
const SMALL_IDS: u128 = 100_000_000_000_000;
const SMALL: usize = 12;

/// The device type that the service treats as a legacy one.
const LEGACY: &str = "ENVIZIO PRO";

static CROPS: [Crop; 4] = [
    Crop {
        name: "Corn",
        variety: "HX 4210",
        grain: 10_500.0,
        bushel: 25.401_2,
        moisture: 17.5,
        seeds: 80_000.0,
        seed_mass: 0.33,
    },
    Crop {
        name: "Soybeans",
        variety: "SB 19-07",
        grain: 3_400.0,
        bushel: 27.215_5,
        moisture: 12.8,
        seeds: 345_000.0,
        seed_mass: 0.16,
    },
    Crop {
        name: "Sorghum",
        variety: "GS 633",
        grain: 6_200.0,
        bushel: 25.401_2,
        moisture: 14.5,
        seeds: 160_000.0,
        seed_mass: 0.03,
    },
    Crop {
        name: "Sunflower",
        variety: "SF 52",
        grain: 2_300.0,
        bushel: 10.886_2,
        moisture: 9.5,
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

/// The account of a seed. It knows every total; archives are made when they are asked for.
///
/// Accounts of different seeds share no id of a job, a field computer, a field hub, a prescription map, a grain cart file
/// or a product, as long as the seeds are below 2^56; nor do two things of one account.
#[must_use]
pub fn account(seed: u64) -> Account {
    let fields = fields(seed);
    let mut rng = stream(seed, &[7]);
    // Ids are handed out in an order that has nothing to do with time.
    let mut slots: Vec<u128> = (0..AFTER_JOBS).collect();
    rng.shuffle(&mut slots);
    let reported = start(&mut rng, SEASONS[2], Kind::Harvest, FIELDS).and_utc();
    let mut computers: Vec<Computer> = (AFTER_JOBS..)
        .zip(&DISPLAYS)
        .map(|(slot, display)| {
            let id = id(seed, slot);
            let hub = display.has_hub.then(|| self::id(seed, slot + HUBS));
            Computer {
                detail: details::computer(display, &id, hub.clone(), reported),
                is_legacy: display.device_type == LEGACY,
                track: Track::new(Vec::new()),
                hub,
                id,
            }
        })
        .collect();
    let mut jobs = Vec::new();
    for (slot, plan) in slots.into_iter().zip(plans()) {
        if let Some(field) = fields.get(plan.field) {
            jobs.push(job(seed, slot, plan, field, &computers));
        }
    }
    jobs.sort_by(|a: &Job, b: &Job| b.created.cmp(&a.created).then_with(|| a.id.cmp(&b.id)));
    for computer in &mut computers {
        let is_own = |job: &&Job| job.detail.get("field_computer_id").and_then(Value::as_text) == Some(&computer.id);
        let own: Vec<&str> = jobs.iter().filter(is_own).map(|job| job.field.as_str()).collect();
        computer.track = Track::new(fields.iter().filter(|field| own.contains(&field.name)).cloned().collect());
    }
    let carts = carts(seed, &jobs);
    let hubs = hubs(seed, &computers, &fields);
    let maps = (AFTER_JOBS + MAPS..IDS).zip(prescribed(&jobs)).map(|(slot, job)| Prescription::of(job, id(seed, slot)));
    Account { maps: maps.collect(), computers, jobs, carts, hubs }
}

/// The hubs of the computers that have one, and one that is on a truck.
fn hubs(seed: u64, computers: &[Computer], fields: &[Arc<Field>]) -> Vec<Hub> {
    let hub = |id, name, computer, track| Hub { id, name, make: "Field Hub Works", model: "FH 2", computer, track };
    let mut hubs: Vec<Hub> = ["Combine hub", "Sprayer hub"]
        .into_iter()
        .zip(computers)
        .filter_map(|(name, computer)| {
            Some(hub(computer.hub.clone()?, name, Some(computer.id.clone()), computer.track.clone()))
        })
        .collect();
    hubs.push(hub(id(seed, AFTER_JOBS + HUBS + 2), "Truck hub", None, Track::new(fields.to_vec())));
    hubs
}

/// The jobs whose rates came from a prescription map.
fn prescribed(jobs: &[Job]) -> impl Iterator<Item = &Job> {
    jobs.iter()
        .filter(|job| job.season == SEASONS[2] && job.work.kind != Kind::Harvest && job.coverage == Coverage::Recorded)
}

/// The id of a slot of a seed. Slots of different seeds never meet; small seeds get short ids.
fn id(seed: u64, slot: u128) -> String {
    const SHORT: u128 = 1 << 20;
    let number = u128::from(seed) * IDS + slot;
    // An odd factor shuffles the numbers below a power of two, and the others stay beyond.
    let shuffled = if number < SHORT { (number * 656_893 + 400_837) % SHORT } else { number };
    in_64_bits(shuffled)
}

/// Ids are whole numbers of 64 bits in JSON, with a sign, as clients read them.
fn in_64_bits(number: u128) -> String {
    (number % (1 << 63)).to_string()
}

/// The id of a small job, beyond those of accounts, uploads and grain carts.
fn small_id(seed: u64, number: u32) -> String {
    in_64_bits(SMALL_IDS + u128::from(seed) * (1 << 32) + u128::from(number))
}

/// What is decided about a job before chance comes in.
#[derive(Clone, Copy, Debug)]
struct Plan {
    season: i32,
    field: usize,
    kind: Kind,
    coverage: Coverage,
    packing: Packing,
    /// The number of a small job; none of the others.
    small: Option<u32>,
}

fn plans() -> impl Iterator<Item = Plan> {
    let kinds = [Kind::Planting, Kind::Spraying, Kind::Harvest];
    let regular = SEASONS
        .into_iter()
        .flat_map(move |season| (0..FIELDS).flat_map(move |field| kinds.map(|kind| (season, field, kind))))
        .enumerate()
        .map(|(index, (season, field, kind))| {
            let packing = match index {
                7 => Packing::Folder,
                17 => Packing::Boundary,
                24 => Packing::UpperCase,
                35 => Packing::Macintosh,
                _ if index % 5 == 0 => Packing::CodePage,
                _ => Packing::Flat,
            };
            Plan { season, field, kind, coverage: Coverage::Recorded, packing, small: None }
        });
    let broken =
        |season, field, kind, coverage| Plan { season, field, kind, coverage, packing: Packing::Flat, small: None };
    regular.chain([
        broken(2026, 1, Kind::Spraying, Coverage::None),
        broken(2025, 2, Kind::Planting, Coverage::Unconvertible(Failure::Convert)),
        // Of the first season, so that who takes the newest few jobs of a kind gets some that convert.
        broken(2024, 0, Kind::Spraying, Coverage::Unconvertible(Failure::General)),
        broken(2024, 3, Kind::Planting, Coverage::Unconvertible(Failure::Server)),
        broken(2024, 4, Kind::Harvest, Coverage::Unconvertible(Failure::Restart)),
        broken(2024, 5, Kind::Planting, Coverage::Unconvertible(Failure::FileNotFound)),
        broken(2024, 2, Kind::Harvest, Coverage::Unconvertible(Failure::InvalidFile)),
    ])
}

/// So many small jobs of the machines of an account, whose archives have a dozen records: for tests of many. The even
/// ones need no time to be converted.
#[must_use]
pub fn small_jobs(seed: u64, count: u32, computers: &[Computer]) -> Vec<Job> {
    let fields = fields(seed);
    let plans: Vec<Plan> = plans().filter(|plan| plan.coverage == Coverage::Recorded).collect();
    let planned = (0..count).zip(plans.iter().cycle());
    planned
        .filter_map(|(number, plan)| {
            let plan = Plan { packing: Packing::Flat, small: Some(number), ..*plan };
            Some(job(seed, IDS + u128::from(number), plan, fields.get(plan.field)?, computers))
        })
        .collect()
}

fn job(seed: u64, slot: u128, plan: Plan, field: &Arc<Field>, computers: &[Computer]) -> Job {
    let Plan { season, kind, coverage, packing, .. } = plan;
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
    let dry = kind == Kind::Spraying && plan.field == 3;
    let polygons = kind == Kind::Spraying || (kind == Kind::Planting && plan.field % 2 == 1);
    let (sub_type, verb, product) = match kind {
        Kind::Planting => ("Planter", "Planting", crop.name),
        Kind::Spraying if dry => ("As Applied", "Spreading", "Urea 46-0-0"),
        Kind::Spraying => ("Sprayer", "Spraying", "Burndown mix"),
        Kind::Harvest => ("Yield", "Harvest", crop.name),
    };
    let again = if coverage == Coverage::Recorded { "" } else { " again" };
    let number = plan.small.map_or_else(String::new, |number| format!(" {number}"));
    let name = format!("{} {season} {verb}{again}{number}", field.name);
    let work = Work {
        seed: rng.u64(..),
        kind,
        field: Arc::clone(field),
        crop,
        product,
        dry,
        operator: pick(&mut rng, OPERATORS).unwrap_or_default(),
        start: start(&mut rng, season, kind, plan.field),
        units: display.units,
        states_units: display.states_units,
        manner: manner(&mut rng, plan, dry, polygons),
        polygons,
        system: if season == PROJECTED { System::Utm(field.plane.zone()) } else { System::Geographic },
        packing,
        layer: name.replace(' ', "_"),
    };
    let record = (coverage == Coverage::Recorded).then(|| work.record());
    let worked = record.as_ref().and_then(|record| record.marks.list.last()).map_or(60.0, |mark| mark.seconds);
    let end = work.start + Duration::seconds(whole(worked));
    let created = utc(end + Duration::seconds(rng.i64(3_600..200_000)));
    let updated = created + Duration::seconds(rng.i64(60..20_000));
    let id = plan.small.map_or_else(|| id(seed, slot), |number| small_id(seed, number));
    let facts = details::Facts {
        id: &id,
        product_id: self::id(seed, product_slot(kind, dry, plan.field + turn)),
        computer: &computer,
        software: display.software,
        created,
        updated,
        end: utc(end),
    };
    let detail = details::job(&work, record.as_ref(), &facts);
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
        work,
        device: display.device_type.to_owned(),
        ready_at_once: plan.small.is_some_and(|number| number % 2 == 0),
    }
}

/// The slot of a product: each crop as seed and as grain, the mix, and the dry product.
fn product_slot(kind: Kind, dry: bool, crop: usize) -> u128 {
    let crop = u128::try_from(crop % CROPS.len()).unwrap_or(0);
    AFTER_JOBS
        + match kind {
            Kind::Planting => 16 + crop,
            Kind::Harvest => 20 + crop,
            Kind::Spraying => 24 + u128::from(dry),
        }
}

fn utc(time: NaiveDateTime) -> DateTime<Utc> {
    time.and_utc()
}

/// When the machine starts: fields follow each other by two days.
fn start(rng: &mut fastrand::Rng, season: i32, kind: Kind, field: usize) -> NaiveDateTime {
    let (month, day) = match kind {
        Kind::Planting => (4, 24),
        Kind::Spraying => (6, 12),
        Kind::Harvest => (9, 21),
    };
    let first = NaiveDate::from_ymd_opt(season, month, day).unwrap_or_default();
    let days = i64::try_from(field).unwrap_or(0) * 2;
    first.and_time(chrono::NaiveTime::MIN) + Duration::days(days) + Duration::seconds(rng.i64(6 * 3_600..9 * 3_600))
}

fn manner(rng: &mut fastrand::Rng, plan: Plan, dry: bool, polygons: bool) -> Manner {
    let (width, sections, speed, marks) = match plan.kind {
        Kind::Planting => (12.192, if polygons { 2 } else { 1 }, 2.3, rng.usize(1_500..3_000)),
        Kind::Spraying if dry => (24.0, 1, 5.0, rng.usize(1_500..1_800)),
        Kind::Spraying => (27.432, 4, 5.5, rng.usize(1_700..2_800)),
        Kind::Harvest if plan.field == 0 && plan.season == SEASONS[2] => (6.096, 1, 1.8, LARGE),
        Kind::Harvest => (9.144, 1, 1.8, rng.usize(2_000..4_000)),
    };
    let marks = if plan.small.is_some() { SMALL } else { marks };
    Manner { width, sections, speed: speed * between(rng, 0.92, 1.08), marks }
}
