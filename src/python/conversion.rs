//! Handles of files that the service may have to convert first.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pyo3::prelude::*;
use tokio::sync::Mutex;

use super::bridge;
use super::config::parse_seconds;
use super::download::{deliver, make_target};
use super::fork_safe::check_usable;
use headland_base::error::{Kind, Result};
use headland_client::{self as core, Delivered, Target};
use headland_reader::archive::Source;

/// A handle of a conversion. It belongs to the process that made the request; another process can resume it by its id.
#[pyclass(frozen, module = "headland._core")]
pub(super) struct Conversion {
    process: u32,
    /// The id, with which another process can resume the conversion.
    #[pyo3(get)]
    id: String,
    handle: Arc<Mutex<core::Conversion>>,
}

impl Conversion {
    pub(super) fn new(handle: core::Conversion) -> Self {
        Self { process: std::process::id(), id: handle.id(), handle: Arc::new(Mutex::new(handle)) }
    }

    fn handle(&self) -> PyResult<Arc<Mutex<core::Conversion>>> {
        check_usable(self.process, &self.handle, "this conversion")?;
        Ok(Arc::clone(&self.handle))
    }
}

#[pymethods]
impl Conversion {
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
        let handle = self.handle()?;
        let timeout = timeout.map(|timeout| parse_seconds("timeout", timeout)).transpose()?;
        bridge::block_on(py, async move { handle.lock().await.wait(timeout).await })
    }

    #[pyo3(signature = (timeout))]
    fn wait_async<'py>(&self, py: Python<'py>, timeout: Option<f64>) -> PyResult<Bound<'py, PyAny>> {
        let handle = self.handle()?;
        let timeout = timeout.map(|timeout| parse_seconds("timeout", timeout)).transpose()?;
        bridge::spawn(py, async move { handle.lock().await.wait(timeout).await }, |py, ()| Ok(py.None()))
    }

    #[pyo3(signature = (to, overwrite))]
    fn result<'py>(&self, py: Python<'py>, to: Option<PathBuf>, overwrite: bool) -> PyResult<Bound<'py, PyAny>> {
        let handle = self.handle()?;
        let delivered =
            bridge::block_on(py, async move { handle.lock().await.result(make_target(to, overwrite)).await })?;
        deliver(py, delivered)
    }

    #[pyo3(signature = (to, overwrite))]
    fn result_async<'py>(&self, py: Python<'py>, to: Option<PathBuf>, overwrite: bool) -> PyResult<Bound<'py, PyAny>> {
        let handle = self.handle()?;
        let call = async move { handle.lock().await.result(make_target(to, overwrite)).await };
        bridge::spawn(py, call, |py, delivered| deliver(py, delivered).map(Bound::unbind))
    }
}

/// Waits for a conversion and returns its file and its id, which is the `source` of the layer.
pub(super) async fn fetch(mut handle: core::Conversion, timeout: Option<Duration>) -> Result<(Source, String)> {
    let mut result = handle.result_within(Target::Memory, timeout).await;
    if matches!(&result, Err(error) if error.kind() == Kind::InvalidRequest)
        && let Some(uploaded) = handle.as_uploaded()?
    {
        handle = uploaded;
        result = handle.result_within(Target::Memory, timeout).await;
    }
    let source = match result? {
        Delivered::Bytes(content) => Source::Bytes(content.into()),
        Delivered::File(path) => Source::Path(path),
    };
    Ok((source, handle.id()))
}
