//! What the machine of a job logs and what it adds up to, by the kind of the job.

use super::attributes::Table;
use super::job_spec::{JobLog, JobSpec, Kind, Total};
use super::swaths::generate_swaths;
use super::{harvest, planting, spraying};

impl JobSpec {
    /// Does the work.
    pub(super) fn simulate(&self) -> JobLog {
        let swaths = generate_swaths(&self.field, self.swath_options, self.units, self.seed);
        match self.kind {
            Kind::Planting => planting::measure(self, swaths),
            Kind::Spraying => spraying::measure(self, swaths),
            Kind::Harvest => harvest::measure(self, swaths),
        }
    }

    /// The total of the job, computed from the record and not from the table.
    pub(super) fn total(&self, log: &JobLog) -> Total {
        match self.kind {
            Kind::Planting => planting::total(self, log),
            Kind::Spraying => spraying::total(self, log),
            Kind::Harvest => harvest::total(self, log),
        }
    }

    /// What the display writes for each mark.
    pub(super) fn table(&self, log: &JobLog) -> Table {
        let mut table = Table::new();
        match self.kind {
            Kind::Planting => planting::add_columns(self, log, &mut table),
            Kind::Spraying => spraying::add_columns(self, log, &mut table),
            Kind::Harvest => harvest::add_columns(self, log, &mut table),
        }
        table
    }
}
