//! Details of field computers and jobs in the record shapes of the table. Their totals agree with the truth.

use std::borrow::Cow;

use chrono::{DateTime, Duration, Utc};

use super::deterministic_math::{i64_to_f64, unscaled, usize_to_f64};
use super::job_spec::{JobLog, JobSpec, Kind};
use super::units::Units;
use headland_wire::Value;

/// A model of field computer.
#[derive(Debug)]
pub(super) struct Display {
    pub(super) name: &'static str,
    pub(super) device_type: &'static str,
    /// Software version of the detail; may be empty.
    pub(super) software: &'static str,
    /// Whether a field hub was ever connected.
    pub(super) has_hub: bool,
    pub(super) dispatch: bool,
    /// Whether a sidecar of its exports contains the units of the columns.
    pub(super) states_units: bool,
    /// Units of the model.
    pub(super) units: &'static Units,
}

/// Metadata of a job that its specification does not contain.
pub(super) struct JobMetadata<'a> {
    pub(super) id: &'a str,
    /// Ids of the products; a job may have fewer.
    pub(super) product_ids: Vec<String>,
    pub(super) computer: &'a str,
    pub(super) software: &'a str,
    pub(super) created: DateTime<Utc>,
    pub(super) updated: DateTime<Utc>,
    pub(super) end: DateTime<Utc>,
}

/// Returns the detail of a field computer.
pub(super) fn computer_detail(display: &Display, id: &str, hub: Option<String>, reported: DateTime<Utc>) -> Value {
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

/// Returns the detail of a job; without a log it has no products.
pub(super) fn job_detail(spec: &JobSpec, log: Option<&JobLog>, metadata: &JobMetadata) -> Value {
    let file_name = format!("{}.jdp", spec.layer);
    let job_type = match spec.kind {
        Kind::Planting => "Planter",
        Kind::Spraying => "AsApplied",
        Kind::Harvest => "Yield",
    };
    let mut fields = vec![
        ("device_file_name", text(&file_name)),
        ("create_date", Value::Time(metadata.created)),
        ("update_date", Value::Time(metadata.updated)),
        ("job_type", text(job_type)),
        ("id", text(metadata.id)),
        ("field_computer_id", text(metadata.computer)),
        (if spec.kind == Kind::Spraying { "job_name" } else { "file_name" }, text(&spec.layer)),
        ("start_date", Value::Time(spec.start.and_utc())),
        ("end_date", Value::Time(metadata.end)),
        ("software_version", text(metadata.software)),
    ];
    if spec.kind == Kind::Spraying {
        fields.extend(operator_entries(spec));
    }
    if let Some(log) = log {
        fields.extend(average_speed(spec, log));
    }
    let products = log.map(|log| product_details(spec, log, metadata)).unwrap_or_default();
    fields.push(("products", Value::List(products)));
    record(fields)
}

/// Returns the values entered by the operator of a sprayer, as free text.
fn operator_entries(spec: &JobSpec) -> Vec<(&'static str, Value)> {
    let hectares = spec.field.area / spec.units.area.1;
    let observed = spec.start + Duration::minutes(10);
    vec![
        ("customer_name", text("Home Farm")),
        ("customer_address", text("")),
        ("customer_number", text("001")),
        ("operator_name", text(spec.operator)),
        ("operator_license", text("")),
        ("field_name", text(spec.field.name)),
        ("field_section", text("")),
        ("field_crop", text(spec.crop.name)),
        ("field_area", Value::Text(format!("{hectares:.1} {}", spec.units.area.0))),
        ("application_type", text(if spec.is_dry { "Broadcast" } else { "Post emerge" })),
        ("soil_condition", text("Dry")),
        ("tip_size", text(if spec.is_dry { "" } else { "11004" })),
        ("weather_observation_time", Value::Text(observed.format("%H:%M").to_string())),
        ("weather_temperature", text("18")),
        ("weather_wind_speed", text("calm")),
        ("weather_humidity", text("55 %")),
        ("weather_wind_direction", text("NW")),
    ]
}

/// Returns the average speed of a sprayer in metres per second, as text.
fn average_speed(spec: &JobSpec, log: &JobLog) -> Option<(&'static str, Value)> {
    let points = &log.swaths.points;
    let speed =
        points.iter().map(|point| log.swaths.speed(point, spec.units)).sum::<f64>() / usize_to_f64(points.len());
    (spec.kind == Kind::Spraying).then(|| ("average_speed", Value::Text(format!("{speed:.2}"))))
}

/// Returns the products of a job: the usual one, then those added to a tank mix.
fn product_details(spec: &JobSpec, log: &JobLog, metadata: &JobMetadata) -> Vec<Value> {
    let mut known = metadata.product_ids.iter().zip(spec.product_totals(log));
    let first = known.next().map(|(id, total)| product_detail(spec, log, id, total.value));
    let area = spec.covered_area(log);
    let added = (1..).zip(known).zip(&log.added).map(|((number, (id, total)), product)| {
        let mut fields = vec![
            ("id", text(id)),
            ("product_number", Value::Integer(number)),
            ("product_name", text(product.name)),
            ("applied_area", decimal(area)),
        ];
        fields.extend(sprayed(log, &product.target, total.value));
        fields.push(("is_mixed", Value::Boolean(false)));
        record(fields)
    });
    first.into_iter().chain(added).collect()
}

/// Returns the volume and the target rates of a sprayed product.
fn sprayed(log: &JobLog, target: &[i64], volume: f64) -> [(&'static str, Value); 4] {
    let lowest = target.iter().min().copied().unwrap_or(0);
    let highest = target.iter().max().copied().unwrap_or(0);
    [
        ("applied_volume", decimal(volume)),
        ("target_rate", decimal(average_target(log, target, 2))),
        ("target_rate_min", decimal(unscaled(lowest, 2))),
        ("target_rate_max", decimal(unscaled(highest, 2))),
    ]
}

fn product_detail(spec: &JobSpec, log: &JobLog, id: &str, total: f64) -> Value {
    let area = spec.covered_area(log);
    let mut fields = vec![("id", text(id)), ("product_name", text(spec.product)), ("applied_area", decimal(area))];
    match spec.kind {
        Kind::Harvest => {
            fields.push(("total_weight", decimal(total)));
            fields.push(("total_bushels", decimal(total / spec.crop.bushel)));
            fields.push(("average_weight_per_area", decimal(total / area * 10_000.0)));
        }
        Kind::Planting => {
            let lowest = log.target.iter().min().copied().unwrap_or(0);
            let highest = log.target.iter().max().copied().unwrap_or(0);
            fields.push(("target_rate", decimal(average_target(log, &log.target, 0))));
            fields.push(("target_minimum", decimal(i64_to_f64(lowest))));
            fields.push(("target_maximum", decimal(i64_to_f64(highest))));
            let mass = total / 1000.0 * spec.crop.seed_mass;
            fields.push(("average_weight_per_area", decimal(mass / area * 10_000.0)));
            fields
                .push(("applied_products", Value::List(vec![seed_entry(spec, 1, 1..=8), seed_entry(spec, 2, 9..=16)])));
        }
        Kind::Spraying => {
            fields.insert(1, ("product_number", Value::Integer(0)));
            fields.extend(sprayed(log, &log.target, total));
            fields.push(("is_mixed", Value::Boolean(!spec.is_dry)));
            if !spec.is_dry {
                fields.push(("ingredients", Value::List(ingredients(spec))));
            }
        }
    }
    record(fields)
}

/// Returns the average target, weighted by area.
fn average_target(log: &JobLog, target: &[i64], decimals: u8) -> f64 {
    let lengths: i64 = log.swaths.points.iter().map(|point| point.distance).sum();
    let products: i64 = target.iter().zip(&log.swaths.points).map(|(target, point)| target * point.distance).sum();
    unscaled(products, decimals) / i64_to_f64(lengths)
}

/// Returns the seed of some rows of the planter.
fn seed_entry(spec: &JobSpec, id: u8, rows: impl Iterator<Item = u8>) -> Value {
    let rows: Vec<String> = rows.map(|row| row.to_string()).collect();
    record([
        ("id", Value::Text(id.to_string())),
        ("type", text("Seed")),
        ("brand", text("House brand")),
        ("variety", text(spec.crop.variety)),
        ("row", Value::Text(rows.join(","))),
    ])
}

/// Returns the ingredients of the tank mix; their ratios add up to 100 %.
fn ingredients(spec: &JobSpec) -> Vec<Value> {
    [("1", "Water", "", "96.5"), ("2", "Herbicide A", "Broadleaf weeds", "3"), ("3", "Surfactant", "", "0.5")]
        .map(|(id, name, pests, percent)| {
            record([
                ("id", text(id)),
                ("name", text(name)),
                ("manufacturer", text("")),
                ("epa_number", text("")),
                ("target_pests", text(pests)),
                ("mix_ratio", Value::Text(format!("{percent} % of {}", spec.product))),
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

/// Rounds a number to six decimals, as displays do.
fn decimal(value: f64) -> Value {
    Value::Decimal((value * 1e6).round() / 1e6)
}
