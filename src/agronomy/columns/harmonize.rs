//! Adds canonical columns to a layer: the same names and units for all displays.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_schema::Field;

use crate::columns::added::Added;
use crate::columns::arrays::{add_computed, add_date, add_times, constant_interval, number_column, other_column};
use crate::columns::canonical::{CANONICAL, Content, JobKind, canonical, is_canonical};
use crate::columns::canonical_rows::crop_names;
use crate::columns::cell_values::{arrays, trimmed};
use crate::columns::convert::{known_crop, stated_crop_names};
use crate::columns::crops::Crop;
use crate::columns::derived::Rows;
use crate::columns::edited::edited;
use crate::columns::job_products::{JOB_TOTALS, totals_entry};
use crate::columns::market_moisture::{MARKET, crops_of, dry_again};
use crate::columns::matching::{Match, Unused, implied_kind, match_columns, values};
use crate::columns::own_columns::{points_of, restored, with_points as with_own_points};
use crate::columns::provenance as keys;
use crate::columns::row_diagnostics::row_diagnostics;
use crate::columns::statements::{Job, Statements};
use crate::columns::unit_checks::check_units;
use crate::columns::unit_inference::Proven;
use crate::columns::unit_proofs::{name_yields, prove_units};
use crate::columns::unused_columns::{report, unknown_names};
use crate::ground::logged_areas::{further_products, polygon_areas, settle_polygons};
use crate::rows::claims::settle;
use crate::rows::result_columns::{insert_columns, select_columns};
use crate::times::context::RowTimes;
use crate::times::row_times::row_times;
use headland_base::error::{Error, Kind, Result};
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::{Layer, LocalTimes};

/// The times of a layer that are on the display's clock, whose zone the caller knows.
pub fn local_times(layer: &Layer, statements: &Statements) -> Result<Option<LocalTimes>> {
    let layer = &if keys::is_harmonized(layer) { originals(layer.clone())? } else { layer.clone() };
    let matches = match_columns(layer, &statements.stated, &mut Vec::new(), &mut Vec::new())?;
    let times = row_times(layer, &matches, statements.job.start, &mut Vec::new());
    Ok(times.filter(|times| times.is_local).map(|times| LocalTimes::from_local(&times.micros)))
}

/// Adds the canonical columns before the geometry. Original columns keep their values and their order; those with a
/// canonical name get `_original` behind it.
pub fn harmonize(layer: Layer, statements: &Statements) -> Result<Layer> {
    let layer = harmonized(layer, statements)?;
    let entries = [(keys::JOB_NAME, statements.job.name.clone()), (JOB_TOTALS, totals_entry(&statements.job.products))];
    Ok(entries.into_iter().fold(layer, |layer, (key, value)| match value {
        Some(value) => layer.with_entry(key, Some(&value)),
        None => layer,
    }))
}

fn harmonized(layer: Layer, statements: &Statements) -> Result<Layer> {
    let layer = match restored(&layer, statements)? {
        Some(layer) if statements.market_moisture.is_empty() => return with_crs(with_edits(layer), statements),
        Some(layer) => return dry_again(with_crs(layer, statements)?, None, &statements.market_moisture),
        None => with_crs(layer, statements)?,
    };
    let is_stated = statements.offsets.is_some()
        || statements.kind.is_some()
        || !statements.stated.columns.is_empty()
        || !statements.stated.units.is_empty();
    if keys::is_harmonized(&layer) {
        let layer = with_own_points(layer, statements.crs.as_ref())?;
        let is_concat = keys::is_concatenated(&layer);
        // Another crop may prove other units.
        if !is_stated && (statements.crop.is_none() || is_concat) {
            if statements.crop.is_none() && statements.market_moisture.is_empty() {
                return Ok(with_edits(layer));
            }
            let crop = statements.crop.as_deref().map(known_crop).transpose()?;
            return dry_again(layer, crop, &statements.market_moisture);
        }
        if is_concat {
            let message = format!(
                "layer `{}` is a concatenation, whose original columns are gone; state this of its layers",
                layer.name()
            );
            return Err(Error::new(Kind::Value, message));
        }
        let lost = edited(&layer, true);
        return Ok(with_more(harmonized(originals(layer)?, statements)?, lost));
    }
    let mut diagnostics = Vec::new();
    let mut unused = Vec::new();
    let matches = match_columns(&layer, &statements.stated, &mut unused, &mut diagnostics)?;
    let kind = kind(&layer, statements, &matches)?;
    let mut matches = of_kind(matches, kind, &mut unused);
    let times = row_times(&layer, &matches, statements.job.start, &mut diagnostics);
    let (crop, unknown_crop) = crop(&layer, statements, &matches, &mut diagnostics)?;
    let layer = with_points(layer, &matches, statements)?;
    let proven = checked_units(&layer, &mut matches, times.as_ref(), crop, &statements.job, &mut diagnostics)?;

    let mut added: Vec<Added> = Vec::new();
    let mut unknown: HashMap<usize, &Match> = HashMap::new();
    let mut rows = Rows {
        columns: HashMap::new(),
        times: None,
        dry_basis: proven.moisture_basis,
        kg_per_bushel: crop.and_then(Crop::kg_per_bushel).or(proven.kg_per_bushel),
        resolution: times.as_ref().map_or(1, |times| times.resolution),
        polygons: polygon_areas(&layer),
        ..Rows::default()
    };
    if kind == JobKind::Yield
        && let Some(markets) = markets(&layer, statements, crop, &matches, &mut diagnostics)
    {
        rows.columns.insert(MARKET, markets);
    }
    if let Some(times) = times {
        added.extend(add_times(&layer, times, statements.offsets.as_deref(), &mut rows, &mut diagnostics)?);
    }
    added.extend(matches.iter().find(|found| found.canonical == "date").and_then(|date| add_date(&layer, date)));
    for column in CANONICAL {
        let Some(found) = matches.iter().find(|found| found.canonical == column.name) else { continue };
        if column.content != Content::Number {
            match other_column(&layer, found, column, &mut rows) {
                Ok(mut other) => {
                    if column.name == "crop" {
                        // Displays spell a crop in many ways.
                        other.arrays = other.arrays.iter().map(|array| crop_names(array, None)).collect();
                    }
                    added.push(other);
                }
                Err(reason) => unused.push(Unused::new(found.column, found.canonical, reason)),
            }
        } else if let Some(number) = number_column(&layer, found, column, &mut rows, &mut diagnostics) {
            added.push(number);
        } else {
            unknown.insert(found.column, found);
        }
    }
    unused.extend(unknown_names(&layer, kind, &matches));
    diagnostics.extend(report(&layer, &unused));
    if let Some(seconds) = proven.interval {
        added.push(constant_interval(&layer, seconds, &mut rows));
    }
    diagnostics.extend(settle_polygons(&layer, &mut rows));
    settle(&layer, kind, &mut rows, &mut added, &mut diagnostics);
    if kind != JobKind::Yield {
        rows.is_further = further_products(&layer, &rows, &added);
    }
    let no_market = (!rows.columns.contains_key(MARKET)).then(|| crop_unknown(crop, unknown_crop.as_deref()));
    add_computed(&layer, kind, &mut rows, &mut added);
    let said = row_diagnostics(&layer, (kind, &statements.job), (&rows, &added), no_market, &diagnostics);
    diagnostics.extend(said);
    if added.is_empty() && unknown.is_empty() {
        let message = format!(
            "no column of layer `{}` has a known meaning; `columns` names them, such as `columns={{\"yield\": \"Yld\"}}`",
            layer.name()
        );
        return Err(Error::for_argument("columns", message));
    }
    let layer = assemble(layer, &added, &unknown)?.with_diagnostics(diagnostics);
    Ok(layer.with_entry(keys::KIND, Some(kind.as_str())).with_entry(keys::CROP, crop.map(|crop| crop.name)))
}

/// A harmonised layer with a diagnostic of columns that were changed.
fn with_edits(layer: Layer) -> Layer {
    let found = edited(&layer, false);
    with_more(layer, found)
}

/// A layer with one more diagnostic, if there is one.
fn with_more(layer: Layer, more: Option<Diagnostic>) -> Layer {
    if more.is_some() { layer.with_diagnostics(more.into_iter().collect()) } else { layer }
}

/// Reports stated units that the rows contradict, and states those that can be proven.
fn checked_units(
    layer: &Layer,
    matches: &mut Vec<Match>,
    times: Option<&RowTimes>,
    crop: Option<&Crop>,
    job: &Job,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Proven> {
    name_yields(matches);
    check_units(layer, matches, times, crop, job, diagnostics)?;
    prove_units(layer, matches, times, crop, job, diagnostics)
}

/// The layer in the coordinate system that the caller states.
fn with_crs(layer: Layer, statements: &Statements) -> Result<Layer> {
    match &statements.crs {
        Some(crs) => layer.with_stated_crs(crs),
        None => Ok(layer),
    }
}

/// A table with longitudes and latitudes gets points.
fn with_points(layer: Layer, matches: &[Match], statements: &Statements) -> Result<Layer> {
    let find = |name: &str| matches.iter().find(|found| found.canonical == name);
    let Some((x, y)) = find("longitude").zip(find("latitude")).filter(|_| layer.geometry_index().is_none()) else {
        return Ok(layer);
    };
    let (x, y) = (values(&layer, x), values(&layer, y));
    points_of(layer, (&x, &y), statements.crs.as_ref())
}

/// The kind of job: stated, from the service, from the sidecar, or from the columns.
fn kind(layer: &Layer, statements: &Statements, matches: &[Match]) -> Result<JobKind> {
    let is_operation = |key: &str| ["operation", "jobtype"].contains(&key.to_lowercase().as_str());
    let by_sidecar =
        || layer.metadata().iter().filter(|(key, _)| is_operation(key)).find_map(|(_, name)| JobKind::find(name));
    statements.kind.or(statements.job.kind).or_else(by_sidecar).or_else(|| implied_kind(matches)).ok_or_else(|| {
        let found: Vec<&str> = matches.iter().map(|found| found.canonical).collect();
        let what = if found.is_empty() {
            format!("the columns of layer `{}` have no known meaning; pass `columns=` and", layer.name())
        } else {
            format!(
                "the columns of layer `{}` ({}) do not say what kind of job it is; pass",
                layer.name(),
                found.join(", ")
            )
        };
        let message = format!("{what} `kind=`: \"yield\", \"as_applied\" or \"planting\"");
        Error::for_argument("kind", message)
    })
}

/// The crop: stated, from the service, from the sidecar, or the one that all rows name.
///
/// Two that differ are a diagnostic. A name that is not known is the one of the diagnostic of a missing dry mass.
fn crop(
    layer: &Layer,
    statements: &Statements,
    matches: &[Match],
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<(Option<&'static Crop>, Option<String>)> {
    let stated = statements.crop.as_deref().map(known_crop).transpose()?;
    let by_rows = || {
        let by_name = |name: &str| matches.iter().find(|found| found.canonical == name);
        // The product of a harvest is its crop.
        let found = by_name("crop").or_else(|| by_name("product"))?;
        let batches = layer.batches().iter().filter_map(|batch| batch.columns().get(found.column));
        let mut names =
            batches.filter_map(|array| array.as_string_opt::<i64>()).flat_map(|array| array.iter()).flatten();
        let first = trimmed(names.next()?);
        let is_same =
            |name: &str| trimmed(name) == first || Crop::find(name).is_some_and(|crop| Crop::find(first) == Some(crop));
        names.all(is_same).then(|| first.to_owned())
    };
    let names: Vec<String> =
        statements.job.crop.iter().cloned().chain(stated_crop_names(layer)).chain(by_rows()).collect();
    let own = names.iter().find_map(|name| Some((Crop::find(name)?, name)));
    if let (Some(stated), Some((own, name))) = (stated, own)
        && stated != own
    {
        let message =
            format!("`crop` is `{}`, but the job or its rows name `{name}`; `{}` is used", stated.name, stated.name);
        diagnostics.push(Diagnostic::new(Code::CropContradicts, message));
    }
    let crop = stated.or(own.map(|(own, _)| own));
    Ok((crop, names.into_iter().next().filter(|_| crop.is_none())))
}

/// The matches that a kind of job has. The others are not used, which is said if none of these says what was yielded or applied.
fn of_kind(matches: Vec<Match>, kind: JobKind, unused: &mut Vec<Unused>) -> Vec<Match> {
    let belongs = |found: &Match| canonical(found.canonical).is_none_or(|column| column.kinds.contains(&kind));
    let (matches, others): (Vec<Match>, Vec<Match>) = matches.into_iter().partition(belongs);
    if implied_kind(&matches).is_none() {
        let reason = format!("no column of {}", kind.as_str());
        unused.extend(others.iter().map(|found| Unused::new(found.column, found.canonical, reason.clone())));
    }
    matches
}

/// The diagnostic for a harvest without a dry mass, for want of a crop or of its market moisture.
fn crop_unknown(crop: Option<&Crop>, name: Option<&str>) -> Diagnostic {
    let (what, advice) = match (crop, name) {
        (Some(crop), _) => (format!("`{}` has no market moisture", crop.name), "its masses are as harvested"),
        (None, Some(name)) => (format!("the crop `{name}` is not known"), "`crop` states it, such as `crop=\"corn\"`"),
        (None, None) => ("the crop is unknown".to_owned(), "`crop` states it, such as `crop=\"corn\"`"),
    };
    Diagnostic::new(Code::CropUnknown, format!("{what}, so there is no dry mass; {advice}"))
}

/// The market moisture of each row: that of the crop, else of the crops that rows name. `None` if it is unknown for all.
fn markets(
    layer: &Layer,
    statements: &Statements,
    crop: Option<&'static Crop>,
    matches: &[Match],
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Vec<f64>> {
    let stated = &statements.market_moisture;
    let by_name = |name: &str| matches.iter().find(|found| found.canonical == name);
    let texts = by_name("crop").or_else(|| by_name("product")).filter(|_| crop.is_none());
    let Some(texts) = texts else { return stated.of(crop).map(|percent| vec![percent; layer.len()]) };
    let crops = crops_of(arrays(layer, texts.column), None);
    let markets: Vec<f64> = crops.iter().map(|crop| stated.of(*crop).unwrap_or(f64::NAN)).collect();
    let known = markets.iter().filter(|percent| percent.is_finite()).count();
    if known > 0 && known < markets.len() {
        let message = format!(
            "the crop of {} rows is unknown, so they have no dry mass; `crop` or `market_moisture` states it",
            markets.len().saturating_sub(known)
        );
        diagnostics.push(Diagnostic::new(Code::CropUnknown, message));
    }
    (known > 0 && markets.len() == layer.len()).then_some(markets)
}

/// The layer with the added columns, and with the meaning of those whose unit is unknown.
fn assemble(layer: Layer, added: &[Added], unknown: &HashMap<usize, &Match>) -> Result<Layer> {
    let old = layer.schema();
    let geometry = layer.geometry_index();
    let fields = old
        .fields()
        .iter()
        .enumerate()
        .map(|(index, field)| original(field, unknown.get(&index).copied(), geometry == Some(index)))
        .collect();
    insert_columns(layer, fields, added)
}

/// An original column: renamed if a canonical column has its name, with the meaning that its unit prevents.
fn original(field: &Arc<Field>, unknown: Option<&Match>, is_geometry: bool) -> Arc<Field> {
    let is_renamed = !is_geometry && is_canonical(field.name());
    if unknown.is_none() && !is_renamed {
        return Arc::clone(field);
    }
    let mut metadata = field.metadata().clone();
    let mut name = field.name().clone();
    if let Some(found) = unknown {
        metadata.insert(keys::CANONICAL.to_owned(), found.canonical.to_owned());
        metadata.insert(keys::RULE.to_owned(), found.rule.to_owned());
    }
    if is_renamed {
        metadata.insert(keys::ORIGINAL_NAME.to_owned(), name.clone());
        name.push_str("_original");
    }
    Arc::new(Field::new(name, field.data_type().clone(), field.is_nullable()).with_metadata(metadata))
}

/// The layer before it was harmonised.
fn originals(layer: Layer) -> Result<Layer> {
    let old = layer.schema();
    let originals = old.fields().iter().enumerate().filter(|(_, field)| !keys::is_added(field));
    let kept = originals.map(|(index, field)| {
        let mut metadata = field.metadata().clone();
        let name = metadata.remove(keys::ORIGINAL_NAME).unwrap_or_else(|| field.name().clone());
        metadata.remove(keys::CANONICAL);
        metadata.remove(keys::RULE);
        (index, Arc::new(Field::new(name, field.data_type().clone(), field.is_nullable()).with_metadata(metadata)))
    });
    let layer = select_columns(layer, kept.collect())?;
    Ok(layer.with_entry(keys::KIND, None).with_entry(keys::CROP, None))
}
