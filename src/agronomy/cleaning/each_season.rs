//! Cleans each season of a layer separately, and concatenates their rows.

use crate::cleaning::clean_rows::{CleanRows, clean_rows};
use crate::cleaning::diagnostics::clean_diagnostics;
use crate::cleaning::recipe::Recipe;
use crate::columns::provenance as keys;
use crate::ground::seasons::Seasons;
use crate::rows::field_rows::FieldRows;
use crate::rows::track_rows::TrackRows;
use headland_base::error::Result;
use headland_reader::archive::Diagnostic;
use headland_reader::layer::Polygons;

/// Cleans the rows of all seasons. Diagnostics are those of each season.
pub(crate) fn clean_seasons(
    field: FieldRows,
    seasons: &Seasons,
    recipe: &Recipe,
    boundary: &[Polygons],
) -> Result<(CleanRows, Vec<Diagnostic>)> {
    if seasons.is_one() {
        let rows = clean_rows(field, recipe.clone(), boundary)?;
        let diagnostics = clean_diagnostics(&rows);
        return Ok((rows, diagnostics));
    }
    let mut diagnostics = Vec::new();
    let mut all: Option<CleanRows> = None;
    for (number, season) in (0_u32..).zip(&seasons.all) {
        let part = field.part(|row| seasons.of_row.get(row) == Some(&number));
        let rows = clean_rows(part, recipe.clone(), boundary)?;
        let name = season.to_string();
        diagnostics.extend(clean_diagnostics(&rows).into_iter().map(|diagnostic| diagnostic.in_member(&name)));
        match &mut all {
            None => all = Some(rows),
            Some(all) => all.append(rows),
        }
    }
    match all {
        Some(rows) => Ok((rows, diagnostics)),
        None => Ok((clean_rows(field, recipe.clone(), boundary)?, diagnostics)),
    }
}

impl CleanRows {
    /// Appends the rows of another season of the same layer.
    fn append(&mut self, other: Self) {
        let (rows, more) = (self.passes.number.len(), other.passes.number.len());
        let last = self.passes.number.iter().copied().max().unwrap_or(0);
        self.passes.number.extend(other.passes.number.iter().map(|pass| if *pass > 0 { pass + last } else { 0 }));
        self.reasons.extend(other.reasons);
        self.used.extend(other.used);
        self.ground.share.extend(other.ground.share);
        for (own, others) in [
            (&mut self.masses.logged, other.masses.logged),
            (&mut self.masses.outside, other.masses.outside),
            (&mut self.masses.wet, other.masses.wet),
            (&mut self.masses.dry, other.masses.dry),
            (&mut self.flow.shifted, other.flow.shifted),
            (&mut self.moisture.shifted, other.moisture.shifted),
            (&mut self.amount, other.amount),
        ] {
            // A season without the values has nulls.
            if own.is_some() || others.is_some() {
                let own = own.get_or_insert_with(|| vec![f64::NAN; rows]);
                own.extend(others.unwrap_or_else(|| vec![f64::NAN; more]));
            }
        }
        self.moisture.delays.extend(other.moisture.delays);
        if self.masses.basis != other.masses.basis {
            self.masses.basis = Some(keys::SEVERAL.to_owned());
        }
        // A replay takes the moisture of each season again.
        if self.recipe.parameters.market_moisture != other.recipe.parameters.market_moisture {
            self.recipe.unset_market_moisture();
        }
        self.ground.swaths.append(other.ground.swaths);
        self.ground.coverage.append(other.ground.coverage);
        self.flow.delays.extend(other.flow.delays);
        self.flow.dropouts += other.flow.dropouts;
        self.headings.extend(other.headings);
        self.twins += other.twins;
        self.passes.without_grain += other.passes.without_grain;
        self.rows.append(other.rows);
    }
}

impl TrackRows {
    /// Appends the rows of another season of the same layer.
    fn append(&mut self, other: Self) {
        let place = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let (rows, tracks, machines) = (self.len(), place(self.tracks.len()), place(self.machines.len()));
        self.row.extend(other.row);
        self.tracks.extend(other.tracks.iter().map(|track| track.start + rows..track.end + rows));
        self.track.extend(other.track.iter().map(|track| track + tracks));
        self.machine.extend(other.machine.iter().map(|machine| machine + machines));
        self.machines.extend(other.machines);
        self.has_time &= other.has_time;
        self.time.extend(other.time);
        self.x.extend(other.x);
        self.y.extend(other.y);
        self.heading.extend(other.heading);
        self.interval.extend(other.interval);
        self.distance.extend(other.distance);
        self.width.extend(other.width);
        self.product.extend(other.product);
        if let (Some(working), Some(others)) = (&mut self.working, other.working) {
            working.extend(others);
        }
    }
}
