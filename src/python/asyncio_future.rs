//! Futures of asyncio: sets their outcome from another thread, and aborts the task of a cancelled one.

use std::time::Duration;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use tokio::task::AbortHandle;

use super::activity::Events;

/// How often, and after which pauses, a cancelled task is checked for its end.
const ABORT_CHECKS: u32 = 20;
const ABORT_CHECK: Duration = Duration::from_millis(1);

pub(super) fn running_loop(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static GET_RUNNING_LOOP: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    GET_RUNNING_LOOP.import(py, "asyncio", "get_running_loop")?.call0()
}

/// Sends the outcome to the thread of the event loop. A closed loop refuses it; then no caller waits for it.
pub(super) fn send_outcome(py: Python<'_>, event_loop: &Py<PyAny>, waiter: Py<PyAny>, outcome: PyResult<Py<PyAny>>) {
    let set_outcome = SetOutcome { waiter, outcome: Some(outcome) };
    let _ = Bound::new(py, set_outcome)
        .and_then(|set_outcome| event_loop.call_method1(py, "call_soon_threadsafe", (set_outcome,)));
}

/// Callback in the thread of the event loop: sets the outcome of the asyncio future unless it was cancelled.
#[pyclass(module = "headland._core")]
struct SetOutcome {
    waiter: Py<PyAny>,
    outcome: Option<PyResult<Py<PyAny>>>,
}

#[pymethods]
impl SetOutcome {
    fn __call__(&mut self, py: Python<'_>) -> PyResult<()> {
        let waiter = self.waiter.bind(py);
        if waiter.call_method0("done")?.is_truthy()? {
            return Ok(());
        }
        match self.outcome.take() {
            Some(Ok(value)) => waiter.call_method1("set_result", (value,)).map(drop),
            Some(Err(error)) => waiter.call_method1("set_exception", (error.into_value(py),)).map(drop),
            None => Ok(()),
        }
    }
}

/// Callback of a done asyncio future: aborts the task if the future was cancelled.
#[pyclass(frozen, module = "headland._core")]
pub(super) struct Canceller {
    pub(super) task: AbortHandle,
    pub(super) events: &'static Events,
}

#[pymethods]
impl Canceller {
    fn __call__(&self, waiter: &Bound<'_, PyAny>) -> PyResult<()> {
        if waiter.call_method0("cancelled")?.is_truthy()? {
            self.task.abort();
            // The driver drops the task, and with it the displayed wait, before Python prints a traceback.
            let py = waiter.py();
            for _ in 0..ABORT_CHECKS {
                if self.task.is_finished() {
                    break;
                }
                py.detach(|| std::thread::sleep(ABORT_CHECK));
            }
            self.events.deliver(py)?;
        }
        Ok(())
    }
}
