//! Checks the rates of zones: the column, its cells and their unit.

use super::check_content::Checker;
use super::rate_column::{self, RateColumn};
use headland_agronomy::{RateLimit, assumed_rate, is_same_unit, zone_units};
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::Layer;

/// Rows of a unit that a message names.
const SHOWN_ROWS: usize = 3;

impl Checker<'_> {
    /// Checks the column of rates. Without a decision between several, each is checked.
    pub(super) fn check_rates(&mut self, layer: &Layer) {
        match rate_column::find(layer, self.options.rate.as_deref()) {
            RateColumn::Found(name, cells) => {
                let schema = layer.schema();
                if let (None, Ok(index)) = (&self.options.rate, schema.index_of(&name))
                    && let Some(assumed) = assumed_rate(layer, index)
                {
                    self.push(assumed);
                }
                self.check_cells(layer, &name, &cells);
                self.rate = Some(name);
                self.rates = cells;
            }
            RateColumn::Several(diagnostic, columns) => {
                self.push(diagnostic);
                for column in columns {
                    match column {
                        RateColumn::Found(name, cells) => self.check_cells(layer, &name, &cells),
                        RateColumn::Several(diagnostic, _) | RateColumn::Unknown(diagnostic) => self.push(diagnostic),
                    }
                }
            }
            RateColumn::Unknown(diagnostic) => self.push(diagnostic),
        }
        self.check_units(layer);
    }

    fn check_cells(&mut self, layer: &Layer, name: &str, cells: &[Option<f64>]) {
        let zones = |is_it: &dyn Fn(&Option<f64>) -> bool| -> Vec<usize> {
            cells.iter().enumerate().filter(|(_, cell)| is_it(cell)).map(|(row, _)| row).collect()
        };
        // What the reader says of other columns does not matter to displays.
        let prefix = format!("column `{name}`");
        let is_of_column = |found: &&Diagnostic| {
            let code = found.code;
            matches!(code, Code::IntegerWithDecimals | Code::DigitsLost) && found.message.starts_with(&prefix)
        };
        for found in layer.diagnostics().iter().filter(is_of_column) {
            self.push(found.clone());
        }
        let (mut null, bad) = (zones(&Option::is_none), unreadable(layer, name));
        if let Some((count, first)) = bad {
            let what = format!("`{name}` is not a number");
            let first = usize::try_from(first).unwrap_or(0);
            let mut rows = vec![first];
            rows.resize(count.max(1), first);
            self.report_zones(Code::RateUnreadable, &rows, &what, "write each rate as a number");
            null.retain(|row| *row != first);
            if null.len() < count {
                null.clear();
            }
        }
        let what = format!("`{name}` is empty");
        self.report_zones(Code::RateNull, &null, &what, "a display applies nothing or its default rate there");
        let infinite = zones(&|cell| cell.is_some_and(|rate| !rate.is_finite()));
        self.report_zones(Code::RateNotFinite, &infinite, &format!("`{name}` is not finite"), "write a number");
        let negative = zones(&|cell| cell.is_some_and(|rate| rate < 0.0));
        let what = format!("`{name}` is negative");
        self.report_zones(Code::RateNegative, &negative, &what, "write 0 where nothing is applied");
        let rates = || cells.iter().flatten().copied().filter(|rate| rate.is_finite());
        let Some(limit) = RateLimit::of(rates()) else {
            if cells.iter().flatten().any(|rate| *rate == 0.0) {
                let message =
                    format!("`{name}` is above 0 in no zone, so that a display applies nothing; is it filled in?");
                self.report(Code::RateAllZero, message);
            }
            return;
        };
        let high = zones(&|cell| cell.is_some_and(|rate| rate.is_finite() && limit.is_outlier(rate)));
        let highest = rates().fold(0.0, f64::max);
        let what = format!(
            "`{name}` is above ten times the median of {}, or a code of a display (highest: {highest})",
            limit.usual
        );
        self.report_zones(Code::RateOutlier, &high, &what, "check the unit and the decimal point");
    }

    /// Checks that all zones state one unit: displays read all rates in the unit of the product.
    fn check_units(&mut self, layer: &Layer) {
        let Some(units) = zone_units(layer) else { return };
        let distinct = units.distinct(is_same_unit);
        let [_, (_, second), ..] = &*distinct else { return };
        let stated: Vec<String> = distinct
            .iter()
            .map(|(text, zones)| {
                let rows: Vec<String> = zones.iter().take(SHOWN_ROWS).map(|zone| self.row(*zone).to_string()).collect();
                let more = if zones.len() > SHOWN_ROWS { ", ..." } else { "" };
                format!(
                    "`{text}` in {} ({} {}{more})",
                    zones.len(),
                    if zones.len() == 1 { "row" } else { "rows" },
                    rows.join(", ")
                )
            })
            .collect();
        let message = format!(
            "column `{}` states several units: {}; a display reads all rates in one, so convert them",
            units.column,
            stated.join(", ")
        );
        let row = second.first().map_or(0, |zone| self.row(*zone));
        self.push(Diagnostic::new(Code::RateUnitsMixed, message).at_record(row as u64));
    }
}

/// The number of cells of a column that are no numbers, and the first record.
fn unreadable(layer: &Layer, name: &str) -> Option<(usize, u64)> {
    let prefix = format!("column `{name}`");
    let bad =
        layer.diagnostics().iter().find(|found| found.code == Code::BadNumber && found.message.starts_with(&prefix))?;
    let count = bad.message.rsplit_once('(').and_then(|(_, rest)| rest.split(' ').next()?.parse().ok());
    Some((count.unwrap_or(1), bad.record.unwrap_or(0)))
}
