"""Reads many archives on many machines: Dask frames from paths, without credentials in the workers."""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import headland
from headland import _core, arguments, errors, extras
from headland.agronomy.archive_layers import Archive, archives_at
from headland.argument_hints import explained
from headland.layer import frames
from headland.layer.dask_frames import frame_of_tasks, parallel_tasks
from headland.mirror.dataset import PublishedDataset, warn_mixed_units

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence

    import dask_geopandas
    import pyarrow as pa

    from headland.mirror.dataset import Units

ROW_COLUMNS = ("job_id", "layer", "job_row")
"""Columns of every row in addition to those of its archive."""

MAX_ARCHIVES = 100
"""Maximum number of archives of a task by default."""

TOPIC = "headland"
"""The topic of the events for skipped archives on a Dask cluster."""

log = logging.getLogger(__name__)


class ReadSettings(NamedTuple):
    """Settings of reading."""

    threads: int
    to_crs: str | None
    skip: bool


@explained()
def read_archives(
    archives: PublishedDataset | str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    columns: Iterable[str] | None = None,
    archives_per_task: int | None = None,
    threads: int = 1,
    job_id: Sequence[str] | None = None,
    schema: pa.Schema | None = None,
    to_crs: str | None = "EPSG:4326",
    on_error: Literal["raise", "skip"] = "raise",
    units: Units | None = None,
) -> dask_geopandas.GeoDataFrame:
    """Read archives into a frame of dask-geopandas, many of them per task.

    A cluster reads archives concurrently; ``mirror.to_dask()`` reads the dataset of a mirror faster. Tasks receive only
    paths, which must be valid on the workers: neither the client nor its credentials. If a worker is lost, another one
    runs its tasks again.

    Args:
        archives: Paths of archives, of folders with zips, and patterns, as in ``headland.read_many``; or a mirror: then
            the archives of its dataset.
        columns: Only these columns of the archives; the geometry is always included.
        archives_per_task: Number of archives read by one task; default: at most 100, and so few that each thread of the
            cluster, or core of this machine, has two tasks. Small tasks cost more in the cluster than they save.
        threads: Number of threads that read one archive; default: one, because a worker has tasks for its other cores.
        job_id: Values of the column `job_id`, one text per path; default: the file name without its suffix. A mirror
            knows the ids.
        schema: Columns and types of the frame as a pyarrow schema, such as ``headland.open(path).schema``. A column
            missing in an archive is null; one missing in the schema is omitted; values are converted to the units that
            the schema states. Without it, tasks first read the headers of all archives; a mirror knows them.
        to_crs: The coordinate system to transform to; ``None`` keeps the coordinates unchanged.
        on_error: ``"skip"`` omits archives that cannot be read. Each is a warning in the log ``headland.dask`` of its
            worker, and on a cluster an event: ``client.get_events("headland")``.
        units: ``"metric"`` or ``"us"`` converts numbers whose unit is known, as :meth:`headland.Layer.to_units` does;
            bushels become m³ or m³/ha. ``None`` keeps those of each archive.

    Returns:
        A ``dask_geopandas.GeoDataFrame`` with the columns ``job_id``, ``layer``, ``job_row`` (the record's number in
        the layer), those of the archives and ``geometry``. All layers of an archive are read, except outlines of
        fields, which are an entry of the log. A column with the name of one of these has a number as suffix. Integers
        are wider, or floats, if other archives have these.

    Raises:
        ArchiveError: An archive cannot be read, or its coordinate system is unknown while `to_crs` is given; the
            message names it. Raised when the headers are read, or when the frame is computed.
        TypeError: `schema` is not a schema, or `archives` are not paths.
        ValueError: `to_crs` is not a known target system. A folder is empty, or no file matches a pattern. Columns have
            incompatible types, such as a date and a text. When the frame is computed, a number does not fit its column,
            such as 1.5 in a column declared without decimals. `schema` solves the last two.
        ImportError: Dask is not installed; ``pip install 'headland[dask]'`` installs it.

    Warns:
        HeadlandWarning: A column has several units.

    Each task may also aggregate its rows: after ``.optimize()``, reading and aggregating are one task, and a worker
    holds no more rows than that task has. Without it, Dask reads the next archives before the last ones are aggregated.

    >>> from headland.dask import read_archives
    >>> frame = read_archives(Path("archives").glob("*.zip"))
    >>> means = frame.groupby("job_id").MOISTURE.mean().optimize().compute()
    """
    extras.require("dask", "dask.dataframe", "dask_geopandas")
    import pyarrow as pa

    if archives_per_task is not None:
        archives_per_task = arguments.whole_number("archives_per_task", archives_per_task, 1, arguments.MAX_INT)
    if on_error not in {"raise", "skip"}:
        raise ValueError(f"`on_error`: expected 'raise' or 'skip', got {on_error!r}")
    settings = ReadSettings(
        arguments.whole_number("threads", threads, 1, arguments.MAX_INT),
        None if to_crs is None else arguments.text("to_crs", to_crs, '"EPSG:4326"'),
        on_error == "skip",
    )
    _check_crs(settings.to_crs)
    own = None if schema is None else _checked_schema(schema)
    wanted = None if columns is None else [*ROW_COLUMNS, *_core.column_names(columns)]
    if isinstance(archives, PublishedDataset):
        scan = archives._scan(None, None, None, wanted, units)  # noqa: SLF001 - the mirror's own package
        found = [Archive(str(path.absolute()), job, layer) for path, job, layer in scan.origins()]
        known = pa.schema([field for field in pa.schema(scan) if field.name not in {"job_type", "year"}])
        # The dataset is in WGS 84, regardless of the archives' systems.
        headers = [] if settings.to_crs is None else [("the dataset", known)]
    else:
        found, headers = archives_at(archives, job_id), []
    size = _archives_per_task(len(found)) if archives_per_task is None else archives_per_task
    tasks = [tuple(found[at : at + size]) for at in range(0, len(found), size)] or [()]
    if own is not None:
        headers = [("`schema`", own)]
    is_known = bool(headers)
    headers = headers or _headers(tasks, settings)
    if units is not None:
        headers = [(name, pa.schema(_core.converted_schema(header, units))) for name, header in headers]
    union = pa.schema(_core.union_schemas(headers, wanted))
    if not is_known:
        warn_mixed_units([(field.name, _unit(field)) for field in union], is_converted=units is not None)
    return frame_of_tasks(read_task, tasks, union, settings=settings)


def _archives_per_task(count: int) -> int:
    return min(MAX_ARCHIVES, max(1, count // parallel_tasks()))


def read_task(
    tasks: Iterable[Archive], schema: pa.Schema, settings: ReadSettings, columns: Sequence[str] | None = None
) -> Any:
    """Return the rows of some archives, or only their `columns`; runs in a task."""
    import pyarrow as pa

    kept = schema if columns is None else pa.schema([field for field in schema if field.name in columns])
    tables = [kept.empty_table()]
    for archive in tasks:
        with _skip_errors(archive, settings):
            tables += [_conform(table, kept, archive.path) for table in _tables(archive, kept, settings)]
    whole = frames.table_to_geo_frame(pa.concat_tables(tables))
    return whole if columns is None else whole[list(columns)]


def _conform(table: pa.Table, schema: pa.Schema, name: str) -> pa.Table:
    """Convert a table to a schema: missing columns are null, others are widened, and converted to its units.

    Raises:
        ValueError: A value does not fit the type of its column.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = []
    for field in schema:
        if field.name not in table.column_names:
            columns.append(pa.nulls(len(table), field.type))
            continue
        cells = table.column(field.name)
        factor = _core.conversion_factor(_unit(table.schema.field(field.name)), _unit(field))
        if factor is not None:
            cells = pc.multiply(cells.cast(pa.float64()), factor)
        try:
            # Arrow would convert integers to days, and dates to texts.
            _core.union_schemas([("", pa.schema([(field.name, kind)])) for kind in (field.type, cells.type)], None)
            columns.append(cells.cast(field.type))
        except ValueError as cause:
            reason = str(cause) if isinstance(cause, pa.ArrowInvalid) else f"it is {cells.type}"
            raise ValueError(
                f"column `{field.name}` of `{name}` does not fit {field.type}: {reason}; "
                "pass a `schema` with a wider type, or omit this column from `columns`"
            ) from None
    return pa.table(columns, schema=schema)


def _unit(field: pa.Field) -> str:
    """Return the unit of a field, or the units of the archives; empty if it has none."""
    unit: bytes = (field.metadata or {}).get(b"unit", b"")
    return unit.decode()


def _tables(archive: Archive, schema: pa.Schema, settings: ReadSettings) -> Iterator[pa.Table]:
    """Read the layers of an archive, with the column names of the frame."""
    import numpy as np
    import pyarrow as pa

    wanted = [name for name in schema.names if name not in ROW_COLUMNS and name != frames.GEOMETRY]
    for name, label in _layers(archive):
        table = _table(archive, name, wanted, settings)
        if frames.GEOMETRY in schema.names and _core.coordinate_system(table.schema) not in {
            None,
            _core.coordinate_system(schema),
        }:
            raise errors.ArchiveError(
                f"`{archive.path}` is in another coordinate system than the schema: pass `to_crs`", _source=archive.path
            )
        texts = [pa.repeat(pa.scalar(text, pa.large_string()), len(table)) for text in (archive.job_id, label)]
        for column, cells in zip(ROW_COLUMNS, [*texts, pa.array(np.arange(len(table), dtype=np.int64))], strict=True):
            table = table.append_column(column, cells)
        yield table


def _layers(archive: Archive) -> list[tuple[str, str]]:
    """Return the layers to read, each with its name in the frame."""
    there = headland.layers(archive.path)
    if archive.layer is None:
        return [(name, name) for name in there if not _is_outline(archive, name)]
    # The single layer of a grain cart file has the name of its file, which differs in a mirror.
    name = there[0] if len(there) == 1 else archive.layer
    return [(name, archive.layer)]


def _is_outline(archive: Archive, name: str) -> bool:
    """Return whether a layer is the outline of a field, which its columns and its first row show."""
    first = None
    # A row that cannot be read is an error of the read that follows.
    with (
        contextlib.suppress(errors.ArchiveError),
        headland.open(archive.path, layer=name, batch_size=1, threads=1) as reader,
    ):
        first = next(reader, None)
    is_outline = first is not None and _core.boundary_table(first._core) is not None  # noqa: SLF001 - own
    if is_outline:
        log.info("left out layer %s of %s: it is the outline of a field", name, archive.path)
    return is_outline


def _table(archive: Archive, name: str, wanted: list[str], settings: ReadSettings) -> pa.Table:
    """Read the wanted columns of a layer; all of them if one is missing or has another name in the archive."""

    def read(columns: list[str] | None = None) -> pa.Table:
        table = headland.read(
            archive.path, layer=name, columns=columns, threads=settings.threads, to_crs=settings.to_crs
        ).to_arrow()
        return table.rename_columns(_core.dataset_names(table.schema))

    with contextlib.suppress(ValueError):
        table = read(wanted)
        if {*wanted} <= {*table.column_names}:
            return table
    with _require_known_crs(archive):
        return read()


def _headers(tasks: Sequence[Sequence[Archive]], settings: ReadSettings) -> list[tuple[str, pa.Schema]]:
    """Return the headers of all archives, which tasks read."""
    import dask
    import pyarrow as pa

    found = dask.compute(*[dask.delayed(_read_headers)(task, settings) for task in tasks])
    headers = [(name, _with_row_columns(header)) for each in found for name, header in each]
    systems = [(name, _core.coordinate_system(header)) for name, header in headers if frames.GEOMETRY in header.names]
    for name, system in systems:
        if system != systems[0][1]:
            raise ValueError(
                f"`{name}` and `{systems[0][0]}` are in different coordinate systems, but a frame has one; "
                "pass `to_crs` to transform both"
            )
    return headers or [("no archives", _with_row_columns(pa.schema(())))]


def _read_headers(task: Sequence[Archive], settings: ReadSettings) -> list[tuple[str, pa.Schema]]:
    """Return the distinct headers of some archives, each with the first archive that has it."""
    found: list[tuple[str, pa.Schema]] = []
    for archive in task:
        with _skip_errors(archive, settings):
            for name, _ in _layers(archive):
                with _require_known_crs(archive):
                    reader = headland.open(archive.path, layer=name, threads=settings.threads, to_crs=settings.to_crs)
                with reader:
                    header = reader.schema
                if not any(header.equals(other, check_metadata=True) for _, other in found):
                    found.append((archive.path, header))
    return found


@contextlib.contextmanager
def _skip_errors(archive: Archive, settings: ReadSettings) -> Iterator[None]:
    """Add the archive's path to its errors, and skip them if this was requested."""
    try:
        try:
            yield
        except errors.ArchiveError as reason:
            # The error of a file that cannot be read states its path already.
            if reason._source == archive.path or isinstance(reason, OSError):  # noqa: SLF001 - headland's own attribute
                raise
            raise type(reason)(f"`{archive.path}`: {reason}", member=reason.member, record=reason.record) from None
    except errors.ArchiveError as reason:
        if not settings.skip:
            raise
        log.warning("skipped %s: %s", archive.path, reason)
        _log_event({"skipped": archive.path, "job_id": archive.job_id, "reason": str(reason)})


@contextlib.contextmanager
def _require_known_crs(archive: Archive) -> Iterator[None]:
    """Name the archive whose coordinates cannot be transformed, and the solution."""
    try:
        yield
    except ValueError as reason:
        raise errors.ArchiveError(
            f"cannot transform `{archive.path}` to `to_crs`: {reason}; `to_crs=None` keeps the coordinates",
            _source=archive.path,
        ) from None


def _log_event(event: dict[str, str]) -> None:
    """Log an event on the cluster, if the task runs in one."""
    try:
        from distributed import get_worker

        get_worker().log_event(TOPIC, event)
    except (ImportError, ValueError):
        return


def _with_row_columns(schema: pa.Schema) -> pa.Schema:
    """Return the schema of rows for an archive's columns, with the row columns first."""
    import pyarrow as pa

    named = [field.with_name(name) for field, name in zip(schema, _core.dataset_names(schema), strict=True)]
    own = [
        pa.field(ROW_COLUMNS[0], pa.large_string()),
        pa.field(ROW_COLUMNS[1], pa.large_string()),
        pa.field(ROW_COLUMNS[2], pa.int64()),
    ]
    return pa.schema([*own, *named])


def _checked_schema(schema: object) -> pa.Schema:
    """Check a schema from the user, and add the row columns."""
    import pyarrow as pa

    if not isinstance(schema, pa.Schema):
        takes = "a `pyarrow.Schema`, such as `headland.open(path).schema`"
        raise TypeError(f"`schema`: expected {takes}, got {type(schema).__name__}")
    return _with_row_columns(schema)


def _check_crs(to_crs: str | None) -> None:
    """Refuse an unknown system before any archive is read, since each would be skipped."""
    # The core checks the system first, and then the archive, which is empty.
    with contextlib.suppress(errors.ArchiveError):
        headland.open(b"", to_crs=to_crs)
