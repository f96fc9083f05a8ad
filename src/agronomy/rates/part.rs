//! The rows of one product of one job, with their ground.

use std::collections::BTreeMap;

use super::causes::causes;
use crate::cleaning::clean_rows::{CleanRows, clean_rows};
use crate::cleaning::diagnostics::clean_diagnostics;
use crate::cleaning::reasons::{DUPLICATE, POSITION};
use crate::cleaning::recipe::Recipe;
use crate::columns::values::CanonicalValues;
use crate::ground::seasons::Seasons;
use crate::ground::worked_ground::{GroundOptions, WorkedGround};
use crate::passes::runs::runs;
use crate::rows::field_rows::FieldRows;
use crate::rows::lengths::usual_width;
use headland_base::error::Result;
use headland_reader::archive::Diagnostic;
use headland_reader::layer::crs::LocalPlane;

/// The rows of one product of one job.
pub(super) struct Part {
    /// Name of the product; empty without one.
    pub(super) product: String,
    clean: CleanRows,
    /// Square metres of the full swath of each row, in the order of the tracks.
    area: Vec<f64>,
    /// New ground; where the boom is off, ground that no other row works.
    ground: Vec<f64>,
    causes: Vec<u8>,
    /// What cleaning says of the rows.
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// Splits the rows of a layer by job and product. Rows without a product are of the only one of their job.
pub(super) fn parts(
    field: &FieldRows,
    seasons: &Seasons,
    values: &CanonicalValues<'_>,
    recipe: &Recipe,
) -> Result<Vec<Part>> {
    let season = |row: usize| seasons.of_row.get(row).copied().unwrap_or(0);
    let names: Vec<&str> =
        values.texts("product").map_or_else(Vec::new, |texts| texts.map(Option::unwrap_or_default).collect());
    let name = |row: usize| names.get(row).copied().unwrap_or_default();
    let mut products: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
    for row in 0..values.rows() {
        let known = products.entry(season(row)).or_default();
        if !name(row).is_empty() && !known.contains(&name(row)) {
            known.push(name(row));
        }
    }
    let mut parts = Vec::new();
    for (job, mut known) in products {
        let only = if let [only] = &*known { *only } else { "" };
        let of_row = |row: usize| if name(row).is_empty() { only } else { name(row) };
        if known.is_empty()
            || (known.len() > 1 && (0..values.rows()).any(|row| season(row) == job && name(row).is_empty()))
        {
            known.push("");
        }
        for product in known {
            let rows = field.part(|row| season(row) == job && of_row(row) == product);
            parts.push(Part::new(product.to_owned(), rows, recipe)?);
        }
    }
    Ok(parts)
}

impl Part {
    fn new(product: String, field: FieldRows, recipe: &Recipe) -> Result<Self> {
        let shapes = field.shapes.clone();
        let mut clean = clean_rows(field, recipe.clone(), &[])?;
        let diagnostics = clean_diagnostics(&clean);
        let rows = &clean.rows;
        let own = |k: usize| shapes.as_ref().map_or(0.0, |shapes| shapes.area(rows.row[k]));
        let area = (0..rows.len()).map(|k| {
            let m2 = if own(k) > 0.0 { own(k) } else { rows.distance[k] * rows.width[k] };
            if m2.is_finite() { m2 } else { 0.0 }
        });
        let area: Vec<f64> = area.collect();
        let is_wrong: Vec<bool> = clean.reasons.iter().map(|bits| bits & (DUPLICATE | POSITION) != 0).collect();
        let number = &clean.passes.number;
        let is_off: Vec<bool> = number.iter().zip(&is_wrong).map(|(pass, wrong)| *pass == 0 && !wrong).collect();
        let mut ground = clean.ground.coverage.fresh.clone();
        if is_off.contains(&true) {
            // The boom is off over its usual width, where the log has none.
            let usual = usual_width((0..rows.len()).filter(|k| number[*k] > 0).map(|k| rows.width[k]));
            let mut number = number.clone();
            let mut next = number.iter().copied().max().unwrap_or(0);
            for run in rows.tracks.iter().flat_map(|track| runs(track.clone(), |k| is_off[k], |k| rows.follows(k))) {
                next += 1;
                number[run].fill(next);
            }
            for (width, is_off) in clean.rows.width.iter_mut().zip(&is_off) {
                if *is_off && (width.is_nan() || *width <= 0.0) {
                    *width = usual;
                }
            }
            let options = GroundOptions {
                antenna: 0.0,
                full_width: None,
                excluded: &is_wrong,
                extra: &[],
                is_idle: &is_off,
                shapes: shapes.as_ref(),
            };
            let all = WorkedGround::new(&clean.rows, &number, &options);
            for (k, ground) in ground.iter_mut().enumerate().filter(|(k, _)| is_off[*k]) {
                *ground = all.coverage.fresh[k];
            }
        }
        Ok(Self { product, clean, area, ground, causes: Vec::new(), diagnostics })
    }

    /// Finds the causes by the target that is compared first.
    pub(super) fn measure(&mut self, rates: Option<&[f64]>, applied: &[f64], tolerance: f64) {
        let unknown = vec![f64::NAN; applied.len()];
        let rates = self.clean.rows.sorted(rates.unwrap_or(&unknown));
        self.causes = causes(&self.clean, &rates, tolerance);
    }

    /// The row of the layer of each row, in the order of the tracks.
    pub(super) fn rows(&self) -> &[usize] {
        &self.clean.rows.row
    }

    /// Whether a row is neither a duplicate nor at a wrong position.
    pub(super) fn counts(&self, k: usize) -> bool {
        self.clean.reasons[k] & (DUPLICATE | POSITION) == 0
    }

    pub(super) fn is_working(&self, k: usize) -> bool {
        self.clean.passes.number[k] > 0
    }

    pub(super) fn ground(&self, k: usize) -> f64 {
        self.ground[k]
    }

    /// Square metres that amounts are of: the full swath, or where the boom is off the ground that was left out.
    pub(super) fn area(&self, k: usize) -> f64 {
        if self.is_working(k) { self.area[k] } else { self.ground[k] }
    }

    pub(super) fn causes(&self, k: usize) -> u8 {
        self.causes.get(k).copied().unwrap_or(0)
    }

    pub(super) fn clean(&self) -> &CleanRows {
        &self.clean
    }

    pub(super) fn plane(&self) -> &LocalPlane {
        &self.clean.plane
    }

    /// The middle of the swath of a row, in the plane.
    pub(super) fn middle(&self, k: usize) -> [f64; 2] {
        let rows = &self.clean.rows;
        let back = if self.clean.ground.swaths.logged().is_empty() { 0.5 * rows.distance[k] } else { 0.0 };
        let back = if back.is_finite() && rows.heading[k].is_finite() { back } else { 0.0 };
        let heading = if rows.heading[k].is_finite() { rows.heading[k] } else { 0.0 };
        [rows.x[k] - back * heading.cos(), rows.y[k] - back * heading.sin()]
    }
}

/// The names of the products, each once.
pub(super) fn products(parts: &[Part]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for part in parts {
        if !names.contains(&part.product.as_str()) {
            names.push(&part.product);
        }
    }
    names
}
