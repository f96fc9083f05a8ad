"""Loads the core in the main interpreter only, in a thread that never ends, regardless of the importing thread.

The core's allocator stores data of all threads with the thread that loaded it. If that thread has ended, the next
thread to start would crash the process. This happens when a worker thread is the first to import the package.

A process has one core, and its classes and threads belong to one interpreter. A sub-interpreter that ends with the
process would deadlock on the GIL.
"""

import ctypes
import importlib.util
import threading


def refuse_sub_interpreters() -> None:
    """Raise an ImportError in any interpreter but the main one."""
    current = ctypes.PYFUNCTYPE(ctypes.c_void_p)(("PyInterpreterState_Get", ctypes.pythonapi))
    number = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(("PyInterpreterState_GetID", ctypes.pythonapi))
    if number(current()) != 0:
        message = (
            "headland cannot be imported in a sub-interpreter: its core supports only the main interpreter; "
            "import it there, or in a separate process (for mod_wsgi: `WSGIApplicationGroup %{GLOBAL}`)"
        )
        raise ImportError(message, name="headland")


def load() -> None:
    """Load the core before the package imports it; the main thread lives as long as the process."""
    spec = importlib.util.find_spec("headland._core")
    if threading.current_thread() is threading.main_thread() or spec is None or spec.origin is None:
        return
    path = spec.origin
    is_loaded = threading.Event()

    def load_and_wait() -> None:
        try:
            ctypes.PyDLL(path)
        finally:
            is_loaded.set()
        threading.Event().wait()

    threading.Thread(target=load_and_wait, name="headland-loader", daemon=True).start()
    is_loaded.wait()


refuse_sub_interpreters()
load()
