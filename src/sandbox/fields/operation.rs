//! What the machine of a job logs and what it adds up to, by the kind of the job.

use super::attributes::Table;
use super::job_spec::{Kind, Record, Total, Work};
use super::swaths::drive;
use super::{harvest, planting, spraying};

impl Work {
    /// Does the work.
    pub(super) fn record(&self) -> Record {
        let marks = drive(&self.field, self.manner, self.units, self.seed);
        match self.kind {
            Kind::Planting => planting::record(self, marks),
            Kind::Spraying => spraying::record(self, marks),
            Kind::Harvest => harvest::record(self, marks),
        }
    }

    /// The total of the job, computed from the record and not from the table.
    pub(super) fn total(&self, record: &Record) -> Total {
        match self.kind {
            Kind::Planting => planting::total(self, record),
            Kind::Spraying => spraying::total(self, record),
            Kind::Harvest => harvest::total(self, record),
        }
    }

    /// What the display writes for each mark.
    pub(super) fn table(&self, record: &Record) -> Table {
        let mut table = Table::new();
        match self.kind {
            Kind::Planting => planting::columns(self, record, &mut table),
            Kind::Spraying => spraying::columns(self, record, &mut table),
            Kind::Harvest => harvest::columns(self, record, &mut table),
        }
        table
    }
}
