//! Runs futures for synchronous and asynchronous callers; the only file that blocks or spawns threads.
//!
//! The process has one current-thread runtime. A synchronous call drives it in its own thread without the GIL and
//! checks for signals every 50 ms. Concurrent callers take turns at driving it. The first asynchronous call starts one
//! background thread that drives it from then on. Each asynchronous call is a task whose outcome is set on an asyncio
//! future. Both kinds share connections, since all of them belong to the one runtime.

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
use tokio::runtime::{Builder, Runtime};

use super::activity::Events;
use super::asyncio_future::{Canceller, running_loop, send_outcome};
use super::errors;
use super::fork_safe::PerProcess;
use super::interpreter_shutdown::Shutdown;
use super::reentrancy::WaitGuard;
use headland_base::error::{Error, Kind, Result};
use headland_base::error_numbers::error_number;
use headland_client::transport::{Connections, Event, Observe, Observer};
use headland_reader::layer::Cancel;

/// How long calls in flight may take to finish after a signal has ended a wait.
const GRACE_PERIOD: Duration = Duration::from_secs(1);

/// How long a wait may last without a check for signals.
const SIGNAL_CHECK: Duration = Duration::from_millis(50);

/// The name of the background thread.
const DRIVER: &str = "headland-driver";

struct Bridge {
    runtime: Runtime,
    /// Set once the background thread drives the runtime. Its inner lock is held only for an instant, by a thread that
    /// also has the GIL. So no fork can happen while it is locked.
    driver: OnceLock<()>,
    shutdown: Shutdown,
    /// Whether the exit hook is registered with the interpreter.
    is_registered: AtomicBool,
    /// The worker thread of the main thread, while it is idle.
    idle_worker: Mutex<Option<Sender<Job>>>,
    events: Events,
    /// The connections of all clients.
    connections: Connections,
}

type Job = Box<dyn FnOnce() + Send>;

static BRIDGE: PerProcess<Bridge> = PerProcess::new();

fn bridge(py: Python<'_>) -> PyResult<&'static Bridge> {
    let bridge = BRIDGE.get(new_bridge).map_err(|error| errors::raise(py, &error))?;
    if !bridge.is_registered.swap(true, Ordering::Relaxed) {
        let hook = Bound::new(py, ShutdownHook { process: std::process::id() })?;
        py.import("atexit")?.call_method1("register", (hook,))?;
    }
    Ok(bridge)
}

fn new_bridge() -> Result<Bridge> {
    let runtime = Builder::new_current_thread()
        .enable_all()
        // One thread for name resolution and archive reading, so that many concurrent calls add only two threads.
        .max_blocking_threads(1)
        .build()
        .map_err(|cause| Error::new(Kind::Transport, format!("cannot start the runtime: {cause}")))?;
    Ok(Bridge {
        runtime,
        driver: OnceLock::new(),
        shutdown: Shutdown::default(),
        is_registered: AtomicBool::new(false),
        idle_worker: Mutex::new(None),
        events: Events::default(),
        connections: Connections::default(),
    })
}

impl Bridge {
    /// Runs `work` without the GIL.
    fn detach<T: Send>(&self, py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
        let outcome = py.detach(|| {
            let outcome = work();
            self.shutdown.begin_attach_or_park();
            outcome
        });
        self.shutdown.end_attach();
        outcome
    }

    /// Runs `work` with the GIL in a thread that Python does not know. Does nothing while the interpreter exits.
    fn attach(&self, work: impl FnOnce(Python<'_>)) {
        if self.shutdown.begin_attach() {
            Python::try_attach(work);
            self.shutdown.end_attach();
        }
    }
}

/// `atexit` hook, called before the interpreter stops granting the GIL.
#[pyclass(frozen, module = "headland._core")]
struct ShutdownHook {
    process: u32,
}

#[pymethods]
impl ShutdownHook {
    /// The child of a fork inherits the hook but not the threads that it waits for.
    fn __call__(&self, py: Python<'_>) -> PyResult<()> {
        if self.process == std::process::id() {
            let bridge = bridge(py)?;
            py.detach(|| bridge.shutdown.begin());
        }
        Ok(())
    }
}

/// Returns the connections that all clients of this process share.
pub(super) fn connections() -> Result<&'static Connections> {
    BRIDGE.get(new_bridge).map(|bridge| &bridge.connections)
}

/// Lets closed connections end, which no call drives. As a task, it takes its turns with theirs also where the background
/// thread drives the runtime.
pub(super) fn settle(py: Python<'_>) -> PyResult<()> {
    let bridge = bridge(py)?;
    let ended = bridge.runtime.spawn(Connections::settle());
    bridge.detach(py, || drop(bridge.runtime.block_on(ended)));
    Ok(())
}

/// Runs short `work` that opens files or waits for a lock, without the GIL.
pub(super) fn without_gil<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    Ok(bridge(py)?.detach(py, work))
}

/// Runs `work` with the GIL in the current thread, which may belong to another library. Returns `None` while the
/// interpreter exits.
pub(super) fn try_attach<T>(work: impl FnOnce(Python<'_>) -> T) -> Option<T> {
    let bridge = BRIDGE.get(new_bridge).ok()?;
    if !bridge.shutdown.begin_attach() {
        return None;
    }
    let mut has_attached = false;
    let outcome = Python::try_attach(|py| {
        bridge.shutdown.end_attach();
        has_attached = true;
        work(py)
    });
    if !has_attached {
        bridge.shutdown.end_attach();
    }
    outcome
}

/// Returns the error message for an Arrow consumer while the interpreter exits.
///
/// An error raised now in a Python thread would be printed although no caller waits for it, so such a thread sleeps
/// first. A thread of another library does not, since that library may wait for it at exit.
pub(super) fn shutdown_message() -> String {
    // SAFETY: reads the state of the current thread, which is null if Python does not know the thread.
    let is_python_thread = unsafe { !ffi::PyGILState_GetThisThreadState().is_null() };
    if let (true, Ok(bridge)) = (is_python_thread, BRIDGE.get(new_bridge)) {
        bridge.shutdown.wait_for_exit();
    }
    "the interpreter is shutting down".to_owned()
}

/// Drops an object if only the interpreter knows whether this thread has the GIL.
///
/// `pyarrow` frees a stream without the GIL, also while the garbage collector runs inside one of our calls. `PyO3`
/// assumes in that case that the thread is attached.
pub(super) fn drop_unattached(object: Py<PyAny>) {
    let object = ManuallyDrop::new(object);
    let Ok(bridge) = BRIDGE.get(new_bridge) else { return };
    // While the interpreter exits, the object is leaked.
    if bridge.shutdown.begin_attach() {
        // SAFETY: the interpreter runs, since its exit waits for attaching threads; the reference is owned and released
        // once.
        unsafe {
            let state = ffi::PyGILState_Ensure();
            ffi::Py_DECREF(object.as_ptr());
            ffi::PyGILState_Release(state);
        }
        bridge.shutdown.end_attach();
    }
}

/// Returns an observer whose events are passed to Python where no call of headland is in progress: by a waiting caller at
/// its checks for signals, and for asynchronous calls by their event loop. So a log handler may block or call headland.
pub(super) fn observer(progress: Option<bool>) -> Observer {
    Observer::new(PythonObserver { progress })
}

struct PythonObserver {
    progress: Option<bool>,
}

impl Observe for PythonObserver {
    fn wants_requests(&self) -> bool {
        BRIDGE.get(new_bridge).is_ok_and(|bridge| bridge.events.wants_requests())
    }

    fn receive(&self, event: Event) {
        let Ok(bridge) = BRIDGE.get(new_bridge) else { return };
        bridge.events.push(event, self.progress);
        if std::thread::current().name() == Some(DRIVER) {
            bridge.attach(|py| bridge.events.schedule(py));
        }
    }
}

/// Waits for `future` in this thread without the GIL. A signal ends the wait and drops the future.
pub(super) fn block_on<T: Send>(py: Python<'_>, future: impl Future<Output = Result<T>> + Send) -> PyResult<T> {
    block_on_with_callback(py, future, |_| Ok(()), || false)
}

/// Like [`block_on`], and calls `callback` in this thread at each check for signals and at the end.
///
/// An exception of the callback ends the wait like a signal. Then `request_end` is called. If it returns true, the
/// future is about to finish by itself: it gets [`GRACE_PERIOD`], or until the next signal.
pub(super) fn block_on_with_callback<'py, T: Send>(
    py: Python<'py>,
    future: impl Future<Output = Result<T>> + Send,
    callback: impl FnMut(Python<'py>) -> PyResult<()>,
    request_end: impl FnOnce() -> bool,
) -> PyResult<T> {
    let bridge = bridge(py)?;
    bridge.events.check_level(py)?;
    let outcome = wait_for(py, bridge, future, callback, request_end);
    // The end of a wait that was dropped with the future.
    bridge.events.deliver(py)?;
    outcome
}

fn wait_for<'py, T: Send>(
    py: Python<'py>,
    bridge: &'static Bridge,
    future: impl Future<Output = Result<T>> + Send,
    mut callback: impl FnMut(Python<'py>) -> PyResult<()>,
    request_end: impl FnOnce() -> bool,
) -> PyResult<T> {
    let _guard = WaitGuard::enter();
    // A future that a signal drops returns its connection to the pool, which starts a task of the runtime.
    let _context = bridge.runtime.enter();
    let mut future = pin!(future);
    let mut poll = || {
        bridge.detach(py, || {
            bridge.runtime.block_on(async {
                let outcome = tokio::time::timeout(SIGNAL_CHECK, future.as_mut()).await;
                // The runtime wakes tasks that have yielded only when it is idle; a timeout before that loses the
                // wake-up. Then concurrent calls and pooled connections would never resume.
                tokio::task::yield_now().await;
                outcome
            })
        })
    };
    loop {
        if let Ok(outcome) = poll() {
            callback(py)?;
            return outcome.map_err(|error| errors::raise(py, &error));
        }
        if let Err(reason) = py.check_signals().and_then(|()| bridge.events.deliver(py)).and_then(|()| callback(py)) {
            let interrupted_at = Instant::now();
            if request_end() {
                while poll().is_err() && py.check_signals().is_ok() && interrupted_at.elapsed() < GRACE_PERIOD {}
            }
            return Err(reason);
        }
    }
}

/// Runs CPU-bound `work`.
///
/// Python checks for signals only in its main thread. So the main thread passes the work to a worker thread; a signal
/// ends its wait and sets the `Cancel` flag of `work`. If no thread can be started, the main thread runs the work
/// itself and checks for signals afterwards.
pub(super) fn compute<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Cancel) -> Result<T> + Send + 'static,
) -> PyResult<T> {
    let bridge = bridge(py)?;
    let cancel = Cancel::default();
    let idle_worker = || bridge.idle_worker.lock().unwrap_or_else(PoisonError::into_inner);
    let jobs = if is_main_thread(py)? {
        let worker = idle_worker().take();
        worker.map_or_else(spawn_worker, Ok).ok()
    } else {
        None
    };
    let Some(jobs) = jobs else {
        let outcome = bridge.detach(py, || work(&cancel));
        py.check_signals()?;
        return outcome.map_err(|error| errors::raise(py, &error));
    };
    let (sender, mut receiver) = sync_channel(1);
    let job_cancel = cancel.clone();
    let job = Box::new(move || {
        // The send fails if a signal has ended the wait: then the outcome is not needed.
        let _ = sender.send(work(&job_cancel));
    });
    jobs.send(job).map_err(|_| no_outcome())?;
    loop {
        let receiver = &mut receiver;
        match bridge.detach(py, move || receiver.recv_timeout(SIGNAL_CHECK)) {
            Ok(outcome) => {
                *idle_worker() = Some(jobs);
                return outcome.map_err(|error| errors::raise(py, &error));
            }
            Err(RecvTimeoutError::Timeout) => py.check_signals().inspect_err(|_| cancel.cancel())?,
            Err(RecvTimeoutError::Disconnected) => return Err(no_outcome()),
        }
    }
}

fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import(intern!(py, "threading"))?;
    let main = threading.call_method0(intern!(py, "main_thread"))?.getattr(intern!(py, "ident"))?;
    threading.call_method0(intern!(py, "get_ident"))?.eq(main)
}

/// Starts a thread that runs jobs sequentially until its sender is dropped.
///
/// The thread is reused, because the allocator gives each new thread fresh memory, which the system has to clear.
fn spawn_worker() -> std::io::Result<Sender<Job>> {
    let (sender, jobs) = channel::<Job>();
    std::thread::Builder::new().name("headland-compute".to_owned()).spawn(move || {
        for job in jobs {
            job();
        }
    })?;
    Ok(sender)
}

fn no_outcome() -> PyErr {
    PyRuntimeError::new_err("the work ended without a result: please report this")
}

/// Runs CPU-bound `work` on the one blocking thread of the runtime.
pub(super) async fn offload<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(outcome) => outcome,
        Err(cause) => Err(Error::new(Kind::Decode, format!("the work ended without a result: {cause}"))),
    }
}

/// Starts `future` and returns an asyncio future of the running loop. Cancelling the asyncio future aborts the task.
pub(super) fn spawn<T: Send + 'static>(
    py: Python<'_>,
    future: impl Future<Output = Result<T>> + Send + 'static,
    convert: impl FnOnce(Python<'_>, T) -> PyResult<Py<PyAny>> + Send + 'static,
) -> PyResult<Bound<'_, PyAny>> {
    let bridge = bridge(py)?;
    start_driver(bridge).map_err(|error| errors::raise(py, &error))?;
    let event_loop = running_loop(py)?;
    bridge.events.set_loop(&event_loop);
    bridge.events.check_level(py)?;
    let waiter = event_loop.call_method0("create_future")?;
    let (task_loop, task_waiter) = (event_loop.unbind(), waiter.clone().unbind());
    let task = bridge.runtime.spawn(async move {
        let outcome = future.await;
        bridge.attach(|py| {
            let outcome = match outcome {
                Ok(value) => convert(py, value),
                Err(error) => Err(errors::raise(py, &error)),
            };
            send_outcome(py, &task_loop, task_waiter, outcome);
        });
    });
    waiter.call_method1("add_done_callback", (Canceller { task: task.abort_handle(), events: &bridge.events },))?;
    Ok(waiter)
}

fn start_driver(bridge: &'static Bridge) -> Result<()> {
    if bridge.driver.get().is_none() {
        std::thread::Builder::new()
            .name(DRIVER.to_owned())
            .spawn(move || bridge.runtime.block_on(std::future::pending::<()>()))
            .map_err(|cause| {
                let message = format!(
                    "cannot start a thread that waits for replies: {cause}; raise the thread limit (`ulimit -u`, \
                     `pids.max` of a container), or use `headland.Client`, which needs no such thread"
                );
                Error::new(Kind::Transport, message).with(|facts| facts.os_error = error_number(&cause))
            })?;
        let _ = bridge.driver.set(());
    }
    Ok(())
}
