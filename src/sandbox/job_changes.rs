//! Changes of the first customer's jobs by tests, as displays and the service would make them.

use super::Sandbox;
use super::accounts::to_stored_job;
use super::database::SqlResult;
use headland_base::error::{Error, Kind, Result};

impl Sandbox {
    /// Adds a small job with the current creation time and returns its id. With `Options::small_jobs`, 100 such jobs
    /// are reserved.
    pub fn add_job(&self) -> Result<String> {
        let state = &self.service.state;
        let is_free = |id: &str| matches!(state.store.has_job_id(id), Ok(false));
        let job = state.accounts.unused_small_job(|job| is_free(&job.id)).ok_or_else(|| {
            Error::new(
                Kind::Value,
                "there is no job left to add: the service was started without `small_jobs`, or all were added",
            )
        })?;
        map_write_error(state.store.add_job(0, to_stored_job(job), self.now()))?;
        Ok(job.id.clone())
    }

    /// Sets the update time of a job and replaces its file, which needs a new conversion.
    pub fn change_job(&self, id: &str) -> Result<()> {
        check_found(id, map_write_error(self.service.state.store.change_job(0, id, self.now()))?)
    }

    /// Removes a job from the list.
    pub fn remove_job(&self, id: &str) -> Result<()> {
        check_found(id, map_write_error(self.service.state.store.remove_job(0, id))?)
    }
}

fn map_write_error<T>(outcome: SqlResult<T>) -> Result<T> {
    outcome.map_err(|error| Error::new(Kind::File, format!("the sandbox cannot write its database: {error}")))
}

fn check_found(id: &str, exists: bool) -> Result<()> {
    if exists { Ok(()) } else { Err(Error::new(Kind::Value, format!("there is no job `{id}`"))) }
}
