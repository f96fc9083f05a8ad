//! Computes the wet mass of rows of a harvest without a logged flow.

use crate::columns::crops::Crop;
use crate::columns::derived::HECTARE;
use crate::columns::market_moisture::at_moisture;
use crate::columns::provenance as keys;
use crate::columns::row_ratios::median;
use crate::columns::values::CanonicalValues;
use headland_base::error::{Error, Result};
use headland_reader::archive::{Code, Diagnostic};

/// Yields per area in the order of their use, with the rule of the flow that follows.
const RATES: [(&str, &str); 6] = [
    ("yield_wet_mass", "yield_wet_mass x worked_area / interval"),
    ("yield_wet_volume", "yield_wet_volume x worked_area / interval"),
    ("yield_dry_mass", "yield_dry_mass x worked_area / interval"),
    ("yield_dry_matter", "yield_dry_matter x worked_area / interval"),
    ("yield_dry_volume", "yield_dry_volume x worked_area / interval"),
    ("yield", "yield x worked_area / interval"),
];

/// The mass of each row in kilograms.
pub(crate) struct RowMass {
    pub(crate) kg: Vec<f64>,
    /// The columns that the flow of these masses follows from.
    pub(crate) rule: &'static str,
}

/// The water of a mass.
enum Basis {
    Wet,
    /// Percent of water, `None` if unknown.
    Dry(Option<f64>),
}

/// The wet mass of each row: the harmonised column, else a yield times `worked_area`.
///
/// A dry mass becomes wet with `moisture`. Where that or the moisture of the dry mass is unknown, the dry mass is used as
/// it is, with a diagnostic. `None` if no column gives a mass.
pub(crate) fn row_mass(
    values: &CanonicalValues<'_>,
    area: &[f64],
    moisture: Option<&[f64]>,
    crop: Option<&Crop>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<RowMass> {
    let by_rate = |name: &str| {
        let rates = values.numbers(name, "kg/ha")?;
        let kg: Vec<f64> = rates.iter().zip(area).map(|(rate, area)| rate * area / HECTARE).collect();
        kg.iter().any(|kg| kg.is_finite()).then_some(kg)
    };
    if let Some(mut kg) = values.numbers("wet_mass", "kg") {
        // Rows without a logged distance or width have an area by now.
        if let Some(rates) = by_rate("yield_wet_mass").or_else(|| by_rate("yield_wet_volume")) {
            kg.iter_mut().zip(rates).filter(|(kg, _)| kg.is_nan()).for_each(|(kg, rate)| *kg = rate);
        }
        return Some(RowMass { kg, rule: wet_rule(values) });
    }
    let stated = |name: &str| values.metadata(name, keys::MOISTURE_BASIS).and_then(|text| text.parse().ok());
    let market = crop.and_then(|crop| crop.market_moisture);
    let mass = |(name, rule): (&'static str, &'static str)| {
        // The harmonised dry mass is at the market moisture, also where the display's basis is dry matter.
        if ["yield_dry_mass", "yield_dry_matter"].contains(&name)
            && let Some(kg) = values.numbers("dry_mass", "kg")
        {
            return Some(("dry_mass", kg, Basis::Dry(stated("dry_mass").or(market)), "dry_mass / interval"));
        }
        let basis = match name {
            "yield_dry_mass" => Basis::Dry(stated(name).or(market)),
            "yield_dry_matter" => Basis::Dry(Some(0.0)),
            "yield_dry_volume" => Basis::Dry(market),
            "yield" => Basis::Dry(None),
            _ => Basis::Wet,
        };
        Some((name, by_rate(name)?, basis, rule))
    };
    let (name, kg, basis, rule) = RATES.into_iter().find_map(mass)?;
    let Basis::Dry(basis) = basis else { return Some(RowMass { kg, rule }) };
    let is_stated = stated(name).is_some();
    let (Some(basis), Some(moisture)) = (basis, moisture) else {
        let unknown = if basis.is_none() { "its basis is" } else { "the moisture is" };
        let message = format!("the mass of a row is taken from `{name}` as it is, since {unknown} unknown");
        diagnostics.push(Diagnostic::new(Code::MassAssumed, message));
        return Some(RowMass { kg, rule });
    };
    if !is_stated {
        let message = format!(
            "the mass of a row is taken from `{name}`, which is assumed to be at the market moisture of {basis} %"
        );
        diagnostics.push(Diagnostic::new(Code::MassAssumed, message));
    }
    Some(RowMass { kg: wet_mass(kg, basis, moisture), rule })
}

/// The rule of a flow that follows from the harmonised wet mass.
fn wet_rule(values: &CanonicalValues<'_>) -> &'static str {
    let source = values.metadata("wet_mass", keys::SOURCE).and_then(|source| source.split_once(" x "));
    let of_yield = |(name, _): (&str, &str)| RATES.iter().find(|(rate, _)| *rate == name).map(|(_, rule)| *rule);
    source.and_then(of_yield).unwrap_or("wet_mass / interval")
}

/// The wet mass of a dry one with `basis` percent of water. Rows without a moisture have the median one.
fn wet_mass(dry: Vec<f64>, basis: f64, moisture: &[f64]) -> Vec<f64> {
    let is_usable = |moisture: &f64| (0.0..100.0).contains(moisture);
    let usual = median(moisture.iter().copied().filter(is_usable).collect());
    let wet = |(kg, moisture): (f64, &f64)| at_moisture(kg, basis, if is_usable(moisture) { *moisture } else { usual });
    dry.into_iter().zip(moisture).map(wet).collect()
}

/// An error if a mass is missing only because a unit or the weight of a bushel is unknown.
pub(crate) fn check_mass(values: &CanonicalValues<'_>) -> Result<()> {
    for name in ["flow"].into_iter().chain(RATES.map(|(name, _)| name)) {
        values.check_unit(name)?;
    }
    let volumes = RATES.iter().filter(|(name, _)| values.has(name) && values.numbers(name, "kg/ha").is_none());
    match volumes.map(|(name, _)| name).find(|name| values.numbers(name, "m3/ha").is_some()) {
        None => Ok(()),
        Some(name) => {
            let message = format!(
                "the mass of rows is unknown: `{name}` is a volume, and the weight of a bushel is unknown; pass `crop` to \
                 `headland.harmonize`"
            );
            Err(Error::for_argument("crop", message))
        }
    }
}
