"""Runs work in the child of a fork."""

from __future__ import annotations

import os
import signal
import warnings


def in_child(work: object) -> None:
    """Run `work` in the child of a fork, with a time limit of a minute."""
    assert callable(work)
    with warnings.catch_warnings():
        # These tests exist because a fork in a process with threads is delicate.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        signal.alarm(60)
        try:
            work()
            os._exit(0)
        except BaseException as error:  # noqa: BLE001 - a child of a test must never run on into pytest
            os.write(2, repr(error).encode())
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
