//! Synthetic fields of known truth: a seeded account of fields, seasons and jobs, with archives in the form that
//! displays write.
//!
//! Everything is computed from the seed by deterministic arithmetic, so a seed yields the same bytes on all machines.
//! The truth of a job comes from the generator's model of the machine, never from its archives. Each number that an
//! archive contains has exactly the written value in the model.

mod account;
mod account_model;
mod attributes;
mod boundaries;
mod details;
mod deterministic_math;
mod failure;
mod fmis_export;
mod grain_carts;
mod harvest;
mod job;
mod job_spec;
mod logged_harvest;
mod machine_location;
mod operation;
mod plane;
mod planting;
mod prescription;
mod product_rates;
mod rng;
mod shapefile_writer;
mod slot_ids;
mod sprayed_map;
mod spraying;
mod swaths;
mod tank_mix;
mod units;
mod xml_export;
mod zip_writer;

pub use account::{generate_account, generate_until, small_jobs};
pub use account_model::{Account, AccountStyle, Computer, Hub};
pub use failure::Failure;
pub use grain_carts::{CartFormat, CartTruth, GrainCart};
pub use job::{Coverage, Job, Truth};
pub use job_spec::{HarvestStyle, ProductTotal, Total};
pub use logged_harvest::{HarvestGrid, HarvestTruth};
pub use machine_location::{MachineState, Track};
pub(super) use machine_location::{TURN_SECONDS, WORK_SECONDS};
pub use prescription::Prescription;
pub use sprayed_map::{SprayOptions, SprayTruth, spray_map};
