//! Scope of an access key (specification 5.3): the whole account, or the data of its first field computer.
//!
//! The second scope includes the computer's hub, its jobs, the maps that those jobs used, and the grain carts of its
//! harvests. Uploads belong to no field computer; each key of the account may read them. Lists omit records outside the
//! scope. A request for such a record by id is refused with 403, or with 401 under the variant `no-permission-401`
//! (specification 7 has both).

use http::StatusCode;

use super::database::StoredJob;
use super::fields::{Computer, Hub, Job};
use super::keys::Scope;
use super::reply::Reply;
use super::service_state::{Call, ServiceState};
use super::variants::Variant;
use headland_wire::Value;

impl ServiceState {
    /// Returns the id of the field computer that the key is limited to; `None` for the whole account.
    fn limited_to(&self, call: &Call) -> Option<&str> {
        match call.scope {
            Scope::WholeAccount => None,
            // Without field computers, the empty id matches only records without a computer.
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

    /// Returns the ids of the generated jobs outside the scope, as a JSON array.
    pub(super) fn hidden_jobs(&self, call: &Call) -> String {
        let jobs = self.accounts.jobs(call.customer).iter();
        array(jobs.filter(|job| !self.permits_generated_job(call, job)).map(|job| job.id.as_str()))
    }

    /// Returns the ids of the grain cart files outside the scope, as a JSON array.
    pub(super) fn hidden_carts(&self, call: &Call) -> String {
        let carts = self.accounts.carts(call.customer).iter();
        array(carts.filter(|cart| !self.permits(call, &cart.computer)).map(|cart| cart.id.as_str()))
    }

    /// Finds the requested computer of the customer.
    pub(super) fn find_computer(&self, call: &Call) -> Result<&Computer, Reply> {
        let found = self.accounts.computer(call.customer, &call.id);
        let computer = found.ok_or_else(|| Reply::not_found("field computer", &call.id))?;
        if self.permits_computer(call, computer) { Ok(computer) } else { Err(self.not_permitted()) }
    }

    /// Finds the requested job among the customer's jobs.
    pub(super) fn find_job(&self, call: &Call) -> Result<StoredJob, Reply> {
        let job = self.store.job(call.customer, &call.id)?.ok_or_else(|| Reply::not_found("job", &call.id))?;
        if self.permits_job(call, &job.id) { Ok(job) } else { Err(self.not_permitted()) }
    }

    /// Returns the reply for an existing record outside the scope.
    pub(super) fn not_permitted(&self) -> Reply {
        let is_401 = self.variants.has(Variant::NoPermission401);
        let status = if is_401 { StatusCode::UNAUTHORIZED } else { StatusCode::FORBIDDEN };
        Reply::invalid(status, "access key check failed: the access key does not permit these data")
    }
}

fn array<'a>(ids: impl Iterator<Item = &'a str>) -> String {
    ids.collect::<serde_json::Value>().to_string()
}
