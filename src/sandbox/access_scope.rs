//! What of an account an access key gives (specification 5.3): the whole, or what belongs to its first field computer.
//!
//! To that belong its hub, the jobs that it made, the maps that those used, and the grain carts of those harvests.
//! Uploads belong to no field computer: every key of the account has them. Lists leave out what a key does not give;
//! asking for it by its id is refused with 403, or with 401 under the variant `no-permission-401` (7 has both).

use http::StatusCode;

use super::fields::{Computer, Hub, Job};
use super::keys::Scope;
use super::reply::Reply;
use super::state::{Call, ServiceState};
use super::store::StoredJob;
use super::variants::Variant;
use crate::wire::Value;

impl ServiceState {
    /// The field computer that the key is limited to; `None` where it gives the whole account.
    fn limited_to(&self, call: &Call) -> Option<&str> {
        match call.scope {
            Scope::WholeAccount => None,
            // An account without field computers has nothing to give in part.
            Scope::FirstComputer => {
                Some(self.accounts.computers(call.customer).first().map_or("", |computer| &computer.id))
            }
        }
    }

    fn permits(&self, call: &Call, computer: &str) -> bool {
        self.limited_to(call).is_none_or(|only| only == computer)
    }

    pub(super) fn permits_computer(&self, call: &Call, computer: &Computer) -> bool {
        self.permits(call, &computer.id)
    }

    pub(super) fn permits_hub(&self, call: &Call, hub: &Hub) -> bool {
        self.permits(call, hub.computer.as_deref().unwrap_or_default())
    }

    fn permits_generated_job(&self, call: &Call, job: &Job) -> bool {
        self.permits(call, job.detail.get("field_computer_id").and_then(Value::as_text).unwrap_or_default())
    }

    pub(super) fn permits_job(&self, call: &Call, id: &str) -> bool {
        self.accounts.job(call.customer, id).is_none_or(|job| self.permits_generated_job(call, job))
    }

    pub(super) fn permits_map(&self, call: &Call, id: &str) -> bool {
        let generated = self.accounts.maps(call.customer).iter().find(|map| map.id == id);
        generated.is_none_or(|map| self.permits(call, &map.computer))
    }

    pub(super) fn permits_cart(&self, call: &Call, id: &str) -> bool {
        self.accounts.cart(call.customer, id).is_none_or(|cart| self.permits(call, &cart.computer))
    }

    /// The ids of the generated jobs that the key does not give, as a JSON array.
    pub(super) fn hidden_jobs(&self, call: &Call) -> String {
        let jobs = self.accounts.jobs(call.customer).iter();
        array(jobs.filter(|job| !self.permits_generated_job(call, job)).map(|job| job.id.as_str()))
    }

    /// The same of grain cart files.
    pub(super) fn hidden_carts(&self, call: &Call) -> String {
        let carts = self.accounts.carts(call.customer).iter();
        array(carts.filter(|cart| !self.permits(call, &cart.computer)).map(|cart| cart.id.as_str()))
    }

    /// The job of the call's customer with the call's id.
    pub(super) fn find_job(&self, call: &Call) -> Result<StoredJob, Reply> {
        let job = self.store.job(call.customer, &call.id)?.ok_or_else(|| Reply::not_found("job", &call.id))?;
        if self.permits_job(call, &job.id) { Ok(job) } else { Err(self.not_permitted()) }
    }

    /// What is said where the key does not give a record that is there.
    pub(super) fn not_permitted(&self) -> Reply {
        let is_401 = self.variants.has(Variant::NoPermission401);
        let status = if is_401 { StatusCode::UNAUTHORIZED } else { StatusCode::FORBIDDEN };
        Reply::invalid(status, "access key check failed: the access key does not permit these data")
    }
}

fn array<'a>(ids: impl Iterator<Item = &'a str>) -> String {
    ids.collect::<serde_json::Value>().to_string()
}
