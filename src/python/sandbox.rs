//! Bindings of the sandbox: start, keys, clock, faults, stop.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use super::config::{parse_seconds, parse_windows};
use super::{bridge, errors};
use headland_sandbox::fields::{CartTruth, HarvestStyle, HarvestTruth, ProductTotal, Total, Truth};
use headland_sandbox::{self as service, Keys};

/// A running service, stopped by `close` or when collected. In the child of a fork it belongs to the parent.
#[pyclass(frozen, module = "headland._core")]
pub(super) struct Sandbox {
    process: u32,
    #[pyo3(get)]
    base_url: String,
    #[pyo3(get)]
    dispatch_url: String,
    #[pyo3(get)]
    legacy_dispatch_url: String,
    #[pyo3(get)]
    legacy_orders_url: String,
    /// Also available in the child of a fork, which may be a client.
    keys: Keys,
    running: Mutex<Option<service::Sandbox>>,
}

#[pymethods]
impl Sandbox {
    #[new]
    #[pyo3(signature = (*, data, port, seed, logged_harvests, small_jobs, rate_limits, sliding, conversion_time, variants, moved_clock))]
    #[expect(clippy::too_many_arguments, reason = "the settings of the service, by keyword")]
    fn new(
        py: Python<'_>,
        data: Option<PathBuf>,
        port: u16,
        seed: u64,
        logged_harvests: bool,
        small_jobs: Option<u32>,
        rate_limits: Vec<(u32, f64)>,
        sliding: bool,
        conversion_time: f64,
        variants: Vec<String>,
        moved_clock: bool,
    ) -> PyResult<Self> {
        let options = service::Options {
            data,
            port,
            seed,
            harvest: if logged_harvests { HarvestStyle::Logged } else { HarvestStyle::Ideal },
            small_jobs,
            rate_limits: parse_windows(rate_limits)?,
            sliding,
            conversion_time: parse_seconds("conversion_time", conversion_time)?,
            variants,
            manual_clock: moved_clock,
            ..service::Options::default()
        };
        let running = bridge::compute(py, move |cancel| {
            service::Sandbox::start(service::Options { cancel: cancel.clone(), ..options })
        })?;
        Ok(Self {
            process: std::process::id(),
            base_url: running.base_url(),
            dispatch_url: running.dispatch_url(),
            legacy_dispatch_url: running.legacy_dispatch_url(),
            legacy_orders_url: running.legacy_orders_url(),
            keys: running.keys().clone(),
            running: Mutex::new(Some(running)),
        })
    }

    /// Returns the keys of the service.
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let known = PyDict::new(py);
        known.set_item("api_key", &self.keys.api_key)?;
        known.set_item("shared_secret", &self.keys.shared_secret)?;
        known.set_item("access_key", &self.keys.access_key)?;
        known.set_item("other_access_key", &self.keys.other_access_key)?;
        known.set_item("revoked_access_key", &self.keys.revoked_access_key)?;
        known.set_item("partial_access_key", &self.keys.partial_access_key)?;
        known.set_item("read_only_access_key", &self.keys.read_only_access_key)?;
        known.set_item("expired_access_key", &self.keys.expired_access_key)?;
        known.set_item("dispatch_token", &self.keys.dispatch_token)?;
        known.set_item("other_dispatch_token", &self.keys.other_dispatch_token)?;
        Ok(known)
    }

    /// Returns ids and names of the dispatch equipment.
    fn equipment(&self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        self.with_running(|running| running.equipment().map_err(|error| errors::raise(py, &error)))
    }

    /// Returns ids and names of the dispatch accounts.
    fn accounts(&self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        self.with_running(|running| running.accounts().map_err(|error| errors::raise(py, &error)))
    }

    fn advance(&self, by: f64) -> PyResult<()> {
        let by = parse_seconds("seconds", by)?;
        self.with_running(|running| {
            running.advance(by);
            Ok(())
        })
    }

    /// Adds a small job and returns its id.
    fn add_job(&self, py: Python<'_>) -> PyResult<String> {
        self.with_running(|running| running.add_job().map_err(|error| errors::raise(py, &error)))
    }

    /// Returns the id of the delivered map with these bytes.
    fn delivered_map(&self, py: Python<'_>, file: &[u8]) -> PyResult<String> {
        self.with_running(|running| running.delivered_map(file).map_err(|error| errors::raise(py, &error)))
    }

    /// Adds the job that a sprayer logs from a delivered map, and returns its truth.
    fn spray<'py>(
        &self,
        py: Python<'py>,
        rx_id: &str,
        lag: usize,
        overlap: f64,
        sections_off: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let work = || self.with_running(|running| Ok(running.spray(rx_id, lag, overlap, sections_off)));
        let job = bridge::without_gil(py, work)??.map_err(|error| errors::raise(py, &error))?;
        let facts = PyDict::new(py);
        facts.set_item("job_id", job.id)?;
        facts.set_item("unit", job.unit)?;
        facts.set_item("rows", job.truth.rows)?;
        facts.set_item("area", job.truth.area)?;
        facts.set_item("under", job.truth.under)?;
        facts.set_item("within", job.truth.within)?;
        facts.set_item("over", job.truth.over)?;
        facts.set_item("off", job.truth.off)?;
        facts.set_item("asked", job.truth.asked)?;
        facts.set_item("applied", job.truth.applied)?;
        Ok(facts)
    }

    fn change_job(&self, py: Python<'_>, id: &str) -> PyResult<()> {
        self.with_running(|running| running.change_job(id).map_err(|error| errors::raise(py, &error)))
    }

    fn remove_job(&self, py: Python<'_>, id: &str) -> PyResult<()> {
        self.with_running(|running| running.remove_job(id).map_err(|error| errors::raise(py, &error)))
    }

    fn add_fault(&self, py: Python<'_>, endpoint: &str, kind: &str, times: u32) -> PyResult<()> {
        self.with_running(|running| running.add_fault(endpoint, kind, times).map_err(|error| errors::raise(py, &error)))
    }

    fn clear_faults(&self) -> PyResult<()> {
        self.with_running(|running| {
            running.clear_faults();
            Ok(())
        })
    }

    /// Returns the requests received so far.
    fn requests<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let requests = self.with_running(|running| Ok(running.requests()))?;
        let facts = |request: &service::Request| {
            let facts = PyDict::new(py);
            facts.set_item("at", request.received_at)?;
            facts.set_item("method", &request.method)?;
            facts.set_item("path", &request.path)?;
            facts.set_item("query", &request.query)?;
            facts.set_item("status", request.status)?;
            PyResult::Ok(facts)
        };
        let requests = requests.iter().map(facts).collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, requests)
    }

    /// Returns the true totals of the generated jobs.
    fn truth<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let truth = bridge::without_gil(py, || self.with_running(|running| Ok(running.truth())))??
            .map_err(|error| errors::raise(py, &error))?;
        let facts = |truth: &Truth| {
            let facts = PyDict::new(py);
            facts.set_item("job_id", &truth.job_id)?;
            facts.set_item("job_name", &truth.job_name)?;
            facts.set_item("sub_type", &truth.sub_type)?;
            facts.set_item("field", &truth.field)?;
            facts.set_item("layer", &truth.layer)?;
            facts.set_item("rows", truth.rows)?;
            facts.set_item("area", truth.area)?;
            facts.set_item("field_area", truth.field_area)?;
            facts.set_item("totals", &truth.totals)?;
            facts.set_item("total", total_to_dict(py, &truth.total)?)?;
            let products = truth.products.iter().map(|product| product_to_dict(py, product));
            facts.set_item("products", products.collect::<PyResult<Vec<_>>>()?)?;
            let harvest = truth.harvest.as_ref().map(|harvest| harvest_to_dict(py, harvest)).transpose()?;
            facts.set_item("harvest", harvest)?;
            PyResult::Ok(facts)
        };
        let truth = truth.iter().map(facts).collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, truth)
    }

    /// Returns the columns of the true map of a logged harvest: x, y, yield and share.
    fn harvest_grid<'py>(&self, py: Python<'py>, job_id: &str, cell: f64) -> PyResult<Bound<'py, PyDict>> {
        let grid = bridge::without_gil(py, || self.with_running(|running| Ok(running.harvest_grid(job_id, cell))))??
            .map_err(|error| errors::raise(py, &error))?;
        let columns = PyDict::new(py);
        columns.set_item("x", grid.x)?;
        columns.set_item("y", grid.y)?;
        columns.set_item("yield_dry", grid.yield_dry)?;
        columns.set_item("share", grid.share)?;
        Ok(columns)
    }

    /// Returns the true totals of the generated grain cart files.
    fn cart_truth<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let truth = self.with_running(|running| Ok(running.cart_truth()))?;
        let facts = |truth: &CartTruth| {
            let facts = PyDict::new(py);
            facts.set_item("id", &truth.id)?;
            facts.set_item("name", &truth.name)?;
            facts.set_item("field", &truth.field)?;
            facts.set_item("loads", truth.loads)?;
            facts.set_item("total_pounds", truth.total_pounds)?;
            facts.set_item("total_dry_bushels", truth.total_dry_bushels)?;
            facts.set_item("is_newest", truth.is_newest)?;
            PyResult::Ok(facts)
        };
        let truth = truth.iter().map(facts).collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, truth)
    }

    /// Stops the service and waits for it. A second call has no effect.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        if self.process == std::process::id() {
            let running = self.lock_running().take();
            bridge::without_gil(py, || drop(running))?;
        }
        Ok(())
    }
}

fn total_to_dict<'py>(py: Python<'py>, total: &Total) -> PyResult<Bound<'py, PyDict>> {
    let facts = PyDict::new(py);
    facts.set_item("label", &total.label)?;
    facts.set_item("unit", &total.unit)?;
    facts.set_item("value", total.value)?;
    facts.set_item("factor", total.factor)?;
    facts.set_item("columns", &total.columns)?;
    Ok(facts)
}

fn product_to_dict<'py>(py: Python<'py>, product: &ProductTotal) -> PyResult<Bound<'py, PyDict>> {
    let facts = PyDict::new(py);
    facts.set_item("name", &product.name)?;
    facts.set_item("unit", &product.unit)?;
    facts.set_item("value", product.value)?;
    Ok(facts)
}

fn harvest_to_dict<'py>(py: Python<'py>, harvest: &HarvestTruth) -> PyResult<Bound<'py, PyDict>> {
    let facts = PyDict::new(py);
    facts.set_item("delay", harvest.delay)?;
    facts.set_item("moisture_delay", harvest.moisture_delay)?;
    facts.set_item("antenna", harvest.antenna)?;
    facts.set_item("covered_area", harvest.covered_area)?;
    facts.set_item("dry_mass", harvest.dry_mass)?;
    facts.set_item("moisture_basis", harvest.moisture_basis)?;
    facts.set_item("reasons", &harvest.reasons)?;
    facts.set_item("crs", format!("EPSG:{}", 32_600 + u32::from(harvest.utm_zone)))?;
    Ok(facts)
}

impl Sandbox {
    fn lock_running(&self) -> MutexGuard<'_, Option<service::Sandbox>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with_running<T>(&self, work: impl FnOnce(&service::Sandbox) -> PyResult<T>) -> PyResult<T> {
        if self.process != std::process::id() {
            return Err(PyRuntimeError::new_err("the sandbox runs in the parent process: control it from there"));
        }
        match self.lock_running().as_ref() {
            Some(running) => work(running),
            None => Err(PyRuntimeError::new_err("the sandbox is closed")),
        }
    }
}

impl Drop for Sandbox {
    /// The service's thread is in the parent of a fork: waiting for it in the child would never end.
    fn drop(&mut self) {
        if self.process != std::process::id() {
            std::mem::forget(self.lock_running().take());
        }
    }
}
