//! Types of a customer's account: field computers, field hubs, jobs, grain carts and prescription maps.

use super::grain_carts::GrainCart;
use super::job::Job;
use super::job_spec::HarvestStyle;
use super::machine_location::Track;
use super::prescription::Prescription;
use headland_wire::Value;

/// How the jobs of an account are written. The default is ideal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccountStyle {
    /// How harvests are written.
    pub harvest: HarvestStyle,
    /// Whether some spraying jobs have two or three products.
    pub tank_mixes: bool,
}

/// Logged harvests come with tank mixes, which are also what machines log.
impl From<HarvestStyle> for AccountStyle {
    fn from(harvest: HarvestStyle) -> Self {
        Self { harvest, tank_mixes: harvest == HarvestStyle::Logged }
    }
}

/// A customer's account.
#[derive(Clone, Debug)]
pub struct Account {
    /// Three field computers of different kinds: a current one, a legacy one, and one without field hub.
    pub computers: Vec<Computer>,
    /// Jobs by creation time, newest first. Ids are not in order.
    pub jobs: Vec<Job>,
    /// Grain cart files of the harvests in the order of their ids. Each file was uploaded several times as it grew.
    pub carts: Vec<GrainCart>,
    /// Three field hubs: those of the first two computers, and one without computer.
    pub hubs: Vec<Hub>,
    /// Prescription maps of the planting and spraying jobs of the last season.
    pub maps: Vec<Prescription>,
}

/// A field hub.
#[derive(Clone, Debug)]
pub struct Hub {
    /// Id of the hub.
    pub id: String,
    /// Name given by a user.
    pub name: &'static str,
    /// Manufacturer.
    pub make: &'static str,
    /// Model.
    pub model: &'static str,
    /// Id of the connected field computer.
    pub computer: Option<String>,
    /// Track of the hub.
    pub track: Track,
}

/// A field computer.
#[derive(Clone, Debug)]
pub struct Computer {
    /// Id of the computer; one of the three is not a number.
    pub id: String,
    /// Detail by [`FIELD_COMPUTER_DETAIL`](headland_api::field_computers::FIELD_COMPUTER_DETAIL).
    pub detail: Value,
    /// Whether it is a legacy device, with restrictions in the service (specification 4.2, 4.3).
    pub is_legacy: bool,
    /// Id of the field hub.
    pub hub: Option<String>,
    /// Track over the fields of its jobs.
    pub track: Track,
}
