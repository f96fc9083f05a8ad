//! One future, two waits: the only place that blocks or spawns.
//!
//! One current-thread runtime serves the process. A synchronous call drives it in its own thread with the GIL
//! released and looks for signals every 50 ms; threads that call at the same time take turns at driving it. The first
//! asynchronous call starts one background thread that drives it from then on, and each call becomes a task whose
//! outcome an asyncio future gets. Both ways share connections, since all of them live on the one runtime.

use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel, sync_channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use tokio::runtime::{Builder, Runtime};
use tokio::task::AbortHandle;

use super::errors;
use super::fork_safe::PerProcess;
use super::reentrancy::Waiting;
use super::shutdown::Ending;
use crate::error::{Error, Kind, Result};
use crate::layer::Cancel;

/// How long what is on its way may take to come in once a signal has ended a wait.
const LAST_TURNS: Duration = Duration::from_secs(1);

/// How long a wait may go on without looking for signals.
const SIGNAL_CHECK: Duration = Duration::from_millis(50);

struct Bridge {
    runtime: Runtime,
    /// Set once the background thread drives the runtime. The lock inside is held for an instant, by a thread that
    /// also holds the GIL, so no fork falls into it.
    driver: OnceLock<()>,
    ending: Ending,
    /// Whether the interpreter knows that it must tell `ending` when it ends.
    is_registered: AtomicBool,
    /// The thread that computes for the main thread, while it has nothing to do.
    idle: Mutex<Option<Sender<Job>>>,
}

type Job = Box<dyn FnOnce() + Send>;

static BRIDGE: PerProcess<Bridge> = PerProcess::new();

fn bridge(py: Python<'_>) -> PyResult<&'static Bridge> {
    let bridge = BRIDGE.get(make).map_err(|error| errors::raise(py, &error))?;
    if !bridge.is_registered.swap(true, Ordering::Relaxed) {
        let end = Bound::new(py, End { process: std::process::id() })?;
        py.import("atexit")?.call_method1("register", (end,))?;
    }
    Ok(bridge)
}

fn make() -> Result<Bridge> {
    let runtime = Builder::new_current_thread()
        .enable_all()
        // Name look-ups and the reading of archives: one thread, so that many calls stay two threads.
        .max_blocking_threads(1)
        .build()
        .map_err(|cause| Error::new(Kind::Transport, format!("cannot start the runtime: {cause}")))?;
    Ok(Bridge {
        runtime,
        driver: OnceLock::new(),
        ending: Ending::default(),
        is_registered: AtomicBool::new(false),
        idle: Mutex::new(None),
    })
}

impl Bridge {
    /// Does `work` without the GIL.
    fn without_gil<T: Send>(&self, py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
        let outcome = py.detach(|| {
            let outcome = work();
            self.ending.approach_or_stay();
            outcome
        });
        self.ending.arrive();
        outcome
    }

    /// Does `work` with the GIL, in a thread that Python does not know; nothing where the interpreter is ending.
    fn with_gil(&self, work: impl FnOnce(Python<'_>)) {
        if self.ending.approach() {
            Python::try_attach(work);
            self.ending.arrive();
        }
    }
}

/// Called when the interpreter ends, before it stops giving the GIL away.
#[pyclass(frozen, module = "headland._core")]
struct End {
    process: u32,
}

#[pymethods]
impl End {
    /// The child of a fork inherits the call but not the threads that it is about.
    fn __call__(&self, py: Python<'_>) -> PyResult<()> {
        if self.process == std::process::id() {
            let bridge = bridge(py)?;
            py.detach(|| bridge.ending.begin());
        }
        Ok(())
    }
}

/// Does short `work` that opens files or waits for a lock, with the GIL released.
pub(super) fn aside<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    Ok(bridge(py)?.without_gil(py, work))
}

/// Does `work` with the GIL in whatever thread this is, one of another library too; `None` where the interpreter is ending.
pub(super) fn attached<T>(work: impl FnOnce(Python<'_>) -> T) -> Option<T> {
    let bridge = BRIDGE.get(make).ok()?;
    if !bridge.ending.approach() {
        return None;
    }
    let mut has_arrived = false;
    let outcome = Python::try_attach(|py| {
        bridge.ending.arrive();
        has_arrived = true;
        work(py)
    });
    if !has_arrived {
        bridge.ending.arrive();
    }
    outcome
}

/// Says to a consumer of Arrow that the interpreter is ending. What a thread of Python raised now would be printed, and
/// nobody waits for it: such a one stays meanwhile. The library of another may wait for its own to end.
pub(super) fn too_late() -> String {
    // SAFETY: a look at what belongs to this thread; there is nothing where Python does not know it.
    let is_of_python = unsafe { !ffi::PyGILState_GetThisThreadState().is_null() };
    if let (true, Ok(bridge)) = (is_of_python, BRIDGE.get(make)) {
        bridge.ending.stay_a_while();
    }
    "the interpreter is ending".to_owned()
}

/// Lets go of an object where only the interpreter knows whether this thread has the GIL: `pyarrow` frees a stream
/// without it, also while the garbage collector runs inside a call of ours, and `PyO3` takes the thread for attached then.
pub(super) fn let_go(object: Py<PyAny>) {
    let object = ManuallyDrop::new(object);
    let Ok(bridge) = BRIDGE.get(make) else { return };
    // Where the interpreter is ending, the object is left to it.
    if bridge.ending.approach() {
        // SAFETY: the interpreter runs, since it waits for those on the way; the count is owned here and given up once.
        unsafe {
            let state = ffi::PyGILState_Ensure();
            ffi::Py_DECREF(object.as_ptr());
            ffi::PyGILState_Release(state);
        }
        bridge.ending.arrive();
    }
}

/// Waits for `future` in this thread, with the GIL released; a signal ends the wait and drops the future.
pub(super) fn wait<T: Send>(py: Python<'_>, future: impl Future<Output = Result<T>> + Send) -> PyResult<T> {
    wait_telling(py, future, |_| Ok(()), || false)
}

/// The same, and calls `tell` in this thread between the turns and at the end; what it raises ends the wait like a signal.
/// `end` is called then: where it says that the future is about to end by itself, that one has a second for it, or until
/// there is another signal.
pub(super) fn wait_telling<'py, T: Send>(
    py: Python<'py>,
    future: impl Future<Output = Result<T>> + Send,
    mut tell: impl FnMut(Python<'py>) -> PyResult<()>,
    end: impl FnOnce() -> bool,
) -> PyResult<T> {
    let bridge = bridge(py)?;
    let _waiting = Waiting::enter();
    let mut future = pin!(future);
    let mut turn = || {
        bridge.without_gil(py, || {
            bridge.runtime.block_on(async {
                let turn = tokio::time::timeout(SIGNAL_CHECK, future.as_mut()).await;
                // The runtime wakes what has yielded when it rests, and forgets it where a turn ends before that: calls
                // that wait side by side and connections of the pool would then never go on.
                tokio::task::yield_now().await;
                turn
            })
        })
    };
    loop {
        if let Ok(outcome) = turn() {
            tell(py)?;
            return outcome.map_err(|error| errors::raise(py, &error));
        }
        if let Err(reason) = py.check_signals().and_then(|()| tell(py)) {
            let asked = Instant::now();
            if end() {
                while turn().is_err() && py.check_signals().is_ok() && asked.elapsed() < LAST_TURNS {}
            }
            return Err(reason);
        }
    }
}

/// Does `work` that computes rather than waits. Python looks for signals in its main thread alone: that one leaves the
/// work to another thread, and a signal ends its wait and sets the flag that `work` is given. Where the system has no
/// thread to spare, the main thread works itself, and signals are seen after that.
pub(super) fn compute<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Cancel) -> Result<T> + Send + 'static,
) -> PyResult<T> {
    let bridge = bridge(py)?;
    let cancel = Cancel::default();
    let idle = || bridge.idle.lock().unwrap_or_else(PoisonError::into_inner);
    let jobs = if is_main_thread(py)? {
        let free = idle().take();
        free.map_or_else(deputy, Ok).ok()
    } else {
        None
    };
    let Some(jobs) = jobs else {
        let outcome = bridge.without_gil(py, || work(&cancel));
        py.check_signals()?;
        return outcome.map_err(|error| errors::raise(py, &error));
    };
    let (sender, mut receiver) = sync_channel(1);
    let seen = cancel.clone();
    let job = Box::new(move || {
        // The send fails when a signal ended the wait: then nobody wants the outcome.
        let _ = sender.send(work(&seen));
    });
    jobs.send(job).map_err(|_| ended())?;
    loop {
        let receiver = &mut receiver;
        match bridge.without_gil(py, move || receiver.recv_timeout(SIGNAL_CHECK)) {
            Ok(outcome) => {
                *idle() = Some(jobs);
                return outcome.map_err(|error| errors::raise(py, &error));
            }
            Err(RecvTimeoutError::Timeout) => py.check_signals().inspect_err(|_| cancel.cancel())?,
            Err(RecvTimeoutError::Disconnected) => return Err(ended()),
        }
    }
}

fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import(intern!(py, "threading"))?;
    let main = threading.call_method0(intern!(py, "main_thread"))?.getattr(intern!(py, "ident"))?;
    threading.call_method0(intern!(py, "get_ident"))?.eq(main)
}

/// Starts a thread that does one job after the other until its sender is let go of. It is kept for the next job, since
/// the allocator gives each new thread other memory, which the system would have to clear.
fn deputy() -> std::io::Result<Sender<Job>> {
    let (sender, jobs) = channel::<Job>();
    std::thread::Builder::new().name("headland-compute".to_owned()).spawn(move || {
        for job in jobs {
            job();
        }
    })?;
    Ok(sender)
}

fn ended() -> PyErr {
    PyRuntimeError::new_err("the work ended without an outcome: please report this")
}

/// Does `work` that computes on the one blocking thread of the runtime.
pub(super) async fn offload<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(outcome) => outcome,
        Err(cause) => Err(Error::new(Kind::Decode, format!("the work ended without an outcome: {cause}"))),
    }
}

/// Starts `future` and gives an asyncio future of the running loop; cancelling that one ends the task.
pub(super) fn start<T: Send + 'static>(
    py: Python<'_>,
    future: impl Future<Output = Result<T>> + Send + 'static,
    convert: impl FnOnce(Python<'_>, T) -> PyResult<Py<PyAny>> + Send + 'static,
) -> PyResult<Bound<'_, PyAny>> {
    let bridge = bridge(py)?;
    drive(bridge).map_err(|error| errors::raise(py, &error))?;
    let event_loop = running_loop(py)?;
    let waiter = event_loop.call_method0("create_future")?;
    let (loop_of_task, waiter_of_task) = (event_loop.unbind(), waiter.clone().unbind());
    let task = bridge.runtime.spawn(async move {
        let outcome = future.await;
        bridge.with_gil(|py| {
            let outcome = match outcome {
                Ok(value) => convert(py, value),
                Err(error) => Err(errors::raise(py, &error)),
            };
            deliver(py, &loop_of_task, waiter_of_task, outcome);
        });
    });
    waiter.call_method1("add_done_callback", (Canceller { task: task.abort_handle() },))?;
    Ok(waiter)
}

fn drive(bridge: &'static Bridge) -> Result<()> {
    if bridge.driver.get().is_none() {
        std::thread::Builder::new()
            .name("headland-driver".to_owned())
            .spawn(move || bridge.runtime.block_on(std::future::pending::<()>()))
            .map_err(|cause| {
                let message = format!(
                    "the system gave no thread to wait for replies in: {cause}; raise the limit on threads (`ulimit -u`, \
                     `pids.max` of a container), or call with `headland.Client`, which needs none"
                );
                Error::new(Kind::Transport, message).with(|facts| facts.os_error = cause.raw_os_error())
            })?;
        let _ = bridge.driver.set(());
    }
    Ok(())
}

fn running_loop(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static GET_RUNNING_LOOP: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    GET_RUNNING_LOOP.import(py, "asyncio", "get_running_loop")?.call0()
}

/// Hands the outcome to the thread of the event loop. A loop that is closed refuses it, and then nobody waits.
fn deliver(py: Python<'_>, event_loop: &Py<PyAny>, waiter: Py<PyAny>, outcome: PyResult<Py<PyAny>>) {
    let settle = Settle { waiter, outcome: Some(outcome) };
    let _ = Bound::new(py, settle).and_then(|settle| event_loop.call_method1(py, "call_soon_threadsafe", (settle,)));
}

/// Called in the thread of the event loop: gives the outcome to the future unless that was cancelled meanwhile.
#[pyclass(module = "headland._core")]
struct Settle {
    waiter: Py<PyAny>,
    outcome: Option<PyResult<Py<PyAny>>>,
}

#[pymethods]
impl Settle {
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

/// Called when the asyncio future is done: ends the task where it was cancelled.
#[pyclass(frozen, module = "headland._core")]
struct Canceller {
    task: AbortHandle,
}

#[pymethods]
impl Canceller {
    fn __call__(&self, waiter: &Bound<'_, PyAny>) -> PyResult<()> {
        if waiter.call_method0("cancelled")?.is_truthy()? {
            self.task.abort();
        }
        Ok(())
    }
}
