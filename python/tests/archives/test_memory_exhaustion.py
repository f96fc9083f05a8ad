"""Archives that need more memory than available: an error that names the member, never a crash."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import textwrap
import zipfile
from typing import TYPE_CHECKING

import pytest
from point_files import header

import headland as hl

if TYPE_CHECKING:
    from pathlib import Path

SIZE = 3 << 30
"""Size of each file in bytes; the files are sparse, so they need no disk space."""

MEMORY_LIMIT = 64 << 20
"""Memory in bytes that a process may allocate after importing headland."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is limited as Linux does")


def table(path: Path, kind: bytes, width: int, size: int = SIZE) -> None:
    """Write a .dbf of one column whose records are holes."""
    rows = min((size - 65) // (width + 1), 2**32 - 1)
    top = bytearray(32)
    top[0], top[29] = 3, 0x57
    top[4:8], top[8:10], top[10:12] = (
        rows.to_bytes(4, "little"),
        (65).to_bytes(2, "little"),
        struct.pack("<H", width + 1),
    )
    top += b"VALUE".ljust(11, b"\0") + kind + bytes(4) + bytes((width, 0)) + bytes(14)
    sparse(path, bytes(top) + b"\r", 65 + rows * (width + 1))


def sparse(path: Path, start: bytes, size: int) -> None:
    """Write a sparse file with this start."""
    with path.open("wb") as file:
        file.write(start)
        file.truncate(size)


def shapes(path: Path, kind: int, size: int = SIZE) -> None:
    """Write a .shp whose records are holes: eight zeros each, which are no shape."""
    sparse(path, header(kind, size), size)


def giant(path: Path, kind: int, parts: int) -> None:
    """Write a .shp of one record that fills it; all of its vertices are holes."""
    count = (SIZE - 200) // 16
    body = struct.pack("<i32x", kind) + (struct.pack("<ii", parts, count) if kind == 5 else struct.pack("<i", count))
    body += b"".join(struct.pack("<i", 5 * part) for part in range(parts if kind == 5 else 0))
    content = len(body) + 16 * count
    sparse(path, header(kind, 108 + content) + struct.pack(">ii", 1, content // 2) + body, 108 + content)


def write(folder: Path, what: str) -> None:
    """Write the layer of that name into a folder."""
    tables = {"floats": (b"F", 19), "integers": (b"N", 9), "dates": (b"D", 8), "texts": (b"C", 8)}
    if what in tables:
        table(folder / "t.dbf", *tables[what])
    elif what == "binary":
        table(folder / "t.dbf", b"G", 254)
    elif what in ("points", "polygons"):
        shapes(folder / "t.shp", {"points": 1, "polygons": 5}[what])
    else:
        giant(folder / "t.shp", *{"one multipoint": (8, 0), "one ring": (5, 1), "many rings": (5, 99)}[what])


def end_of(source: Path, call: str) -> list[str]:
    """Read in a process with little memory: the class of the error, its kinds, the member and the message."""
    program = f"""
        import resource, sys
        import headland as hl
        with open("/proc/self/statm") as sizes:
            most = int(next(sizes).split()[0]) * resource.getpagesize() + {MEMORY_LIMIT}
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        source = sys.argv[1]
        try:
            {call}
        except hl.ArchiveError as error:
            print(type(error).__name__, isinstance(error, OSError) and error.errno, error.member, error, sep="\\n")
        else:
            print("it was read")
    """
    child = [sys.executable, "-c", textwrap.dedent(program), str(source)]
    # Memory that the allocator reserves in advance would exceed the limit.
    environment = {**os.environ, "MIMALLOC_ARENA_RESERVE": "16MiB"}
    outcome = subprocess.run(child, check=False, capture_output=True, text=True, timeout=120, env=environment)
    assert outcome.returncode == 0, f"the process ended with {outcome.returncode}: {outcome.stderr[-500:]}"
    return outcome.stdout.splitlines()


def refused(source: Path, call: str, member: str) -> None:
    """Assert an error about the member and about memory, with the next step."""
    kind, errno, named, message = end_of(source, call)
    assert (kind, errno, named) == ("ArchiveError", "12", member), message
    assert "out of memory" in message
    assert "headland.open" in message


@pytest.mark.parametrize(
    "what", ["floats", "integers", "dates", "texts", "binary", "points", "polygons", "one multipoint", "one ring"]
)
def test_a_layer_too_large_for_the_memory_is_an_error(tmp_path: Path, what: str) -> None:
    write(tmp_path, what)
    member = "t.dbf" if (tmp_path / "t.dbf").exists() else "t.shp"
    refused(tmp_path, "hl.read(source)", member)


@pytest.mark.parametrize("how", ["strict=False", "threads=1", "threads=3, strict=False, to_crs='EPSG:4326'"])
def test_lack_of_memory_is_an_error_without_strict_too(tmp_path: Path, how: str) -> None:
    write(tmp_path, "binary")
    refused(tmp_path, f"hl.read(source, {how})", "t.dbf")


@pytest.mark.parametrize("what", ["one multipoint", "many rings"])
@pytest.mark.parametrize("how", ["", ", strict=False", ", types='scan', threads=1"])
def test_a_record_too_large_for_the_memory_is_an_error_in_batches_too(tmp_path: Path, what: str, how: str) -> None:
    write(tmp_path, what)
    refused(tmp_path, f"list(hl.open(source{how}))", "t.shp")


def test_batches_need_no_more_memory_than_there_is(tmp_path: Path) -> None:
    table(tmp_path / "t.dbf", b"G", 254, 400 << 20)
    refused(tmp_path, "hl.read(source)", "t.dbf")
    assert end_of(tmp_path, "assert sum(map(len, hl.open(source, batch_size=4096))) == 1_644_824") == ["it was read"]


def test_large_index_and_buffered_shp_are_errors(tmp_path: Path) -> None:
    shapes(tmp_path / "t.shp", 1)
    # Records in another order than the index, so that the .shp has to be in memory.
    places = struct.pack(">iiii", 64, 10, 50, 10)
    sparse(tmp_path / "t.shx", header(1, 116) + places, 116)
    refused(tmp_path, "hl.read(source)", "t.shp")
    refused(tmp_path, "hl.read(source, strict=False)", "t.shp")
    sparse(tmp_path / "t.shx", header(1, SIZE), SIZE)
    refused(tmp_path, "hl.read(source)", "t.shx")
    refused(tmp_path, "hl.read(source, strict=False)", "t.shx")


@pytest.fixture(scope="module")
def zeros(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a zip of a large table of zeros, which takes a second to write."""
    folder = tmp_path_factory.mktemp("zeros")
    table(folder / "t.dbf", b"G", 254, 400 << 20)
    archive = folder / "t.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as target:
        target.write(folder / "t.dbf", "inside/t.dbf")
    return archive


@pytest.mark.parametrize("threads", [None, 1])
@pytest.mark.parametrize("strict", [True, False])
def test_zips_of_zeros_are_errors_like_folders(zeros: Path, threads: int | None, strict: bool) -> None:
    limits = "limits=hl.Limits(ratio=2_000)"
    refused(zeros, f"hl.read(source, threads={threads}, strict={strict}, {limits})", "inside/t.dbf")


@pytest.mark.parametrize("call", ["read", "open"])
@pytest.mark.parametrize("ending", ["dbf", "shp"])
def test_limit_of_bytes_applies_to_loose_files(tmp_path: Path, call: str, ending: str) -> None:
    file = tmp_path / f"t.{ending}"
    if ending == "dbf":
        table(file, b"C", 254, 1 << 40)
    else:
        shapes(file, 1, (4 << 30) + 2)
    size = file.stat().st_size
    for source in (file, tmp_path):
        for strict in (True, False):
            with pytest.raises(hl.ArchiveError, match=rf"its {size} bytes .* raise Limits\(bytes=\.\.\.\)") as caught:
                getattr(hl, call)(source, strict=strict)
            assert caught.value.member == file.name
        assert hl.layers(source) == ["t"]


def test_limit_of_bytes_applies_at_its_value_to_loose_files(tmp_path: Path) -> None:
    table(tmp_path / "t.dbf", b"C", 9, 65 + 70)
    assert len(hl.read(tmp_path, limits=hl.Limits(bytes=135))) == 7
    with pytest.raises(hl.ArchiveError, match=r"135 bytes are more than the limit of 134; .* raise Limits\(bytes="):
        hl.read(tmp_path, limits=hl.Limits(bytes=134))
    document = tmp_path / "t.xml"
    document.write_text("<a>1</a>")
    for source in (document, tmp_path, document.read_bytes()):
        assert hl.read_tree(source, limits=hl.Limits(bytes=8)) == {"a": "1"}
        with pytest.raises(hl.ArchiveError, match=r"its 8 bytes are more than the limit of 7; .* raise Limits\(bytes="):
            hl.read_tree(source, limits=hl.Limits(bytes=7))


def test_without_new_threads_reading_works_and_calls_are_errors(tmp_path: Path) -> None:
    file = tmp_path / "t.dbf"
    table(file, b"N", 4, 65 + 500)
    program = """
        import asyncio, resource, sys, threading
        import headland as hl
        hl.layers(sys.argv[1])
        with open("/proc/self/statm") as sizes:
            most = int(next(sizes).split()[0]) * resource.getpagesize() + (1 << 20)
        # The stack of a thread has more.
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        try:
            threading.Thread(target=print).start()
        except RuntimeError as error:
            print(error)
        print(len(hl.read(sys.argv[1])), sum(len(batch) for batch in hl.open(sys.argv[1])))

        async def call():
            client = hl.AsyncClient(
                base_url="http://127.0.0.1:9",
                api_key="key",
                shared_secret="c2VjcmV0",
                access_key="key",
                limiter_state="memory",
            )
            await client.access_key()

        try:
            asyncio.run(call())
        except hl.TransportError as error:
            print(error)
    """
    child = [sys.executable, "-c", textwrap.dedent(program), str(file)]
    outcome = subprocess.run(child, check=False, capture_output=True, text=True, timeout=60)
    assert outcome.returncode == 0, outcome.stderr[-500:]
    first, rows, error = outcome.stdout.splitlines()
    assert (first, rows) == ("can't start new thread", "100 100")
    assert error.startswith("cannot start a thread that waits for replies: "), error
    assert "`headland.Client`" in error
