//! Tank mixes: products that a sprayer applies together with its first product, and the rows and totals of each.
//!
//! Displays that export tank mixes write one row for each product at each place and time. The rows differ in the name
//! of the product and in its rates; ground, time and machine are the same.

use super::attributes::{Cells, Table};
use super::deterministic_math::{i64_to_f64, round_to_i64, scaled};
use super::job_spec::{JobLog, JobSpec, Kind};
use super::product_rates::{AddedProduct, ProductLog, RATE, ZONES};
use super::rng::{noise, stream};
use super::swaths::{LoggedPoint, SwathLog};

/// The second product follows the zones of the field, the third has one rate.
static ADDED: [AddedProduct; 2] = [
    AddedProduct { name: "UAN 28-0-0", usual: 46.0, zones: ZONES },
    AddedProduct { name: "Crop oil", usual: 9.4, zones: [1.0; 3] },
];

/// Returns the products that a job applies together with its first one: one on the second field, two on the fifth,
/// if the account has tank mixes.
pub(super) fn added_products(tank_mixes: bool, kind: Kind, field: usize) -> &'static [AddedProduct] {
    let count = match (kind, field) {
        (Kind::Spraying, 1) if tank_mixes => 1,
        (Kind::Spraying, 4) if tank_mixes => 2,
        _ => 0,
    };
    ADDED.get(..count).unwrap_or_default()
}

/// Measures the rates of the added products at each point. Each product has a pump, and thus noise, of its own.
pub(super) fn measure(spec: &JobSpec, swaths: &SwathLog) -> Vec<ProductLog> {
    let log = |(number, product): (u64, &AddedProduct)| {
        let mut rng = stream(spec.seed, &[3, number]);
        let usual = product.usual / spec.units.volume.1 * spec.units.area.1 / 10_000.0;
        let rates = |point: &LoggedPoint| {
            let target = scaled(usual * spec.field.zone_value(point.location, product.zones), RATE);
            (target, round_to_i64(i64_to_f64(target) * (1.0 + 0.02 * noise(&mut rng))))
        };
        let (target, measured) = swaths.points.iter().map(rates).unzip();
        ProductLog { name: product.name, target, measured }
    };
    (1..).zip(spec.added).map(log).collect()
}

/// Inserts the rows of the added products after each row of the first one.
pub(super) fn add_rows(spec: &JobSpec, log: &JobLog, table: &mut Table) {
    let count = log.products();
    table.repeat_rows(count);
    for (place, added) in (1..).zip(&log.added) {
        replace_rates(table, added, (place, count));
    }
    for column in table.columns.iter_mut().filter(|column| column.name == "PRODUCT") {
        if let Cells::Constant { width, .. } = column.cells {
            let names = log.added.iter().map(|added| added.name);
            let texts = std::iter::once(spec.product).chain(names).collect();
            column.cells = Cells::Alternating { width, texts };
        }
    }
}

/// Replaces the rates of every `count`-th row from `first` on by those of an added product.
pub(super) fn replace_rates(table: &mut Table, added: &ProductLog, (first, count): (usize, usize)) {
    for column in &mut table.columns {
        let Cells::Numbers { values, .. } = &mut column.cells else { continue };
        let rows = values.iter_mut().skip(first).step_by(count);
        match column.name {
            // In manual mode no product has a target.
            "TARGETRATE" => rows.zip(&added.target).for_each(|(value, target)| *value = value.map(|_| *target)),
            "APPLDRATE" => rows.zip(&added.measured).for_each(|(value, rate)| *value = Some(*rate)),
            _ => {}
        }
    }
}

impl JobLog {
    /// Returns the number of products.
    pub(super) const fn products(&self) -> usize {
        self.added.len().saturating_add(1)
    }

    /// Returns the point of each record: each point once for each product.
    pub(super) fn records(&self) -> impl Iterator<Item = &LoggedPoint> {
        let count = self.products();
        self.swaths.points.iter().flat_map(move |point| std::iter::repeat_n(point, count))
    }
}
