//! The client by endpoint rows: each method takes the full name of a row and the arguments as texts.

use std::collections::HashMap;
use std::path::PathBuf;

use bytes::Bytes;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyDict, PyTuple};

use super::config::{parse_content_type, parse_limiter_state, parse_on_error, parse_seconds, parse_windows};
use super::download::{deliver, make_target};
use super::endpoints::{result_kind, row, token_argument};
use super::fork_safe::PerProcess;
use super::layer::{self, Layer};
use super::read_options;
use super::secret::Secret;
use super::{arrow_export, bridge, conversion, doctor, errors, link_pages, pages, to_dict, values};
use headland_api::Endpoint;
use headland_base::error::{Error, Kind, Result};
use headland_client as core;
use headland_client::{Arguments, Config, Timeouts, UploadFile};
use headland_reader::archive::Source;

/// Arguments of a call by their Python names.
type ArgumentTexts = HashMap<String, String>;

/// A client of the core. The child of a fork makes its own from the same settings, because processes must not share
/// connections or the limiter's file handle.
#[pyclass(frozen, module = "headland._core")]
pub(super) struct Client {
    config: Config,
    core: PerProcess<core::Client>,
}

impl Client {
    /// Returns the client of this process.
    pub(super) fn core(&self) -> Result<core::Client> {
        self.core
            .get(|| {
                bridge::connections().and_then(|shared| core::Client::with_connections(self.config.clone(), shared))
            })
            .cloned()
    }

    fn prepare(&self, name: &str, given: ArgumentTexts) -> Result<(core::Client, &'static Endpoint, Arguments)> {
        let row = row(name)?;
        let mut texts = Vec::with_capacity(given.len());
        for (name, text) in given {
            let Some(parameter) = row.parameter(&name) else {
                return Err(Error::new(Kind::Type, format!("`{}`: unknown argument `{name}`", row.full_name)));
            };
            texts.push((parameter.name, text));
        }
        Ok((self.core()?, row, Arguments::new(row, &texts)?))
    }
}

#[pymethods]
impl Client {
    #[new]
    #[pyo3(signature = (*, base_url, api_key, shared_secret, access_key, dispatch_url, dispatch_token, legacy_dispatch_url, legacy_orders_url, legacy_token, rate_limits, limiter_state, accept, page_size, connect, read, call, min_throughput, ca_file, progress))]
    #[expect(clippy::too_many_arguments, reason = "the settings of the client, by keyword")]
    fn new(
        py: Python<'_>,
        base_url: String,
        api_key: &Bound<'_, Secret>,
        shared_secret: &Bound<'_, Secret>,
        access_key: &Bound<'_, Secret>,
        dispatch_url: Option<String>,
        dispatch_token: &Bound<'_, Secret>,
        legacy_dispatch_url: Option<String>,
        legacy_orders_url: Option<String>,
        legacy_token: &Bound<'_, Secret>,
        rate_limits: Vec<(u32, f64)>,
        limiter_state: Option<PathBuf>,
        accept: &str,
        page_size: u32,
        connect: f64,
        read: f64,
        call: f64,
        min_throughput: u64,
        ca_file: Option<PathBuf>,
        progress: Option<bool>,
    ) -> PyResult<Self> {
        let config = Config {
            base_url,
            api_key: api_key.get().to_secret(py, "api_key")?,
            shared_secret: shared_secret.get().to_secret(py, "shared_secret")?,
            access_key: access_key.get().to_secret(py, "access_key")?,
            dispatch_url,
            dispatch_token: dispatch_token.get().to_token_source(py, "dispatch_token")?,
            legacy_dispatch_url,
            legacy_orders_url,
            legacy_token: legacy_token.get().to_token_source(py, "legacy_token")?,
            rate_limits: parse_windows(rate_limits)?,
            limiter_state: parse_limiter_state(limiter_state),
            accept: parse_content_type(accept)?,
            page_size,
            timeout: Timeouts {
                connect: parse_seconds("timeout.connect", connect)?,
                read: parse_seconds("timeout.read", read)?,
                call: parse_seconds("timeout.call", call)?,
                min_throughput,
            },
            ca_file,
            observer: bridge::observer(progress),
        };
        let client = Self { config, core: PerProcess::new() };
        bridge::without_gil(py, || client.core().map(drop))?.map_err(|error| errors::raise(py, &error))?;
        Ok(client)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        self.core().map(|core| core.describe()).map_err(|error| errors::raise(py, &error))
    }

    #[expect(clippy::unused_self, reason = "Python asks an instance")]
    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err("a client cannot be pickled, because it has secrets: create one in the other process"))
    }

    /// Closes the connections that no other client uses.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.core().map_err(|error| errors::raise(py, &error))?.close();
        bridge::settle(py)
    }

    /// Returns the pending warnings and clears them.
    fn take_warnings(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.core().map(|core| core.take_warnings()).map_err(|error| errors::raise(py, &error))
    }

    fn detail<'py>(&self, py: Python<'py>, name: &str, arguments: ArgumentTexts) -> PyResult<Bound<'py, PyAny>> {
        let (core, row, arguments) = self.prepare(name, arguments).map_err(|error| errors::raise(py, &error))?;
        let value = bridge::block_on(py, core.detail(row, &arguments))?;
        values::to_python(py, &value)
    }

    fn detail_async<'py>(&self, py: Python<'py>, name: &str, arguments: ArgumentTexts) -> PyResult<Bound<'py, PyAny>> {
        let (core, row, arguments) = self.prepare(name, arguments).map_err(|error| errors::raise(py, &error))?;
        let call = async move { core.detail(row, &arguments).await };
        bridge::spawn(py, call, |py, value| values::to_python(py, &value).map(Bound::unbind))
    }

    /// Returns the rows of a table as dicts and as columns.
    fn rows<'py>(&self, py: Python<'py>, name: &str, arguments: ArgumentTexts) -> PyResult<Bound<'py, PyTuple>> {
        let (core, row, arguments) = self.prepare(name, arguments).map_err(|error| errors::raise(py, &error))?;
        let rows = bridge::block_on(py, core.rows(row, &arguments))?;
        arrow_export::rows_to_python(py, rows)
    }

    fn rows_async<'py>(&self, py: Python<'py>, name: &str, arguments: ArgumentTexts) -> PyResult<Bound<'py, PyAny>> {
        let (core, row, arguments) = self.prepare(name, arguments).map_err(|error| errors::raise(py, &error))?;
        let call = async move { core.rows(row, &arguments).await };
        bridge::spawn(py, call, |py, rows| arrow_export::rows_to_python(py, rows).map(|rows| rows.into_any().unbind()))
    }

    /// Resolves the address of a record to a call: its row, kind of result, arguments and paging.
    fn resolve_link<'py>(&self, py: Python<'py>, uri: &str) -> PyResult<Bound<'py, PyTuple>> {
        let found = self.core().and_then(|core| core.resolve_link(uri)).map_err(|error| errors::raise(py, &error))?;
        let given = found.given.into_iter().collect::<HashMap<_, _>>();
        (found.row.full_name, result_kind(found.row), given, found.page_size, found.page).into_pyobject(py)
    }

    /// Sends a command, a call without a result.
    fn send_command(&self, py: Python<'_>, name: &str, arguments: ArgumentTexts) -> PyResult<()> {
        let (core, row, arguments) = self.prepare(name, arguments).map_err(|error| errors::raise(py, &error))?;
        bridge::block_on(py, core.send_command(row, &arguments))
    }

    fn send_command_async<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        arguments: ArgumentTexts,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (core, row, arguments) = self.prepare(name, arguments).map_err(|error| errors::raise(py, &error))?;
        bridge::spawn(py, async move { core.send_command(row, &arguments).await }, |py, ()| Ok(py.None()))
    }

    #[pyo3(signature = (name, arguments, page_size, page, on_error))]
    fn pages(
        &self,
        py: Python<'_>,
        name: &str,
        arguments: ArgumentTexts,
        page_size: Option<u32>,
        page: Option<u64>,
        on_error: &str,
    ) -> PyResult<pages::Pages> {
        let on_error = parse_on_error(on_error)?;
        self.prepare(name, arguments)
            .and_then(|(core, row, arguments)| Ok(core.pages(row, arguments, page_size, page)?.on_error(on_error)))
            .map(pages::Pages::new)
            .map_err(|error| errors::raise(py, &error))
    }

    #[pyo3(signature = (name, arguments, page_size, page))]
    fn link_pages(
        &self,
        py: Python<'_>,
        name: &str,
        arguments: ArgumentTexts,
        page_size: Option<u32>,
        page: Option<u64>,
    ) -> PyResult<link_pages::LinkPages> {
        self.prepare(name, arguments)
            .and_then(|(core, row, arguments)| {
                Ok(link_pages::LinkPages::new(core.link_pages(row, arguments, page_size, page)?, token_argument(row)))
            })
            .map_err(|error| errors::raise(py, &error))
    }

    /// Checks everything about a call except its token.
    fn check_call(&self, py: Python<'_>, name: &str, arguments: ArgumentTexts) -> PyResult<()> {
        self.prepare(name, arguments)
            .and_then(|(core, row, _)| core.check_service(row))
            .map_err(|error| errors::raise(py, &error))
    }

    /// Calls the dispatch service or the legacy order service with the token.
    fn payload<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        arguments: ArgumentTexts,
        token: &Bound<'py, Secret>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (core, row, arguments) = self.prepare(name, arguments).map_err(|error| errors::raise(py, &error))?;
        let core = core.with_token(token.get().to_call_token(py, token_argument(row))?);
        let value = bridge::block_on(py, core.payload(row, &arguments))?;
        values::to_python(py, &value)
    }

    fn payload_async<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        arguments: ArgumentTexts,
        token: &Bound<'py, Secret>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (core, row, arguments) = self.prepare(name, arguments).map_err(|error| errors::raise(py, &error))?;
        let core = core.with_token(token.get().to_call_token(py, token_argument(row))?);
        let call = async move { core.payload(row, &arguments).await };
        bridge::spawn(py, call, |py, value| values::to_python(py, &value).map(Bound::unbind))
    }

    #[pyo3(signature = (name, arguments, to, overwrite, limits))]
    fn download<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        arguments: ArgumentTexts,
        to: Option<PathBuf>,
        overwrite: bool,
        limits: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (core, row, arguments) = self.prepare(name, arguments).map_err(|error| errors::raise(py, &error))?;
        let max_bytes = read_options::parse_limits(limits)?.bytes;
        let delivered =
            bridge::block_on(py, core.download(row, &arguments, make_target(to, overwrite), Some(max_bytes)))?;
        deliver(py, delivered)
    }

    #[pyo3(signature = (name, arguments, to, overwrite, limits))]
    fn download_async<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        arguments: ArgumentTexts,
        to: Option<PathBuf>,
        overwrite: bool,
        limits: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (core, row, arguments) = self.prepare(name, arguments).map_err(|error| errors::raise(py, &error))?;
        let max_bytes = read_options::parse_limits(limits)?.bytes;
        let call = async move { core.download(row, &arguments, make_target(to, overwrite), Some(max_bytes)).await };
        bridge::spawn(py, call, |py, delivered| deliver(py, delivered).map(Bound::unbind))
    }

    fn upload<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        arguments: ArgumentTexts,
        file_name: String,
        content: PyBackedBytes,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (core, row, arguments) = self.prepare(name, arguments).map_err(|error| errors::raise(py, &error))?;
        let file = UploadFile { name: file_name, content: Bytes::from_owner(content) };
        let created = bridge::block_on(py, core.upload(row, &arguments, file))?;
        to_dict::created(py, &created)
    }

    fn upload_async<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        arguments: ArgumentTexts,
        file_name: String,
        content: PyBackedBytes,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (core, row, arguments) = self.prepare(name, arguments).map_err(|error| errors::raise(py, &error))?;
        let file = UploadFile { name: file_name, content: Bytes::from_owner(content) };
        let call = async move { core.upload(row, &arguments, file).await };
        bridge::spawn(py, call, |py, created| to_dict::created(py, &created).map(|record| record.into_any().unbind()))
    }

    fn conversion(&self, py: Python<'_>, name: &str, arguments: ArgumentTexts) -> PyResult<conversion::Conversion> {
        self.prepare(name, arguments)
            .and_then(|(core, row, arguments)| core.conversion(row, arguments))
            .map(conversion::Conversion::new)
            .map_err(|error| errors::raise(py, &error))
    }

    /// Returns the conversion with this id, which another process may have requested.
    fn resume(&self, py: Python<'_>, id: &str) -> PyResult<conversion::Conversion> {
        self.core()
            .and_then(|core| core.resume(id))
            .map(conversion::Conversion::new)
            .map_err(|error| errors::raise(py, &error))
    }

    /// Requests a conversion, waits for it and reads the archive into a layer.
    #[pyo3(signature = (name, arguments, timeout, options))]
    fn layer(
        &self,
        py: Python<'_>,
        name: &str,
        arguments: ArgumentTexts,
        timeout: Option<f64>,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Layer> {
        let (core, row, arguments) = self.prepare(name, arguments).map_err(|error| errors::raise(py, &error))?;
        let options = read_options::call_options(row, options)?;
        let call = fetch(py, &core, row, arguments, timeout, options.limits.bytes)?;
        let (source, origin) = bridge::block_on(py, call)?;
        bridge::compute(py, move |_| layer::read_job_file(&source, &options, row.full_name, origin)).map(Layer::new)
    }

    #[pyo3(signature = (name, arguments, timeout, options))]
    fn layer_async<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        arguments: ArgumentTexts,
        timeout: Option<f64>,
        options: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (core, row, arguments) = self.prepare(name, arguments).map_err(|error| errors::raise(py, &error))?;
        let options = read_options::call_options(row, options)?;
        let call = fetch(py, &core, row, arguments, timeout, options.limits.bytes)?;
        let call = async move {
            let (source, origin) = call.await?;
            bridge::offload(move || layer::read_job_file(&source, &options, row.full_name, origin)).await
        };
        bridge::spawn(py, call, layer::into_python)
    }

    /// Finds out why calls fail; `source` names the origin of the settings. Calls `report` with each finding.
    fn diagnose(&self, py: Python<'_>, source: &str, report: &Bound<'_, PyAny>) -> PyResult<(u32, Option<Py<PyAny>>)> {
        let core = self.core().map_err(|error| errors::raise(py, &error))?;
        doctor::diagnose(py, &core, source, report.as_unbound())
    }

    /// Returns the rest of the rate limit as the fields of `headland.Budget`.
    fn budget<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let budget = bridge::without_gil(py, || self.core().map(|core| core.budget()))?
            .map_err(|error| errors::raise(py, &error))?;
        to_dict::budget(py, &budget)
    }

    fn budget_async<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let core = self.core().map_err(|error| errors::raise(py, &error))?;
        let look = bridge::offload(move || Ok(core.budget()));
        bridge::spawn(py, look, |py, budget| to_dict::budget(py, &budget).map(|facts| facts.into_any().unbind()))
    }
}

/// Returns a future of the conversion's file, of at most `bytes` bytes, and of the conversion's id. The id is the
/// `source` of the layer.
fn fetch(
    py: Python<'_>,
    core: &core::Client,
    row: &'static Endpoint,
    arguments: Arguments,
    timeout: Option<f64>,
    bytes: u64,
) -> PyResult<impl Future<Output = Result<(Source, String)>> + Send + use<>> {
    let timeout = timeout.map(|timeout| parse_seconds("timeout", timeout)).transpose()?;
    core.conversion(row, arguments)
        .map(|handle| conversion::fetch(handle.with_max_bytes(bytes), timeout))
        .map_err(|error| errors::raise(py, &error))
}
