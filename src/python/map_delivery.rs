//! Sending of prescription maps: the check and the zip of a file, plans, sends and handles of deliveries.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use tokio::sync::Mutex;

use super::client::Client;
use super::config::parse_seconds;
use super::endpoints::row;
use super::fork_safe::check_usable;
use super::{bridge, errors, values};
use headland_base::error::Result;
use headland_client::{self as core, PlannedMap, SendPlan, SentMap, UploadFile, Wait, upload_rules};

/// A map to send: its id, or the name and the content of a file.
#[derive(FromPyObject)]
pub(super) enum MapToSend {
    Id(String),
    File(String, PyBackedBytes),
}

impl MapToSend {
    async fn send(self, core: core::Client, computer: String, wait: Wait) -> Result<SentMap> {
        match self {
            Self::Id(id) => core.send_map(&id, &computer, wait).await,
            Self::File(name, content) => {
                core.send_file(UploadFile { name, content: Bytes::from_owner(content) }, &computer, wait).await
            }
        }
    }
}

/// Returns name and content of the zip of a loose shapefile.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "arguments from Python are owned")]
pub(super) fn zip_shapefile(py: Python<'_>, path: PathBuf) -> PyResult<(String, Bound<'_, PyBytes>)> {
    let file = bridge::without_gil(py, || core::zip_shapefile(&path))?.map_err(|error| errors::raise(py, &error))?;
    Ok((file.name, PyBytes::new(py, &file.content)))
}

/// Returns the rule of the service for maps with shapefiles that a zip breaks, if there is one.
#[pyfunction]
pub(super) fn broken_map_rule(py: Python<'_>, name: &str, content: PyBackedBytes) -> PyResult<Option<String>> {
    let row = row("prescription_maps.upload").map_err(|error| errors::raise(py, &error))?;
    Ok(upload_rules::check(row, Some("RX"), name, &Bytes::from_owner(content)).err())
}

/// Sends a map; returns its id, whether it is delivered, and what an earlier send had done already.
#[pyfunction]
#[pyo3(signature = (client, map, computer, wait, timeout))]
pub(super) fn send_map(
    py: Python<'_>,
    client: &Bound<'_, Client>,
    map: MapToSend,
    computer: String,
    wait: bool,
    timeout: Option<f64>,
) -> PyResult<(String, bool, Option<&'static str>)> {
    let (core, wait) = (core_of(py, client)?, parse_wait(wait, timeout)?);
    bridge::block_on(py, map.send(core, computer, wait)).map(|sent| (sent.id, sent.is_delivered, sent.already))
}

#[pyfunction]
#[pyo3(signature = (client, map, computer, wait, timeout))]
pub(super) fn send_map_async<'py>(
    py: Python<'py>,
    client: &Bound<'py, Client>,
    map: MapToSend,
    computer: String,
    wait: bool,
    timeout: Option<f64>,
) -> PyResult<Bound<'py, PyAny>> {
    let (core, wait) = (core_of(py, client)?, parse_wait(wait, timeout)?);
    bridge::spawn(py, map.send(core, computer, wait), |py, sent| {
        (sent.id, sent.is_delivered, sent.already).into_pyobject(py).map(|sent| sent.into_any().unbind())
    })
}

/// Returns the fields of `headland.SendPlan`.
#[pyfunction]
#[pyo3(signature = (client, map_id, file_name, computer))]
pub(super) fn plan_send<'py>(
    py: Python<'py>,
    client: &Bound<'py, Client>,
    map_id: Option<String>,
    file_name: Option<String>,
    computer: String,
) -> PyResult<Bound<'py, PyDict>> {
    let (core, map) = (core_of(py, client)?, planned(map_id, file_name));
    let plan = bridge::block_on(py, async move { core.plan_send(&map, &computer).await })?;
    plan_to_python(py, &plan)
}

#[pyfunction]
#[pyo3(signature = (client, map_id, file_name, computer))]
pub(super) fn plan_send_async<'py>(
    py: Python<'py>,
    client: &Bound<'py, Client>,
    map_id: Option<String>,
    file_name: Option<String>,
    computer: String,
) -> PyResult<Bound<'py, PyAny>> {
    let (core, map) = (core_of(py, client)?, planned(map_id, file_name));
    bridge::spawn(py, async move { core.plan_send(&map, &computer).await }, |py, plan| {
        plan_to_python(py, &plan).map(|plan| plan.into_any().unbind())
    })
}

fn core_of(py: Python<'_>, client: &Bound<'_, Client>) -> PyResult<core::Client> {
    client.get().core().map_err(|error| errors::raise(py, &error))
}

fn parse_wait(wait: bool, timeout: Option<f64>) -> PyResult<Wait> {
    let timeout = parse_timeout(timeout)?;
    Ok(wait.then_some(timeout))
}

fn planned(map_id: Option<String>, file_name: Option<String>) -> PlannedMap {
    map_id.map_or_else(|| PlannedMap::File(file_name.unwrap_or_default()), PlannedMap::Id)
}

fn plan_to_python<'py>(py: Python<'py>, plan: &SendPlan) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("file_name", plan.file_name.as_deref())?;
    fields.set_item("computer", values::to_python(py, &plan.computer)?)?;
    fields.set_item("queued", values::list(py, &plan.queued)?)?;
    fields.set_item("conflicts", PyTuple::new(py, &plan.conflicts)?)?;
    fields.set_item("notes", PyTuple::new(py, &plan.notes)?)?;
    Ok(fields)
}

/// A handle of a delivery. It belongs to the process that made it; another process can resume it by its id.
#[pyclass(frozen, module = "headland._core")]
pub(super) struct Delivery {
    process: u32,
    /// The id, with which another process can resume the delivery.
    #[pyo3(get)]
    id: String,
    handle: Arc<Mutex<core::Delivery>>,
}

#[pymethods]
impl Delivery {
    /// Resumes a delivery by its id; makes no call.
    #[new]
    fn new(py: Python<'_>, client: &Bound<'_, Client>, id: &str) -> PyResult<Self> {
        let handle = core_of(py, client)?.delivery(id).map_err(|error| errors::raise(py, &error))?;
        Ok(Self { process: std::process::id(), id: handle.id(), handle: Arc::new(Mutex::new(handle)) })
    }

    fn ready(&self, py: Python<'_>) -> PyResult<bool> {
        let handle = self.handle()?;
        bridge::block_on(py, async move { handle.lock().await.ready().await })
    }

    fn ready_async<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let handle = self.handle()?;
        bridge::spawn(py, async move { handle.lock().await.ready().await }, |py, ready| {
            Ok(ready.into_pyobject(py)?.to_owned().into_any().unbind())
        })
    }

    #[pyo3(signature = (timeout))]
    fn wait(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<()> {
        let (handle, timeout) = (self.handle()?, parse_timeout(timeout)?);
        bridge::block_on(py, async move { handle.lock().await.wait(timeout).await })
    }

    #[pyo3(signature = (timeout))]
    fn wait_async<'py>(&self, py: Python<'py>, timeout: Option<f64>) -> PyResult<Bound<'py, PyAny>> {
        let (handle, timeout) = (self.handle()?, parse_timeout(timeout)?);
        bridge::spawn(py, async move { handle.lock().await.wait(timeout).await }, |py, ()| Ok(py.None()))
    }
}

impl Delivery {
    fn handle(&self) -> PyResult<Arc<Mutex<core::Delivery>>> {
        check_usable(self.process, &self.handle, "this delivery")?;
        Ok(Arc::clone(&self.handle))
    }
}

fn parse_timeout(timeout: Option<f64>) -> PyResult<Option<Duration>> {
    timeout.map(|timeout| parse_seconds("timeout", timeout)).transpose()
}
