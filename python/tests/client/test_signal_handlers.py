"""Signal handlers that use the object of the call they interrupt: an error, and no endless wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from test_bridge import run, slow_conversions

if TYPE_CHECKING:
    import headland as hl

__all__ = ["slow_conversions"]

IN_USE = {
    "a list": ("pages = client.job_data.list()", "list(pages)", "pages.first()"),
    "a list that counts": ("pages = client.job_data.list()", "list(pages)", "len(pages)"),
    "a conversion": ("conversion = client.job_data.request(job)", "conversion.wait()", "conversion.ready()"),
}


@pytest.mark.parametrize(("make", "use", "interrupt"), IN_USE.values(), ids=IN_USE.keys())
def test_signal_handler_gets_an_error_for_the_object_of_the_interrupted_call(
    slow_conversions: hl.Sandbox, small_job: str, make: str, use: str, interrupt: str
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
    with run(program, slow_conversions, small_job) as process:
        try:
            output, _ = process.communicate(timeout=20)
        finally:
            process.kill()
    assert process.returncode == 0
    assert "in use by another call" in output
