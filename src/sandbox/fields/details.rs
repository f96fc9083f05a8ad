//! The details of field computers and jobs, by the shapes of the table, with totals that agree with the truth.

use std::borrow::Cow;

use chrono::{DateTime, Duration, Utc};

use super::deterministic_math::{count, real, unscaled};
use super::job_spec::{Kind, Record, Work};
use super::units::Units;
use crate::wire::Value;

/// A kind of field computer.
#[derive(Debug)]
pub(super) struct Display {
    pub(super) name: &'static str,
    pub(super) device_type: &'static str,
    /// Software as the detail gives it; often empty.
    pub(super) software: &'static str,
    /// Whether a field hub was ever connected.
    pub(super) has_hub: bool,
    pub(super) dispatch: bool,
    /// Whether its exports carry the units of their columns in a sidecar.
    pub(super) states_units: bool,
    /// The units that its kind implies.
    pub(super) units: &'static Units,
}

/// What the account knows of a job beside its work.
pub(super) struct Facts<'a> {
    pub(super) id: &'a str,
    pub(super) product_id: String,
    pub(super) computer: &'a str,
    pub(super) software: &'a str,
    pub(super) created: DateTime<Utc>,
    pub(super) updated: DateTime<Utc>,
    pub(super) end: DateTime<Utc>,
}

/// The detail of a field computer.
pub(super) fn computer(display: &Display, id: &str, hub: Option<String>, reported: DateTime<Utc>) -> Value {
    record([
        ("id", text(id)),
        ("name", text(display.name)),
        ("device_type", text(display.device_type)),
        ("status", text("Not in a job")),
        ("remote_access", Value::Boolean(display.has_hub)),
        ("web_access", Value::Boolean(display.has_hub)),
        ("field_hub_id", hub.map_or(Value::Null, Value::Text)),
        ("last_report_date", Value::Time(reported)),
        ("third_party_dispatch_capable", Value::Boolean(display.dispatch)),
        ("software_version", text(display.software)),
    ])
}

/// The detail of a job; without a record it has no products.
pub(super) fn job(work: &Work, done: Option<&Record>, facts: &Facts) -> Value {
    let file_name = format!("{}.jdp", work.layer);
    let job_type = match work.kind {
        Kind::Planting => "Planter",
        Kind::Spraying => "AsApplied",
        Kind::Harvest => "Yield",
    };
    let mut fields = vec![
        ("device_file_name", text(&file_name)),
        ("create_date", Value::Time(facts.created)),
        ("update_date", Value::Time(facts.updated)),
        ("job_type", text(job_type)),
        ("id", text(facts.id)),
        ("field_computer_id", text(facts.computer)),
        (if work.kind == Kind::Spraying { "job_name" } else { "file_name" }, text(&work.layer)),
        ("start_date", Value::Time(work.start.and_utc())),
        ("end_date", Value::Time(facts.end)),
        ("software_version", text(facts.software)),
    ];
    if work.kind == Kind::Spraying {
        fields.extend(entered(work));
    }
    if let Some(done) = done {
        fields.extend(average_speed(work, done));
    }
    let products = done.map(|done| product(work, done, facts)).into_iter().collect();
    fields.push(("products", Value::List(products)));
    record(fields)
}

/// What the operator of a sprayer typed in, in the free form of such entries.
fn entered(work: &Work) -> Vec<(&'static str, Value)> {
    let hectares = work.field.area / work.units.area.1;
    let observed = work.start + Duration::minutes(10);
    vec![
        ("customer_name", text("Home Farm")),
        ("customer_address", text("")),
        ("customer_number", text("001")),
        ("operator_name", text(work.operator)),
        ("operator_license", text("")),
        ("field_name", text(work.field.name)),
        ("field_section", text("")),
        ("field_crop", text(work.crop.name)),
        ("field_area", Value::Text(format!("{hectares:.1} {}", work.units.area.0))),
        ("application_type", text(if work.dry { "Broadcast" } else { "Post emerge" })),
        ("soil_condition", text("Dry")),
        ("tip_size", text(if work.dry { "" } else { "11004" })),
        ("weather_observation_time", Value::Text(observed.format("%H:%M").to_string())),
        ("weather_temperature", text("18")),
        ("weather_wind_speed", text("calm")),
        ("weather_humidity", text("55 %")),
        ("weather_wind_direction", text("NW")),
    ]
}

/// The average speed of a sprayer in metres a second, as text.
fn average_speed(work: &Work, done: &Record) -> Option<(&'static str, Value)> {
    let marks = &done.marks.list;
    let speed = marks.iter().map(|mark| done.marks.speed(mark, work.units)).sum::<f64>() / count(marks.len());
    (work.kind == Kind::Spraying).then(|| ("average_speed", Value::Text(format!("{speed:.2}"))))
}

fn product(work: &Work, done: &Record, facts: &Facts) -> Value {
    let area = work.covered(done);
    let total = work.total(done).value;
    let mut fields = vec![
        ("id", Value::Text(facts.product_id.clone())),
        ("product_name", text(work.product)),
        ("applied_area", decimal(area)),
    ];
    let lowest = done.target.iter().min().copied().unwrap_or(0);
    let highest = done.target.iter().max().copied().unwrap_or(0);
    match work.kind {
        Kind::Harvest => {
            fields.push(("total_weight", decimal(total)));
            fields.push(("total_bushels", decimal(total / work.crop.bushel)));
            fields.push(("average_weight_per_area", decimal(total / area * 10_000.0)));
        }
        Kind::Planting => {
            fields.push(("target_rate", decimal(average_target(done, 0))));
            fields.push(("target_minimum", decimal(real(lowest))));
            fields.push(("target_maximum", decimal(real(highest))));
            let mass = total / 1000.0 * work.crop.seed_mass;
            fields.push(("average_weight_per_area", decimal(mass / area * 10_000.0)));
            fields.push(("applied_products", Value::List(vec![seed(work, 1, 1..=8), seed(work, 2, 9..=16)])));
        }
        Kind::Spraying => {
            fields.insert(1, ("product_number", Value::Integer(0)));
            fields.push(("applied_volume", decimal(total)));
            fields.push(("target_rate", decimal(average_target(done, 2))));
            fields.push(("target_rate_min", decimal(unscaled(lowest, 2))));
            fields.push(("target_rate_max", decimal(unscaled(highest, 2))));
            fields.push(("is_mixed", Value::Boolean(!work.dry)));
            if !work.dry {
                fields.push(("ingredients", Value::List(ingredients(work))));
            }
        }
    }
    record(fields)
}

/// The target over the covered area.
fn average_target(done: &Record, decimals: u8) -> f64 {
    let lengths: i64 = done.marks.list.iter().map(|mark| mark.distance).sum();
    let products: i64 = done.target.iter().zip(&done.marks.list).map(|(target, mark)| target * mark.distance).sum();
    unscaled(products, decimals) / real(lengths)
}

/// What was planted by some of the planter's rows.
fn seed(work: &Work, id: u8, rows: impl Iterator<Item = u8>) -> Value {
    let rows: Vec<String> = rows.map(|row| row.to_string()).collect();
    record([
        ("id", Value::Text(id.to_string())),
        ("type", text("Seed")),
        ("brand", text("House brand")),
        ("variety", text(work.crop.variety)),
        ("row", Value::Text(rows.join(","))),
    ])
}

/// What the mix of the sprayer is made of; the ratios add up to the whole tank.
fn ingredients(work: &Work) -> Vec<Value> {
    [("1", "Water", "", "96.5"), ("2", "Herbicide A", "Broadleaf weeds", "3"), ("3", "Surfactant", "", "0.5")]
        .map(|(id, name, pests, percent)| {
            record([
                ("id", text(id)),
                ("name", text(name)),
                ("manufacturer", text("")),
                ("epa_number", text("")),
                ("target_pests", text(pests)),
                ("mix_ratio", Value::Text(format!("{percent} % of {}", work.product))),
            ])
        })
        .into()
}

fn record(fields: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    Value::Record(fields.into_iter().map(|(name, value)| (Cow::Borrowed(name), value)).collect())
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

/// A number as displays give it: with at most six decimals.
fn decimal(value: f64) -> Value {
    Value::Decimal((value * 1e6).round() / 1e6)
}
