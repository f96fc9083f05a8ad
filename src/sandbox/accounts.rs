//! Generated accounts of the customers, with a cache of their archives.

use std::collections::HashMap;
use std::sync::Mutex;

use bytes::Bytes;

use super::cart_store::StoredCart;
use super::database::StoredJob;
use super::fields::{
    self, Account, AccountStyle, Computer, Coverage, GrainCart, HarvestGrid, Hub, Job, Prescription, Truth,
};
use super::keys::CUSTOMERS;
use super::locked::locked;
use headland_base::error::{Error, Kind, Result};
use headland_reader::layer::Cancel;

/// Archive formats of a generated job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ArchiveFormat {
    /// The display's own zip.
    Display,
    /// The zip of shapefiles.
    Shapefile,
    /// The zip for farm management systems.
    Fmis,
    /// The XML of the parsed records.
    Parsed,
}

/// Accounts in the order of the customers.
#[derive(Debug)]
pub(super) struct Accounts {
    customers: Vec<Account>,
    /// Number of small jobs of the first customer that are listed from the start; `None` with the usual jobs.
    small: Option<usize>,
    archives: Mutex<HashMap<(String, u64, ArchiveFormat), Bytes>>,
}

/// Number of small jobs reserved for [`Sandbox::add_job`](super::Sandbox::add_job).
pub(super) const SPARE_SMALL_JOBS: u32 = 100;

impl Accounts {
    /// Generates the accounts of a seed in that style. `small` replaces the first customer's jobs with that many small
    /// jobs. Archives are generated on first use.
    pub(super) fn new(seed: u64, style: AccountStyle, small: Option<u32>, cancel: &Cancel) -> Result<Self> {
        let generate = |customer: u32| fields::generate_until(seed.wrapping_add(customer.into()), style, cancel);
        let mut customers: Vec<Account> = (0..CUSTOMERS).map(generate).collect();
        cancel.check()?;
        if let (Some(count), Some(first)) = (small, customers.first_mut()) {
            first.jobs = fields::small_jobs(seed, count.saturating_add(SPARE_SMALL_JOBS), &first.computers);
        }
        let small = small.map(|count| usize::try_from(count).unwrap_or(usize::MAX));
        Ok(Self { customers, small, archives: Mutex::default() })
    }

    /// Returns the first reserved small job that satisfies `is_free`.
    pub(super) fn unused_small_job(&self, is_free: impl Fn(&Job) -> bool) -> Option<&Job> {
        self.jobs(0).iter().skip(self.small?).find(|job| is_free(job))
    }

    /// Field computers of a customer.
    pub(super) fn computers(&self, customer: u32) -> &[Computer] {
        self.account(customer).map_or(&[], |account| &account.computers)
    }

    /// Field hubs of a customer.
    pub(super) fn hubs(&self, customer: u32) -> &[Hub] {
        self.account(customer).map_or(&[], |account| &account.hubs)
    }

    /// Generated prescription maps of a customer.
    pub(super) fn maps(&self, customer: u32) -> &[Prescription] {
        self.account(customer).map_or(&[], |account| &account.maps)
    }

    /// Finds a field computer by id, in any letter case.
    pub(super) fn computer(&self, customer: u32, id: &str) -> Option<&Computer> {
        self.computers(customer).iter().find(|computer| computer.id.eq_ignore_ascii_case(id))
    }

    /// Generated jobs of a customer as store records.
    pub(super) fn stored_jobs(&self, customer: u32) -> impl Iterator<Item = StoredJob> {
        let count = if customer == 0 { self.small.unwrap_or(usize::MAX) } else { usize::MAX };
        self.jobs(customer).iter().take(count).map(to_stored_job)
    }

    /// Finds a generated job of a customer by id.
    pub(super) fn job(&self, customer: u32, id: &str) -> Option<&Job> {
        self.jobs(customer).iter().find(|job| job.id == id)
    }

    /// Generated grain cart files of a customer.
    pub(super) fn carts(&self, customer: u32) -> &[GrainCart] {
        self.account(customer).map_or(&[], |account| &account.carts)
    }

    /// Generated grain cart files of a customer as store records.
    pub(super) fn stored_carts(&self, customer: u32) -> impl Iterator<Item = StoredCart> {
        self.carts(customer).iter().map(|cart| StoredCart { id: cart.id.clone(), name: cart.name.clone() })
    }

    /// Finds a generated grain cart file of a customer by id.
    pub(super) fn cart(&self, customer: u32, id: &str) -> Option<&GrainCart> {
        self.carts(customer).iter().find(|cart| cart.id == id)
    }

    /// Returns the archive of a revision of a generated job. The first call generates it, which may take seconds.
    pub(super) fn archive(&self, job: &Job, revision: u64, format: ArchiveFormat) -> Result<Bytes> {
        let key = (job.id.clone(), revision, format);
        if let Some(archive) = locked(&self.archives).get(&key) {
            return Ok(archive.clone());
        }
        let job = job.revised(revision);
        let archive = Bytes::from(match format {
            ArchiveFormat::Display => job.display_zip()?,
            ArchiveFormat::Shapefile => job.shapefile_zip()?,
            ArchiveFormat::Fmis => job.fmis_zip()?,
            ArchiveFormat::Parsed => job.parsed_xml()?,
        });
        locked(&self.archives).insert(key, archive.clone());
        Ok(archive)
    }

    /// Truth of the customer's generated jobs with recorded coverage.
    pub(super) fn truth(&self, customer: u32) -> Result<Vec<Truth>> {
        self.jobs(customer).iter().filter(|job| job.coverage == Coverage::Recorded).map(Job::truth).collect()
    }

    /// True map of a customer's job with a logged harvest.
    pub(super) fn harvest_grid(&self, customer: u32, id: &str, cell: f64) -> Result<HarvestGrid> {
        let Some(job) = self.job(customer, id) else {
            return Err(Error::new(Kind::Value, format!("no generated job has the id `{id}`")));
        };
        job.harvest_grid(cell)
    }

    /// Generated jobs of a customer, newest first.
    pub(super) fn jobs(&self, customer: u32) -> &[Job] {
        self.account(customer).map_or(&[], |account| &account.jobs)
    }

    fn account(&self, customer: u32) -> Option<&Account> {
        self.customers.get(usize::try_from(customer).ok()?)
    }
}

/// Converts a generated job to a store record.
pub(super) fn to_stored_job(job: &Job) -> StoredJob {
    StoredJob {
        id: job.id.clone(),
        name: job.name.clone(),
        sub_type: Some(job.sub_type.clone()),
        created: job.created,
        updated: job.updated,
    }
}
