//! Passes events of calls to Python, which logs and displays them.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::transport::Event;

/// The most requests that wait for a delivery; more are dropped, waits never.
const CAPACITY: usize = 1_000;

/// Events that Python has not received yet, with the `progress` of their client.
#[derive(Debug, Default)]
pub(super) struct Events(Mutex<Vec<(Event, Option<bool>)>>);

impl Events {
    pub(super) fn push(&self, event: Event, progress: Option<bool>) {
        let mut events = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if events.len() < CAPACITY || !matches!(event, Event::Request(_)) {
            events.push((event, progress));
        }
    }

    /// Passes the events to `headland.activity.receive`. The caller has the GIL and holds no lock.
    pub(super) fn deliver(&self, py: Python<'_>) -> PyResult<()> {
        let events = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
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
