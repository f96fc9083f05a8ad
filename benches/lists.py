"""Compares lists as tables with pandas: 100,000 locations to Arrow; exits non-zero if the target is missed."""

from __future__ import annotations

import http.client
import json
import sys
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pandas as pd
from stub_server import LARGE_PAGE, LARGE_PAGES, running
from target_report import Target, medians, report

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Callable

BOUND = 4
ROUNDS = 5
SECRET = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="  # noqa: S105 - a test secret


def by_headland(client: hl.Client) -> Any:
    """Read the list into an Arrow table: signed, and each record once."""
    return client.field_hubs.locations("8140").to_arrow()


def by_pandas(address: str) -> Any:
    """Read the list with a minimal HTTP client and without a signature."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc)
    records = []
    for page in range(LARGE_PAGES):
        connection.request("GET", f"/fieldhubs/8140/locations?pageSize={LARGE_PAGE}&page={page}")
        records += json.loads(connection.getresponse().read())["DeviceLocation"]
    connection.close()
    frame = pd.json_normalize(records)
    frame["GPSDateTime"] = pd.to_datetime(frame["GPSDateTime"], utc=True)
    return frame


def cost(work: Callable[[], Any]) -> float:
    """Return the CPU seconds of this process."""
    started = time.process_time()
    work()
    return time.process_time() - started


def same(table: Any, frame: Any) -> None:
    """Assert that both have the same records, in the same order and with the same values."""
    assert table.num_rows == len(frame) == LARGE_PAGES * LARGE_PAGE
    assert table["id"].to_pylist() == frame["ID"].tolist()
    assert table["lat"].to_pylist() == frame["Lat"].tolist()
    assert table["gps_date_time"].to_pandas().tolist() == frame["GPSDateTime"].tolist()


def main() -> int:
    """Measure both in turn and print the target; 0 if it is met."""
    keys = {
        "api_key": "7d0a4f51-93c2-4b1e-8a7e-5f2c9d3b6e10",
        "shared_secret": SECRET,
        "access_key": "1c9b77e2-40d5-4f0b-b3a6-2e8f6d1a9c34",
    }
    with (
        running() as address,
        hl.Client(base_url=address, **keys, rate_limits=(), limiter_state="memory") as client,
    ):
        same(by_headland(client), by_pandas(address))

        def targets() -> list[Target]:
            ours, theirs = cost(lambda: by_headland(client)), cost(lambda: by_pandas(address))
            each = f"times as fast as pandas; s of CPU: {ours:.2f} and {theirs:.2f}"
            return [Target("100,000 locations to Arrow", theirs / ours, BOUND, each, at_least=True)]

        return report(medians(targets, ROUNDS), ROUNDS)


if __name__ == "__main__":
    sys.exit(main())
