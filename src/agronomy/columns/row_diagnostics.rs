//! Diagnostics of harmonised rows: their masses, and what the job and other rows say of them.

use crate::columns::added::Added;
use crate::columns::canonical::JobKind;
use crate::columns::derived::Rows;
use crate::columns::job_rows::{other_crop, other_totals};
use crate::columns::provenance as keys;
use crate::columns::row_ratios::median_and_range;
use crate::columns::statements::Job;
use crate::rows::repeated_rows::repeated_rows;
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::Layer;

/// Logarithms of wet / dry mass at the moistures at which a dry yield is stated, 0 to 16.5 %.
const BASES: std::ops::RangeInclusive<f64> = -0.005..=0.18;
/// What they spread between rows where the moisture varies.
const LEAST_SPREAD: f64 = 0.002;

/// All diagnostics of the rows. `no_market` is the one of a missing dry mass, and `said` are those of the columns.
pub(crate) fn row_diagnostics(
    layer: &Layer,
    (kind, job): (JobKind, &Job),
    (rows, added): (&Rows, &[Added]),
    no_market: Option<Diagnostic>,
    said: &[Diagnostic],
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if kind == JobKind::Yield {
        found = mass_diagnostics(rows, added, no_market, said);
        found.extend(other_crop(job, added));
    }
    found.extend(other_totals(job, kind, rows, added));
    found.extend(repeated_rows(layer, rows));
    found
}

/// Diagnostics of the masses of a harvest: none dry, for which `unknown` is the reason, of an assumed basis, or one of two.
fn mass_diagnostics(rows: &Rows, added: &[Added], unknown: Option<Diagnostic>, said: &[Diagnostic]) -> Vec<Diagnostic> {
    let has = |name: &str| added.iter().any(|column| column.field.name() == name);
    let is_dry_only = has("yield_dry_mass") && rows.dry_basis.is_none() || has("yield_dry_volume");
    let unknown = unknown.filter(|_| has("wet_mass") || is_dry_only);
    let is_contradicted = said.iter().any(|diagnostic| diagnostic.code == Code::UnitsContradict);
    let other = rows.other_mass.filter(|_| !is_contradicted).map(|(source, ratio)| {
        let message = format!(
            "masses follow from `flow` x `interval`, but {source} is {ratio:.3} times that in the median row, as after a \
             calibration of one of them: if the yield is right, harmonise without the column of the flow"
        );
        Diagnostic::new(Code::MassAssumed, message)
    });
    let other = other.into_iter().chain(exchanged_yields(rows));
    unknown.into_iter().chain(assumed_basis(added, rows.dry_basis.is_some())).chain(other).collect()
}

/// A diagnostic if wet and dry yields are exchanged, so that the dry ones grow with the moisture.
fn exchanged_yields(rows: &Rows) -> Option<Diagnostic> {
    let pairs = [["yield_wet_mass", "yield_dry_mass"], ["yield_wet_volume", "yield_dry_volume"]];
    let [wet, dry] = pairs.into_iter().find(|pair| pair.iter().all(|name| rows.get(name).is_some()))?;
    // ln(dry / wet) is that of the dry share of the grain, less that at the moisture of the dry yield.
    let basis = |sign: f64| {
        let one = |[wet, dry, moisture]: [f64; 3]| sign * (dry / wet).ln() - (1.0 - moisture / 100.0).ln();
        rows.combine([wet, dry, "moisture"], one).map(median_and_range)
    };
    let ((found, spread), (exchanged, less)) = basis(1.0).zip(basis(-1.0))?;
    let is_varying = spread > LEAST_SPREAD && less < 0.5 * spread;
    let is_impossible = spread <= LEAST_SPREAD && !BASES.contains(&found);
    ((is_varying || is_impossible) && BASES.contains(&exchanged)).then(|| {
        let message = format!(
            "`{dry}` is {:.3} times `{wet}` in the median row, as if both were exchanged: dry grain is less where it was wetter; \
             pass them as `columns={{\"{wet}\": ..., \"{dry}\": ...}}`",
            (0.5 * (found - exchanged)).exp()
        );
        Diagnostic::new(Code::ColumnsContradict, message)
    })
}

/// The diagnostic for masses that follow from a dry yield whose water nothing states.
fn assumed_basis(added: &[Added], has_basis: bool) -> Option<Diagnostic> {
    let metadata = |name: &str, key: &str| {
        added.iter().find(|column| column.field.name() == name)?.field.metadata().get(key).cloned()
    };
    let source = metadata("wet_mass", keys::SOURCE).or_else(|| metadata("dry_mass", keys::SOURCE))?;
    let name = source.split_once(" x ")?.0;
    let is_assumed = name == "yield_dry_volume" || name == "yield_dry_mass" && !has_basis;
    is_assumed.then(|| {
        let message = format!(
            "masses follow from `{name}`, which is assumed to be at the market moisture of {} %; `market_moisture` states another",
            metadata("dry_mass", keys::MOISTURE_BASIS).unwrap_or_default()
        );
        Diagnostic::new(Code::MassAssumed, message)
    })
}
