"""Loads the core in a thread that does not end, whichever thread imports the package.

The core's allocator keeps what belongs to all threads with the one that loaded it. Where that one has ended, as a
worker does that was the first to import the package, the next thread to start would look there and crash the process.
"""

import ctypes
import importlib.util
import threading


def load() -> None:
    """Load the core before anybody imports it; Python's main thread does not end before the process does."""
    spec = importlib.util.find_spec("headland._core")
    if threading.current_thread() is threading.main_thread() or spec is None or spec.origin is None:
        return
    path = spec.origin
    is_loaded = threading.Event()

    def stay() -> None:
        try:
            ctypes.PyDLL(path)
        finally:
            is_loaded.set()
        threading.Event().wait()

    threading.Thread(target=stay, name="headland-loader", daemon=True).start()
    is_loaded.wait()


load()
