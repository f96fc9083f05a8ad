"""Ends the command line without a traceback if it is interrupted while the package is imported.

An exception in an import would print the traceback of a line that the user has never seen. The default action of the
signal ends the process; `restore` makes Ctrl-C an exception again, which the command line handles.
"""

import os
import signal
import sys
import threading


def is_command() -> bool:
    """Return whether the program is ``headland`` or ``python -m headland``."""
    program = os.path.basename(sys.argv[0]) if sys.argv else ""  # noqa: PTH119 - pathlib takes time to import
    # While Python looks for the module of `-m`, it is not yet the program.
    return program in {"headland", "headland.exe"} or (program == "-m" and "headland" in sys.orig_argv)


def prepare() -> bool:
    """Let Ctrl-C end the command line, unless the program handles or ignores it; return whether it does."""
    is_main = threading.current_thread() is threading.main_thread()
    if not (is_main and is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler):
        return False
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return True


def restore() -> None:
    """Let Ctrl-C raise ``KeyboardInterrupt`` again."""
    if IS_PREPARED:
        signal.signal(signal.SIGINT, signal.default_int_handler)


IS_PREPARED = prepare()
