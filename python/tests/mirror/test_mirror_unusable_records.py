"""Records of lists that cannot be stored or requested: each is a note, and the sync mirrors all others."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from stub_server import web

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Iterator
    from http.server import BaseHTTPRequestHandler
    from pathlib import Path

GOOD = [{"ID": "1", "Name": "North", "SubType": "Yield"}, {"ID": "2", "Name": "South", "SubType": "Yield"}]


class Account:
    """The records of each list, by path."""

    def __init__(self) -> None:
        self.lists: dict[str, tuple[str, list[dict[str, Any]]]] = {"/jobdata": ("JobData", GOOD)}
        self.names: dict[str, str] = {}
        self.calls: list[str] = []

    def answer(self, request: BaseHTTPRequestHandler) -> tuple[int, dict[str, str], bytes]:
        path, _, query = request.path.partition("?")
        self.calls.append(path)
        body: dict[str, Any] = {"TotalCount": 0, "IsNextPage": False}
        if "format=" in query or path.endswith("/file"):
            body = {"status": "NO_COVERAGE", "errorInfo": "No coverage available.", "result": "nil"}
        elif path.lower() in self.lists:
            member, records = self.lists[path.lower()]
            body = {"TotalCount": len(records), "IsNextPage": False, member: records}
        elif path.startswith("/jobdata/"):
            job_id = path.rpartition("/")[2]
            body = {"ID": job_id, "DeviceFileName": self.names.get(job_id, "x")}
        return 200, {"Content-Type": "application/json"}, json.dumps(body).encode()


@pytest.fixture
def account() -> Account:
    return Account()


@pytest.fixture
def client(account: Account) -> Iterator[hl.Client]:
    with web(account.answer) as host:
        keys: dict[str, Any] = {"api_key": "a-key", "shared_secret": "AAEC", "access_key": "b-key"}
        yield hl.Client(base_url=f"http://{host}", **keys, rate_limits=(), limiter_state="memory")


@pytest.mark.parametrize("wrong", [None, "", "  ", "a\0b", "\0", "a/b", "a\nb", "..", "a?b", "\x7f", "a\u0085b"])
def test_job_whose_id_cannot_be_used_is_a_note(
    account: Account, client: hl.Client, tmp_path: Path, wrong: str | None
) -> None:
    bad = [
        {"Name": f"East {number}", "SubType": "Yield"} | ({} if wrong is None else {"ID": wrong}) for number in (1, 2)
    ]
    account.lists["/jobdata"] = ("JobData", [bad[0], *GOOD, bad[1]])
    mirror = hl.Mirror(tmp_path / "farm", client, relist="0s")
    for new in (2, 0):
        outcome = mirror.sync(progress=False)
        assert outcome.new == new
        [note] = outcome.notes
        assert all(text in note for text in ("job_data.list", "id", "East 1", "East 2"))
        assert note.isprintable()
        assert mirror.status().jobs == {"no coverage": 2}
    # Skipped records are not missing ones: a removed job is still noticed.
    account.lists["/jobdata"] = ("JobData", [bad[0], GOOD[0]])
    assert mirror.sync(progress=False).gone == 1
    assert mirror.verify().findings == []


@pytest.mark.parametrize("wrong", [None, "", "a\0b", "a/b"])
@pytest.mark.parametrize(
    ("path", "member"),
    [
        ("/fieldcomputers", "FieldComputer"),
        ("/prescriptionmaps", "PrescriptionMap"),
        ("/graincart", "GrainCart"),
    ],
)
def test_other_record_whose_id_cannot_be_used_is_a_note(
    account: Account, client: hl.Client, tmp_path: Path, path: str, member: str, wrong: str | None
) -> None:
    account.lists[path] = (member, [{"Name": "East"} | ({} if wrong is None else {"ID": wrong})])
    mirror = hl.Mirror(tmp_path / "farm", client, relist="0s")
    for _ in range(2):
        outcome = mirror.sync(progress=False)
        assert [note for note in outcome.notes if "East" in note], (outcome.notes, account.calls)
        assert mirror.status().jobs == {"no coverage": 2}


@pytest.mark.parametrize("name", ["a\0b", "x" * 5_000, "a/b\n", "..", "\U0001f33d" * 300])
def test_names_of_any_text_are_stored(account: Account, client: hl.Client, tmp_path: Path, name: str) -> None:
    account.lists["/jobdata"] = ("JobData", [{"ID": "1", "Name": name, "SubType": name}, GOOD[1]])
    account.names["1"] = name
    mirror = hl.Mirror(tmp_path / "farm", client, relist="0s")
    for new in (2, 0):
        outcome = mirror.sync(progress=False)
        assert (outcome.new, outcome.notes) == (new, [])
    assert mirror.verify().findings == []
    assert mirror.sql("SELECT name FROM jobs ORDER BY id").fetchall() == [(name,), ("South",)]
