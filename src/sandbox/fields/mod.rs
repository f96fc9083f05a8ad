//! Fields of known truth: a seeded account of fields, seasons and jobs, with archives that look like what displays write.
//!
//! Everything is computed from the seed with arithmetic that is exact on every machine, so the same seed gives the same
//! bytes everywhere and for ever. The truth of a job comes from the generator's own model of the machine's work, never
//! from its archives; every number of the model that an archive shows is the number as it is written there.

mod account;
mod carts;
mod chance;
mod customer;
mod details;
mod exact;
mod failure;
mod fmis;
mod harvest;
mod job;
mod log;
mod packing;
mod parsed;
mod passes;
mod places;
mod plane;
mod planting;
mod prescription;
mod shapes;
mod spraying;
mod table;
mod track;
mod units;
mod work;

pub use account::{account, small_jobs};
pub use carts::{CartManner, CartTruth, GrainCart};
pub use customer::{Account, Computer, Hub};
pub use failure::{FAILURES, Failure};
pub use job::{Coverage, Job, Truth};
pub use prescription::Prescription;
pub use track::{Place, Track};
pub(super) use track::{TURN, WORK};
pub use work::Total;
