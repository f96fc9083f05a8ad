//! Bindings of the mirror: plan, sync, status and verify, with results as dicts.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use super::agronomy::parse_market_moisture;
use super::client::Client;
use super::config::{parse_on_error, parse_seconds};
use super::memory::ReleaseOnDrop;
use super::{bridge, errors};
use headland_base::error::Result;
use headland_mirror::{self as core, Event, ItemKind, Planned, Progress, Snapshot, StateCount, Unavailable};

/// Conditions of a filter, as a dict.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct FilterValues {
    job_type: Option<Vec<String>>,
    since: Option<String>,
    until: Option<String>,
    ids: Option<Vec<String>>,
}

impl FilterValues {
    fn core(self) -> Result<core::Filter> {
        let Self { job_type, since, until, ids } = self;
        core::Filter::new(job_type.as_deref(), since.as_deref(), until.as_deref(), ids.as_deref())
    }
}

/// A folder and its client. Nothing is open between calls.
#[pyclass(frozen, module = "headland._core")]
pub(super) struct Mirror {
    path: PathBuf,
    client: Option<Py<Client>>,
    options: core::Options,
}

impl Mirror {
    fn core(&self) -> Result<core::Mirror> {
        self.core_with(self.options.clone())
    }

    fn core_with(&self, options: core::Options) -> Result<core::Mirror> {
        let client = self.client.as_ref().map(|client| client.get().core()).transpose()?;
        core::Mirror::open(&self.path, client, options)
    }
}

#[pymethods]
impl Mirror {
    #[new]
    #[pyo3(signature = (*, path, client, relist, overlap, concurrency, publish_every, locations, on_error, filter, market_moisture))]
    #[expect(clippy::too_many_arguments, reason = "the settings of a mirror, by keyword")]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        client: Option<Py<Client>>,
        relist: f64,
        overlap: f64,
        concurrency: usize,
        publish_every: f64,
        locations: bool,
        on_error: &str,
        filter: FilterValues,
        market_moisture: Vec<(Option<String>, f64)>,
    ) -> PyResult<Self> {
        let options = core::Options {
            relist: parse_seconds("relist", relist)?,
            overlap: parse_seconds("overlap", overlap)?,
            concurrency,
            publish_every: parse_seconds("publish_every", publish_every)?,
            locations,
            on_error: parse_on_error(on_error)?,
            filter: filter.core().map_err(|error| errors::raise(py, &error))?,
            market_moisture: parse_market_moisture(py, market_moisture)?,
        };
        let mirror = Self { path, client, options };
        mirror.core().map_err(|error| errors::raise(py, &error))?;
        Ok(mirror)
    }

    #[expect(clippy::unused_self, reason = "Python asks an instance")]
    fn __reduce__(&self) -> PyResult<()> {
        let why = "a mirror cannot be pickled, because its client contains secrets: open it in the other process";
        Err(pyo3::exceptions::PyTypeError::new_err(why))
    }

    /// Plans a sync; with `offline`, from the journal alone. `callback` is as in `sync`. A `filter` replaces that of the
    /// mirror.
    #[pyo3(signature = (offline, callback, filter))]
    fn plan<'py>(
        &self,
        py: Python<'py>,
        offline: bool,
        callback: &Bound<'py, PyAny>,
        filter: Option<FilterValues>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let filter = filter.map_or_else(|| Ok(self.options.filter.clone()), FilterValues::core);
        let core = filter.and_then(|filter| self.core_with(core::Options { filter, ..self.options.clone() }));
        let core = core.map_err(|error| errors::raise(py, &error))?;
        let plan = if offline {
            bridge::compute(py, move |_| core.plan_offline())?
        } else {
            let progress = Progress::default();
            let callback = progress_callback(callback, progress.clone());
            bridge::block_on_with_callback(py, async move { core.plan(&progress).await }, callback, || false)?
        };
        let facts = PyDict::new(py);
        facts.set_item("new", plan.new)?;
        facts.set_item("changed", plan.changed)?;
        facts.set_item("gone", plan.gone)?;
        facts.set_item("files", plan.files)?;
        facts.set_item("filtered", plan.filtered)?;
        facts.set_item("notes", &plan.notes)?;
        facts.set_item("is_relist", plan.is_relist)?;
        facts.set_item("lists_read_at", plan.lists_read_at)?;
        let calls = PyDict::new(py);
        let purposes =
            [("lists", plan.lists), ("details", plan.details), ("asked", plan.asked), ("collected", plan.collected)];
        for (name, Planned { made, least, most }) in purposes {
            calls.set_item(name, (made, least, most))?;
        }
        facts.set_item("calls", calls)?;
        facts.set_item("seconds", (plan.time.0.as_secs_f64(), plan.time.1.as_secs_f64()))?;
        facts.set_item("bytes", plan.bytes)?;
        facts.set_item("text", plan.to_string())?;
        Ok(facts)
    }

    /// Pulls and publishes. `callback` receives progress and events in this thread, several times a second and at the
    /// end. An exception of the callback ends the sync as Ctrl-C does.
    #[pyo3(signature = (callback))]
    fn sync<'py>(&self, py: Python<'py>, callback: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let _memory = ReleaseOnDrop::for_large_work();
        let core = self.core().map_err(|error| errors::raise(py, &error))?;
        let progress = Progress::default();
        let (callback, ending) = (progress_callback(callback, progress.clone()), progress.clone());
        let outcome = bridge::block_on_with_callback(py, async move { core.sync(&progress).await }, callback, || {
            ending.request_end()
        })?;
        let facts = PyDict::new(py);
        facts.set_item("new", outcome.new)?;
        facts.set_item("changed", outcome.changed)?;
        facts.set_item("gone", outcome.gone)?;
        facts.set_item("failed", outcome.failed)?;
        facts.set_item("calls", outcome.calls)?;
        facts.set_item("bytes", outcome.bytes)?;
        facts.set_item("generation", outcome.generation)?;
        facts.set_item("rows", outcome.rows)?;
        facts.set_item("notes", outcome.notes)?;
        Ok(facts)
    }

    /// Returns the state of the mirror.
    fn status<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let core = self.core().map_err(|error| errors::raise(py, &error))?;
        let status = bridge::without_gil(py, || core.status())?.map_err(|error| errors::raise(py, &error))?;
        let facts = PyDict::new(py);
        let (jobs, carts, types) = (PyDict::new(py), PyDict::new(py), PyDict::new(py));
        for StateCount { kind, sub_type, state, items } in &status.states {
            let counts = if *kind == ItemKind::Job { &jobs } else { &carts };
            let before: u64 = counts.get_item(state)?.map_or(Ok(0), |count| count.extract())?;
            counts.set_item(state, before.saturating_add(*items))?;
            if *kind == ItemKind::Job {
                types.set_item((sub_type.as_deref(), state), items)?;
            }
        }
        facts.set_item("jobs", jobs)?;
        facts.set_item("grain_carts", carts)?;
        facts.set_item("types", types)?;
        facts.set_item("archives", status.archives)?;
        facts.set_item("bytes", status.bytes)?;
        facts.set_item("details_due", status.details_due)?;
        facts.set_item("next_ready_at", status.next_ready_at)?;
        facts.set_item("listed_at", status.listed_at)?;
        facts.set_item("relisted_at", status.relisted_at)?;
        facts.set_item("relist_due", status.relist_due)?;
        facts.set_item("unfinished_since", status.unfinished_since)?;
        facts.set_item("planned_at", status.planned_at)?;
        let calls = PyDict::new(py);
        for purpose in &status.calls {
            calls.set_item(&purpose.purpose, (purpose.this_run, purpose.ever))?;
        }
        facts.set_item("calls", calls)?;
        facts.set_item("generation", status.generation)?;
        facts.set_item("is_published", status.is_published)?;
        facts.set_item("lost", &status.lost)?;
        let unavailable = status.unavailable.iter().map(|Unavailable { kind, id, name, state, reason }| {
            let facts = PyDict::new(py);
            facts.set_item("kind", kind.as_str())?;
            facts.set_item("id", id)?;
            facts.set_item("name", name)?;
            facts.set_item("state", state)?;
            facts.set_item("reason", reason)?;
            PyResult::Ok(facts)
        });
        facts.set_item("unavailable", PyList::new(py, unavailable.collect::<PyResult<Vec<_>>>()?)?)?;
        Ok(facts)
    }

    /// Verifies the mirror and returns the number of archives read and the findings.
    fn verify(&self, py: Python<'_>, deep: bool) -> PyResult<(u64, Vec<String>)> {
        let core = self.core().map_err(|error| errors::raise(py, &error))?;
        let found = bridge::compute(py, move |cancel| core.verify(deep, cancel))?;
        Ok((found.archives, found.findings))
    }
}

/// Returns the digests of the account that a folder mirrors, those of earlier access keys last; none without a journal.
#[pyfunction]
pub(super) fn mirrored_accounts(py: Python<'_>, folder: PathBuf) -> PyResult<Vec<String>> {
    bridge::without_gil(py, move || core::accounts(&folder))?.map_err(|error| errors::raise(py, &error))
}

/// Formats a duration in seconds for people.
#[pyfunction]
pub(super) fn format_span(seconds: f64) -> String {
    core::format_span(seconds)
}

/// Formats a number of bytes for people.
#[pyfunction]
pub(super) fn format_size(count: u64) -> String {
    core::format_size(count)
}

/// Returns the callback for [`bridge::block_on_with_callback`].
fn progress_callback<'py>(
    callback: &Bound<'py, PyAny>,
    progress: Progress,
) -> impl FnMut(Python<'py>) -> PyResult<()> + use<'py> {
    let callback = callback.clone();
    move |py| {
        let events = progress.take_events().into_iter().map(|event| match event {
            Event::Unavailable(why) => (true, why),
            Event::Published { generation, rows } => {
                (false, format!("published generation {generation} with {rows} rows"))
            }
        });
        callback.call1((progress_to_dict(py, &progress.snapshot())?, events.collect::<Vec<_>>()))?;
        Ok(())
    }
}

/// Converts the progress of a sync to a dict.
fn progress_to_dict<'py>(py: Python<'py>, snapshot: &Snapshot) -> PyResult<Bound<'py, PyDict>> {
    let facts = PyDict::new(py);
    facts.set_item("phase", snapshot.phase.as_str())?;
    facts.set_item("calls_done", snapshot.calls_done)?;
    facts.set_item("calls_left", snapshot.calls_left)?;
    facts.set_item("jobs_done", snapshot.jobs_done)?;
    facts.set_item("jobs_left", snapshot.jobs_left)?;
    facts.set_item("bytes", snapshot.bytes)?;
    facts.set_item("converting", snapshot.converting)?;
    facts.set_item("waiting_until", snapshot.waiting_until)?;
    facts.set_item("limit_until", snapshot.limit_until)?;
    facts.set_item("seconds_left", snapshot.time_left.map(|left| left.as_secs_f64()))?;
    Ok(facts)
}
