//! A customer's account: its field computers, field hubs, jobs, grain carts and prescription maps.

use super::grain_carts::GrainCart;
use super::job::Job;
use super::prescription::Prescription;
use super::track::Track;
use crate::wire::Value;

/// A customer's field computers and jobs.
#[derive(Clone, Debug)]
pub struct Account {
    /// Three field computers of different kinds: a current one, a legacy one, and one that never had a field hub.
    pub computers: Vec<Computer>,
    /// The jobs, newest first by the time they were created. Their ids are in no order.
    pub jobs: Vec<Job>,
    /// Grain cart files of its harvests, in the order of their ids: each file several times, as it grew.
    pub carts: Vec<GrainCart>,
    /// Three field hubs: those of the first two computers, and one that is on no computer.
    pub hubs: Vec<Hub>,
    /// The prescription maps that the planting and spraying jobs of the last season used.
    pub maps: Vec<Prescription>,
}

/// A field hub.
#[derive(Clone, Debug)]
pub struct Hub {
    /// Its id.
    pub id: String,
    /// The name that a user gave it.
    pub name: &'static str,
    /// The manufacturer.
    pub make: &'static str,
    /// The model.
    pub model: &'static str,
    /// The id of the field computer that it is connected to.
    pub computer: Option<String>,
    /// Where it drives.
    pub track: Track,
}

/// A field computer.
#[derive(Clone, Debug)]
pub struct Computer {
    /// Its id; one of the three is not a number.
    pub id: String,
    /// Its detail, by [`FIELD_COMPUTER_DETAIL`](crate::api::field_computers::FIELD_COMPUTER_DETAIL).
    pub detail: Value,
    /// Whether it is a legacy device, which the service treats apart (specification 4.2, 4.3).
    pub is_legacy: bool,
    /// The id of its field hub.
    pub hub: Option<String>,
    /// Where it drives: over the fields of its jobs.
    pub track: Track,
}
