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
mod combine_drive;
mod cut_ground;
mod details;
mod deterministic_math;
mod failure;
mod fmis_export;
mod grain_carts;
mod grain_transport;
mod harvest;
mod harvest_cut;
mod harvest_faults;
mod harvest_log;
mod harvest_passes;
mod harvest_rows;
mod job;
mod job_spec;
mod logged_harvest;
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
mod track;
mod units;
mod xml_export;
mod yield_surface;
mod zip_writer;

pub use account::{generate_account, generate_until, small_jobs};
pub use account_model::{Account, AccountStyle, Computer, Hub};
pub use failure::Failure;
pub use grain_carts::{CartFormat, CartTruth, GrainCart};
pub use harvest_log::{HarvestGrid, HarvestTruth};
pub use job::{Coverage, Job, Truth};
pub use job_spec::{HarvestStyle, ProductTotal, Total};
pub use prescription::Prescription;
pub use sprayed_map::{SprayOptions, SprayTruth, spray_map};
pub use track::{MachineState, Track};
pub(super) use track::{TURN_SECONDS, WORK_SECONDS};
