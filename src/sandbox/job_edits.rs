//! Changes of the first customer's jobs, as displays and the service make them: for tests of what follows a service.

use super::Sandbox;
use super::accounts::stored;
use super::store::Outcome;
use crate::error::{Error, Kind, Result};

impl Sandbox {
    /// Adds a small job, created now, and gives its id. There are a hundred of them, where `Options::small_jobs` is set.
    pub fn add_job(&self) -> Result<String> {
        let world = &self.service.world;
        let is_free = |id: &str| matches!(world.store.knows(id), Ok(false));
        let job = world.accounts.spare(|job| is_free(&job.id)).ok_or_else(|| {
            Error::new(
                Kind::Value,
                "there is no job left to add: the service was started without `small_jobs`, or all were added",
            )
        })?;
        written(world.store.add_job(0, stored(job), self.now()))?;
        Ok(job.id.clone())
    }

    /// Changes a job: it is updated now, and its file is another one, which has to be converted once more.
    pub fn change_job(&self, id: &str) -> Result<()> {
        found(id, written(self.service.world.store.change_job(0, id, self.now()))?)
    }

    /// Removes a job.
    pub fn remove_job(&self, id: &str) -> Result<()> {
        found(id, written(self.service.world.store.remove_job(0, id))?)
    }
}

fn written<T>(outcome: Outcome<T>) -> Result<T> {
    outcome.map_err(|error| Error::new(Kind::File, format!("the sandbox cannot write its database: {error}")))
}

fn found(id: &str, is_there: bool) -> Result<()> {
    if is_there { Ok(()) } else { Err(Error::new(Kind::Value, format!("there is no job `{id}`"))) }
}
