//! Passes events of calls to Python, which logs and displays them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyList;

use headland_client::transport::Event;

/// The most requests that wait for a delivery; more are dropped, waits never.
const CAPACITY: usize = 1_000;

/// Events that Python has not received yet, with the `progress` of their client.
#[derive(Debug, Default)]
pub(super) struct Events {
    pending: Mutex<Vec<(Event, Option<bool>)>>,
    /// The event loop of the last asynchronous call.
    event_loop: Mutex<Option<Py<PyAny>>>,
    /// Whether requests are logged.
    wants_requests: AtomicBool,
}

impl Events {
    pub(super) fn push(&self, event: Event, progress: Option<bool>) {
        let mut events = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        if events.len() < CAPACITY || !matches!(event, Event::Request(_)) {
            events.push((event, progress));
        }
    }

    /// Whether the last call found the logger at level DEBUG.
    pub(super) fn wants_requests(&self) -> bool {
        self.wants_requests.load(Ordering::Relaxed)
    }

    /// Checks the level of the logger before a call, which costs less than the text of its request.
    pub(super) fn check_level(&self, py: Python<'_>) -> PyResult<()> {
        static IS_ENABLED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let is_enabled = IS_ENABLED.import(py, "headland.activity", "logs_requests")?.call0()?.is_truthy()?;
        self.wants_requests.store(is_enabled, Ordering::Relaxed);
        Ok(())
    }

    /// Sets the event loop that passes the events of asynchronous calls.
    pub(super) fn set_loop(&self, event_loop: &Bound<'_, PyAny>) {
        let given = event_loop.clone().unbind();
        let _old = self.event_loop.lock().unwrap_or_else(PoisonError::into_inner).replace(given);
    }

    /// Asks the event loop to pass the events. A closed loop refuses it; then the next call passes them.
    pub(super) fn schedule(&'static self, py: Python<'_>) {
        let event_loop =
            self.event_loop.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|it| it.clone_ref(py));
        if let Some(event_loop) = event_loop {
            let _ = Bound::new(py, Deliver { events: self })
                .and_then(|deliver| event_loop.call_method1(py, "call_soon_threadsafe", (deliver,)));
        }
    }

    /// Passes the events to `headland.activity.receive`. The caller has the GIL and holds no lock.
    pub(super) fn deliver(&self, py: Python<'_>) -> PyResult<()> {
        let events = std::mem::take(&mut *self.pending.lock().unwrap_or_else(PoisonError::into_inner));
        if events.is_empty() {
            return Ok(());
        }
        let list = PyList::empty(py);
        for (event, progress) in events {
            match event {
                Event::Request(text) => list.append(("request", 0, text, 0.0, progress))?,
                Event::Wait { id, text, pause } => list.append(("wait", id, text, pause.as_secs_f64(), progress))?,
                Event::Resumed(id) => list.append(("resumed", id, "", 0.0, progress))?,
            }
        }
        py.import("headland.activity")?.call_method1("receive", (list,)).map(drop)
    }
}

/// Callback in the thread of an event loop.
#[pyclass(frozen, module = "headland._core")]
struct Deliver {
    events: &'static Events,
}

#[pymethods]
impl Deliver {
    fn __call__(&self, py: Python<'_>) -> PyResult<()> {
        self.events.deliver(py)
    }
}
