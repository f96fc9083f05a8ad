"""Describes or converts many archives with the verb ``read``, and names those that cannot be read."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, cast

from headland import files
from headland.agronomy.archive_layers import ArchiveLayer, failure, find_archives, has_zips, read_layers
from headland.agronomy.job_layers import FailedJob
from headland.cli.original_columns import OriginalColumns
from headland.cli.output import print_json, print_text, print_wrapped
from headland.cli.table_files import TableFiles, kind_of, table_of
from headland.display.escaping import printable
from headland.errors import HeadlandError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    import headland as hl
    from headland.archives import ReadOptions

UNREADABLE, NO_FILE = 11, 12
"""Exit codes of archives that cannot be read, and of files that cannot."""

LIMIT = re.compile(r"raise Limits\(\w+=\.\.\.\)| \(`Limits\(\w+=\.\.\.\)`\)")
KIND = re.compile(r"pass (`columns=` and )?`kind=`: .*")
"""Advice of the Python package, for which the command line has no option."""


def is_many(given: argparse.Namespace) -> bool:
    """Return whether the words name several archives: files, patterns, or a folder with zips."""
    if len(given.files) != 1:
        return True
    path = given.files[0]
    is_pattern = not path.exists() and any(sign in str(path) for sign in "*?[")
    return is_pattern or (path.is_dir() and (has_zips(path) or not any(path.iterdir())))


def run(given: argparse.Namespace, describe: Callable[[hl.Layer], None]) -> int:
    """Describe the layers of all archives or write them, and print what failed; return the exit code."""
    options = cast(
        "ReadOptions",
        {"layer": given.layer, "encoding": given.encoding, "strict": not given.lenient, "to_crs": given.to_crs},
    )
    failed: list[FailedJob] = []
    if given.to is None:
        for found in _read(given, options, failed):
            describe(found.layer)
    else:
        _write(given, options, failed)
    for job, error in failed:
        _print_failure(job, error, as_json=given.json)
    return max((NO_FILE if isinstance(error, OSError) else UNREADABLE for _, error in failed), default=0)


def _read(given: argparse.Namespace, options: ReadOptions, failed: list[FailedJob]) -> Iterator[ArchiveLayer]:
    """Yield the layers of all archives, one in memory at a time, and collect what failed."""
    for path in find_archives(given.files):
        for found in [path] if isinstance(path, FailedJob) else read_layers(path, options):
            if isinstance(found, FailedJob):
                failed.append(found)
            else:
                yield found


def _write(given: argparse.Namespace, options: ReadOptions, failed: list[FailedJob]) -> None:
    """Write all layers to one file for each kind of job, and print each layer and each file."""
    columns: dict[str, OriginalColumns] = {}
    with files.building(given.to) as folder:
        tables = TableFiles(given.to, folder)
        if given.originals:
            # The columns of all archives have to be known before the first row, so all are read twice.
            options = {**options, "to_crs": "EPSG:4326"}
            for _, layer in _read(given, options, []):
                columns.setdefault(table_of(layer), OriginalColumns()).add(layer)
        for path, layer in _read(given, options, failed):
            try:
                if given.originals:
                    table = table_of(layer)
                    rows = columns[table].rows(layer)
                else:
                    table, rows = kind_of(layer)
                tables.add(table, rows)
            except OSError:
                raise
            except (HeadlandError, ValueError) as error:
                failed.append(failure(path, error, layer.name))
                continue
            _print_layer(table, rows, layer, as_json=given.json)
        for file in tables.finish():
            split = columns[file.table].split() if given.originals else []
            if given.json:
                print_json({**file._asdict(), "split_columns": split})
            else:
                layers = f"{file.layers:,} layer{'' if file.layers == 1 else 's'}"
                print_text(printable(f"written: {file.path}: {file.records:,} rows of {layers}"))
                if split:
                    print_wrapped(printable(f"  columns of one name whose units or types differ: {', '.join(split)}"))


def _print_layer(table: str, rows: hl.Layer, layer: hl.Layer, *, as_json: bool) -> None:
    diagnostics = [each for each in rows.diagnostics or layer.diagnostics if each.severity != "info"]
    if as_json:
        facts = {"source": layer.source, "layer": layer.name, "table": table, "records": len(layer)}
        print_json({**facts, "diagnostics": [each._asdict() for each in diagnostics]})
        return
    print_text(printable(f"{layer.source}, layer {layer.name}: {len(layer):,} rows of {table}"))
    for each in diagnostics:
        print_wrapped(printable(f"  {each.severity} {each.code}: {each.message}"), indent="    ")


def _print_failure(job: dict[str, object], error: Exception, *, as_json: bool) -> None:
    message = getattr(error, "_with_options", None) or str(error)
    message = KIND.sub("it is in no table; `--originals` writes its own columns", message)
    message = printable(LIMIT.sub(lambda found: "unpack it" if found[0].startswith("raise") else "", message))
    where = f"{job['source']}" + (f", layer {job['layer']}" if job["layer"] is not None else "")
    if as_json:
        facts = {"error": type(error).__name__.lstrip("_"), "message": message}
        print_json({**facts, "source": job["source"], "layer": job["layer"]}, sys.stderr)
    else:
        print_wrapped(f"headland: not read: {printable(where)}: {message}", sys.stderr)
