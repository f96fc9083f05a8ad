"""Handlers of signals that call what the call they interrupt has: an error, and no wait without end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from test_bridge import cooking, run

if TYPE_CHECKING:
    import headland as hl

__all__ = ["cooking"]

HELD = {
    "a list": ("pages = client.job_data.list()", "list(pages)", "pages.first()"),
    "a list that counts": ("pages = client.job_data.list()", "list(pages)", "len(pages)"),
    "a conversion": ("conversion = client.job_data.request(job)", "conversion.wait()", "conversion.ready()"),
}


@pytest.mark.parametrize(("make", "use", "interrupt"), HELD.values(), ids=HELD.keys())
def test_a_handler_of_signals_is_refused_what_the_interrupted_call_has(
    cooking: hl.Sandbox, small_job: str, make: str, use: str, interrupt: str
) -> None:
    program = f"""
        import os, signal, sys
        import headland as hl
        os.environ.update(HEADLAND_RATE_LIMITS="1/0.6", HEADLAND_LIMITER_STATE="memory")
        client = hl.Client.from_env()
        job = sys.argv[1]
        {make}
        def handle(*_):
            try:
                {interrupt}
            except RuntimeError as error:
                print(error, flush=True)
            raise TimeoutError
        signal.signal(signal.SIGALRM, handle)
        client.access_key()
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        try:
            {use}
        except TimeoutError:
            {interrupt}
    """
    with run(program, cooking, small_job) as process:
        try:
            told, _ = process.communicate(timeout=20)
        finally:
            process.kill()
    assert process.returncode == 0
    assert "in use by a call" in told
