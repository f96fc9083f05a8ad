//! The target of a prescription: its rates at the middle of the swaths, in the unit of the job.

use std::collections::BTreeSet;

use super::map_products::products_of_map;
use super::part::Part;
use super::rate_target::{RateUnit, Target, contradicts, rates};
use super::zones::{ZoneOverlaps, visit_zones};
use crate::columns::canonical::JobKind;
use crate::columns::harmonize::harmonize;
use crate::columns::provenance as keys;
use crate::columns::statements::Statements;
use crate::maps::prescribed_rate::{PrescribedRate, assumed_rate, prescribed_rate};
use crate::maps::rate_limit::RateLimit;
use crate::maps::zone_units::{is_same_unit, zone_units};
use crate::rows::result_columns::polygons;
use headland_base::error::{Error, Result};
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::Layer;
use headland_reader::layer::units::Unit;

/// The rates of a prescription at the middle of the swaths. Zones that name a product are those of its rows.
pub(super) fn planned(
    map: &Layer,
    unit: &RateUnit,
    (layer, applied): (&Layer, &[f64]),
    parts: &[Part],
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Target> {
    let (map, index) = rate_column(map, diagnostics)?;
    let zone_rates = rates(&map, index, "zone")?;
    let groups = products_of_map(&map, layer, parts, diagnostics)?;
    let Some(plane) = parts.first().map(Part::plane) else {
        return Err(Error::for_argument("layer", "the layer has no rows".to_owned()));
    };
    let zones = polygons("target", &map, plane)?;
    let mut found = vec![f64::NAN; applied.len()];
    let (mut is_any_inside, mut overlaps, mut outliers) = (false, ZoneOverlaps::default(), BTreeSet::new());
    for group in &groups {
        let factor = zone_factor(&map, index, &group.zones, unit, diagnostics)?;
        let of_group = (0..zones.len()).filter(|zone| group.zones.contains(*zone)).map(|zone| zone_rates[zone]);
        let limit = RateLimit::of(of_group);
        let is_logged = (0..zones.len()).any(|zone| group.zones.contains(zone) && zone_rates[zone] > 0.0);
        if !is_logged {
            diagnostics.push(all_zero(group.name.as_deref()));
        }
        for part in &group.parts {
            visit_zones(
                &zones,
                part.rows().len(),
                |k| part.middle(k),
                |k, near| {
                    let own: Vec<usize> = near.iter().copied().filter(|zone| group.zones.contains(*zone)).collect();
                    is_any_inside |= !own.is_empty();
                    overlaps.add(&own, &zone_rates, part.ground(k));
                    // Displays do not state which zone they apply.
                    let rate = own.first().map_or(f64::NAN, |zone| zone_rates[*zone] * factor);
                    let row = part.rows()[k];
                    let is_no_target =
                        limit.is_some_and(|limit| limit.is_no_target(rate / factor, applied[row] / factor));
                    if is_no_target && let Some(zone) = own.first() {
                        outliers.insert(*zone);
                    }
                    found[row] = if is_logged && !is_no_target { rate } else { f64::NAN };
                },
            );
        }
    }
    diagnostics.extend(overlaps.diagnostic(&zone_rates));
    diagnostics.extend(outliers.first().map(|first| {
        let message = format!(
            "{} zones of the prescription have rates far above the others that were not applied there, such as {} of zone {first}; \
             they are no target: check the unit and the decimal point",
            outliers.len(),
            zone_rates[*first]
        );
        Diagnostic::new(Code::RateOutlier, message)
    }));
    if !is_any_inside {
        let message = "`target`: no row is inside of a zone; check the coordinate system of the prescription, or that it \
                       is of this field";
        return Err(Error::for_argument("target", message.to_owned()));
    }
    diagnostics.extend(contradicts(&found, applied, "the planned one", map.schema().field(index).name()));
    Ok(Target { name: "planned".to_owned(), is_map: true, rates: found })
}

/// A prescription without a rate above 0 is a plan that was not filled in, and asks for nothing that could be compared.
fn all_zero(product: Option<&str>) -> Diagnostic {
    let of_product = product.map(|name| format!(" for `{name}`")).unwrap_or_default();
    let message = format!(
        "the prescription{of_product} has no rate above 0 in any zone, so it has no target, and nothing is compared with it"
    );
    Diagnostic::new(Code::TargetNotLogged, message)
}

/// The column of the rate: `target_rate` of a harmonised map, else as checks find it, else what harmonising finds.
fn rate_column(map: &Layer, diagnostics: &mut Vec<Diagnostic>) -> Result<(Layer, usize)> {
    let schema = map.schema();
    let target = |layer: &Layer| layer.schema().fields().iter().position(|field| field.name() == "target_rate");
    if let Some(index) = target(map).filter(|index| keys::is_added(schema.field(*index))) {
        return Ok((map.clone(), index));
    }
    let found = prescribed_rate(map);
    if let PrescribedRate::Column(index) = found {
        diagnostics.extend(assumed_rate(map, index));
        return Ok((map.clone(), index));
    }
    let harmonized = harmonize(map.clone(), &Statements { kind: Some(JobKind::AsApplied), ..Statements::default() });
    if let Some((layer, index)) = harmonized.ok().and_then(|layer| target(&layer).map(|index| (layer, index))) {
        return Ok((layer, index));
    }
    let (said, advice) = if let PrescribedRate::Several(several) = found {
        let names: Vec<String> = several.iter().map(|index| format!("`{}`", schema.field(*index).name())).collect();
        (format!("has several columns that can be the rate: {}", names.join(", ")), "call only that of the rate `RATE`")
    } else {
        let said = "has no column of numbers that is no id and no size of the zones".to_owned();
        (said, "pass a prescription with a column `RATE`")
    };
    Err(Error::for_argument("target", format!("`target`: the prescription {said}; {advice}")))
}

/// What the rates of some zones are multiplied by: the column or the text column `UNIT` states the unit; without either it is
/// that of the display, with a diagnostic.
fn zone_factor(
    map: &Layer,
    index: usize,
    zones: &super::map_products::Zones,
    unit: &RateUnit,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<f64> {
    let schema = map.schema();
    let name = schema.field(index).name();
    let refused = |message: String| Error::for_argument("target", format!("`target`: {message}"));
    let by_field = schema.field(index).metadata().get("unit").filter(|text| Unit::parse(text).is_some()).cloned();
    let by_text = zone_units(map).and_then(|units| {
        let distinct = units.distinct(is_same_unit);
        let mut own = distinct.into_iter().filter(|(_, of)| of.iter().any(|zone| zones.contains(*zone)));
        let first = own.next()?.0.to_owned();
        Some((units.column.clone(), first, own.next().map(|(text, _)| text.to_owned())))
    });
    if let Some((column, first, Some(second))) = &by_text {
        return Err(refused(format!(
            "column `{column}` of the prescription has `{first}` and `{second}`; pass the zones of one of them"
        )));
    }
    let by_text = by_text.map(|(column, text, _)| (column, text));
    if let (Some(stated), Some((column, text))) = (&by_field, &by_text)
        && !is_same_unit(stated, text)
    {
        return Err(refused(format!(
            "the rates of the prescription are in `{stated}` by the unit of column `{name}`, but in `{text}` by column \
             `{column}`; drop the wrong one"
        )));
    }
    if let Some(text) = by_field.or(by_text.map(|(_, text)| text)) {
        return Unit::parse(&text).and_then(|stated| unit.factor(stated)).ok_or_else(|| {
            refused(format!(
                "the rates of the prescription are in `{text}`, but those of the job in `{}`; they cannot be compared",
                unit.per_ha
            ))
        });
    }
    let (assumed, factor) = unit
        .logged
        .and_then(|logged| Some((logged.to_string(), unit.factor(logged)?)))
        .unwrap_or_else(|| (unit.per_ha.clone(), 1.0));
    let message = format!(
        "the prescription states no unit, so column `{name}` is read in `{assumed}` as the applied rate was logged; if it is \
         another one, pass `headland.harmonize(target, kind=\"as_applied\", columns={{\"target_rate\": \"{name}\"}}, \
         units={{\"{name}\": ...}})`"
    );
    diagnostics.push(Diagnostic::new(Code::UnitUnknown, message));
    Ok(factor)
}
