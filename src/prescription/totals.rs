//! Ground and product of a prescription, for each rate and in all.

use super::merge::same_rate;
use headland_agronomy::Unit;
use headland_base::error::{Error, Kind, Result};

/// Square metres of a hectare.
const HECTARE: f64 = 10_000.0;

/// Ground and product of one rate.
#[derive(Clone, Debug, PartialEq)]
pub struct RateTotal {
    /// The rate.
    pub rate: f64,
    /// The number of zones with it.
    pub zones: usize,
    /// Hectares.
    pub area: f64,
    /// Product in the unit of the amount, such as kilograms.
    pub amount: f64,
}

/// Ground and product of all zones.
#[derive(Clone, Debug, PartialEq)]
pub struct Totals {
    /// By rate, the lowest first.
    pub rates: Vec<RateTotal>,
    /// Hectares.
    pub area: f64,
    /// Product in the unit of the amount.
    pub amount: f64,
    /// The unit of the amount, such as `kg`.
    pub unit: String,
}

/// The unit of the amount and the square metres of the unit of ground of a rate's unit.
pub fn area_unit(unit: &str) -> Result<(String, f64)> {
    let spelled = Unit::spell(unit);
    let parts = spelled.rsplit_once('/').or_else(|| spelled.rsplit_once(" per "));
    let metres = |per: &str| match per.trim().to_ascii_lowercase().as_str() {
        "ha" | "hectare" => Some(HECTARE),
        "ac" | "acre" => Some(4_046.856_422_4),
        "m2" => Some(1.0),
        _ => None,
    };
    let found = parts.and_then(|(amount, per)| Some((amount.trim(), metres(per)?)));
    found.filter(|(amount, _)| !amount.is_empty()).map(|(amount, metres)| (amount.to_owned(), metres)).ok_or_else(
        || {
            let message = format!(
                "`unit`: expected an amount per hectare or acre, such as \"kg/ha\", \"L/ha\", \"lb/ac\", \"gal/ac\" or \
             \"seeds/ac\", got `{unit}`"
            );
            Error::new(Kind::Value, message)
        },
    )
}

/// Sums zones: pairs of a rate and an area in square metres.
pub(super) fn sum(zones: &[(f64, f64)], unit: &str) -> Result<Totals> {
    let (unit, metres) = area_unit(unit)?;
    let mut sorted: Vec<(f64, f64)> = zones.to_vec();
    sorted.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut rates: Vec<RateTotal> = Vec::new();
    for (rate, area) in sorted {
        let (hectares, amount) = (area / HECTARE, rate * (area / metres));
        match rates.last_mut().filter(|last| same_rate(last.rate, rate)) {
            Some(last) => {
                last.zones += 1;
                last.area += hectares;
                last.amount += amount;
            }
            None => rates.push(RateTotal { rate, zones: 1, area: hectares, amount }),
        }
    }
    let area = rates.iter().map(|total| total.area).sum();
    let amount = rates.iter().map(|total| total.amount).sum();
    Ok(Totals { rates, area, amount, unit })
}
