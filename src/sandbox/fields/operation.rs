//! Log, total and attribute table of a job, selected by its kind.

use super::attributes::Table;
use super::job_spec::{HarvestStyle, JobLog, JobSpec, Kind, ProductTotal, Total};
use super::swaths::generate_swaths;
use super::{harvest, logged_harvest, planting, spraying, tank_mix};

impl JobSpec {
    /// Simulates the work of the machine.
    pub(super) fn simulate(&self) -> JobLog {
        if (self.kind, self.harvest_style) == (Kind::Harvest, HarvestStyle::Logged) {
            return logged_harvest::simulate(self);
        }
        let swaths = generate_swaths(&self.field, self.swath_options, self.units, self.seed);
        match self.kind {
            Kind::Planting => planting::measure(self, swaths),
            Kind::Spraying => spraying::measure(self, swaths),
            Kind::Harvest => harvest::measure(self, swaths),
        }
    }

    /// Returns the total of the job, computed from the log instead of the table.
    pub(super) fn total(&self, log: &JobLog) -> Total {
        match self.kind {
            Kind::Planting => planting::total(self, log),
            Kind::Spraying => spraying::total(self, log),
            Kind::Harvest => harvest::total(self, log),
        }
    }

    /// Returns the total of each product.
    pub(super) fn product_totals(&self, log: &JobLog) -> Vec<ProductTotal> {
        if self.kind == Kind::Spraying {
            return spraying::product_totals(self, log);
        }
        let Total { unit, value, .. } = self.total(log);
        vec![ProductTotal { name: self.product.to_owned(), unit, value }]
    }

    /// Returns the attributes that the display writes for each point and product.
    pub(super) fn table(&self, log: &JobLog) -> Table {
        let mut table = self.product_table(log, 0);
        if !log.added.is_empty() {
            tank_mix::add_rows(self, log, &mut table);
        }
        table
    }

    /// Returns the attributes of the product with that number, from 0, for each point.
    pub(super) fn product_table(&self, log: &JobLog, number: usize) -> Table {
        let mut table = Table::new();
        match self.kind {
            Kind::Planting => planting::add_columns(self, log, &mut table),
            Kind::Spraying => spraying::add_columns(self, log, &mut table),
            Kind::Harvest => harvest::add_columns(self, log, &mut table),
        }
        if let Some(added) = number.checked_sub(1).and_then(|index| log.added.get(index)) {
            tank_mix::replace_rates(&mut table, added, (0, 1));
        }
        table
    }
}
