"""Describes or converts many archives with the verb ``read``, and names those that cannot be read."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, cast

from headland import files
from headland.agronomy.archive_layers import ArchiveLayer, failure, find_archives, has_zips, read_layers
from headland.agronomy.job_layers import FailedJob, kind_of
from headland.agronomy.read_many import wanted_kinds
from headland.cli.merged_files import OTHER, KindRows, TableFiles, Written, table_of
from headland.cli.message_options import error_text, in_options, named_by_options
from headland.cli.output import print_json, print_text, print_wrapped
from headland.cli.schema_union import OriginalColumns
from headland.cli.tables import print_table
from headland.display.escaping import printable
from headland.errors import HeadlandError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import headland as hl
    from headland.archives import ReadOptions

STATED = ("units", "crop", "timezone")
"""Options that state what archives do not."""

ROW = ("name", "layer", "kind", "records", "crs")
"""Columns of the table of archives."""

UNREADABLE, NO_FILE = 11, 12
"""Exit codes of archives that cannot be read, and of files that cannot."""


def is_many(given: argparse.Namespace) -> bool:
    """Return whether the words name several archives: files, patterns, or a folder with zips."""
    if len(given.files) != 1:
        return True
    path = given.files[0]
    is_pattern = not path.exists() and any(sign in str(path) for sign in "*?[")
    return is_pattern or (path.is_dir() and (has_zips(path) or not any(path.iterdir())))


def check_options(given: argparse.Namespace) -> None:
    """Refuse options about columns where none are written or not harmonised ones, and a kind of one archive."""
    if given.job_type is not None and not is_many(given):
        raise ValueError("`--type`: it selects among several archives; `--layer` selects in one")
    if given.originals and given.to is None:
        raise ValueError("`--originals`: it is about the columns of a file; name one with `--to`")
    named = [f"`--{name}`" for name in STATED if getattr(given, name)]
    if named and (given.to is None or given.originals or not is_many(given)):
        raise ValueError(f"{named[0]}: only harmonised columns need it, those that `--to` writes of several archives")


def run(given: argparse.Namespace, describe: Callable[[hl.Layer], None]) -> int:
    """Describe the layers of all archives or write them, and print what failed; return the exit code."""
    options = cast(
        "ReadOptions",
        {"layer": given.layer, "encoding": given.encoding, "strict": not given.lenient, "to_crs": given.to_crs},
    )
    failed: list[FailedJob] = []
    if given.to is None and given.json:
        for found in _read(given, options, failed):
            describe(found.layer)
    elif given.to is None:
        print_table(map(_row, _read(given, options, failed)), ROW, right=["records"])
    else:
        _write(given, options, failed)
    for job, error in failed:
        _print_failure(job, error, as_json=given.json)
    return max((NO_FILE if isinstance(error, OSError) else UNREADABLE for _, error in failed), default=0)


class Remarks:
    """Diagnostics of many layers by their code: a line for each archive would hide what failed."""

    def __init__(self) -> None:
        self._said: dict[tuple[str, str], list[tuple[Path, str]]] = {}

    def add(self, path: Path, diagnostics: list[hl.Diagnostic]) -> None:
        """Add the diagnostics of a layer."""
        for each in diagnostics:
            self._said.setdefault((each.severity, each.code), []).append((path, each.message))

    def show(self) -> None:
        """Print a line for each code."""
        for (severity, code), said in self._said.items():
            paths = {path for path, _ in said}
            where = f"{said[0][0]}" if len(paths) == 1 else f"{len(paths):,} archives"
            such_as = ", such as" if len({message for _, message in said}) > 1 else ""
            print_wrapped(printable(f"{severity} {code} in {where}{such_as}: {said[0][1]}"), indent="    ")


def _row(found: ArchiveLayer) -> dict[str, object]:
    """Return the line of a layer in the table of all archives."""
    layer = found.layer
    kind = table_of(layer)
    return dict(zip(ROW, (found.path, layer.name, "" if kind == OTHER else kind, len(layer), layer.crs), strict=True))


def _read(given: argparse.Namespace, options: ReadOptions, failed: list[FailedJob]) -> Iterator[ArchiveLayer]:
    """Yield the layers of all archives that are wanted, one in memory at a time, and collect what failed."""
    with named_by_options({"job_type": "--type"}):
        wanted = wanted_kinds(given.job_type)
    is_empty = wanted is not None
    for path in find_archives(given.files):
        for found in [path] if isinstance(path, FailedJob) else read_layers(path, options):
            if isinstance(found, FailedJob):
                failed.append(found)
            elif wanted is None or kind_of(found.layer) in wanted:
                is_empty = False
                yield found
    if is_empty and not failed:
        raise ValueError("`--type`: no layer of the archives is of this kind; `headland read` without it lists them")


def _write(given: argparse.Namespace, options: ReadOptions, failed: list[FailedJob]) -> None:
    """Write all layers to one file for each kind of job, and print each layer and each file."""
    columns: dict[str, OriginalColumns] = {}
    remarks = Remarks()
    harmonised = KindRows(dict(given.units or ()), given.crop, given.timezone)
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
                    table, rows = harmonised.of(layer)
                tables.add(table, rows)
            except OSError:
                raise
            except (HeadlandError, ValueError) as error:
                failed.append(failure(path, error, layer.name))
                continue
            remarks.add(path, _print_layer(table, rows, layer, as_json=given.json))
        if not failed:
            harmonised.check()
        written = tables.finish()
    remarks.show()
    for file in written:
        _print_file(file, columns[file.table].split() if given.originals else [], as_json=given.json)
    for path in tables.earlier(written):
        print_json({"earlier": path}) if given.json else print_text(printable(f"left from an earlier run: {path}"))


def _print_file(file: Written, split: list[str], *, as_json: bool) -> None:
    if as_json:
        print_json({**file._asdict(), "split_columns": split})
        return
    counts = f"{_counted(file.records, 'row')} of {_counted(file.layers, 'layer')}"
    print_text(printable(f"written: {file.path}: {counts}"))
    if split:
        print_wrapped(printable(f"  columns of one name whose units or types differ: {', '.join(split)}"))


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _print_layer(table: str, rows: hl.Layer, layer: hl.Layer, *, as_json: bool) -> list[hl.Diagnostic]:
    """Print a layer, in JSON with its diagnostics; return those that are left to print."""
    found = [each for each in rows.diagnostics or layer.diagnostics if each.severity != "info"]
    diagnostics = [each._replace(message=in_options(each.message)) for each in found]
    if as_json:
        facts = {"source": layer.source, "layer": layer.name, "table": table, "records": len(layer)}
        print_json({**facts, "diagnostics": [each._asdict() for each in diagnostics]})
        return []
    print_text(printable(f"{layer.source}, layer {layer.name}: {_counted(len(layer), 'row')} of {table}"))
    return diagnostics


def _print_failure(job: dict[str, object], error: Exception, *, as_json: bool) -> None:
    message = printable(in_options(error_text(error)))
    where = f"{job['source']}" + (f", layer {job['layer']}" if job["layer"] is not None else "")
    if as_json:
        facts = {"error": type(error).__name__.lstrip("_"), "message": message}
        print_json({**facts, "source": job["source"], "layer": job["layer"]}, sys.stderr)
    else:
        print_wrapped(f"headland: not read: {printable(where)}: {message}", sys.stderr)
