"""Reads the published dataset of a mirror: frames of geopandas and Dask, and DuckDB."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from headland import _core, arguments, errors, extras
from headland.argument_hints import explained
from headland.layer import frames
from headland.layer.frames import filter_box
from headland.suggestions import Suggesting

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import dask_geopandas
    import duckdb
    import geopandas as gpd

    from headland.layer.frames import Box
    from headland.mirror.publication import Publication

ROWS_PER_TASK = 262_144
"""Maximum rows of a Dask task, four row groups, unless a single row group is larger."""

Units = Literal["metric", "us"]
"""Words for the units to which numbers are converted."""

CANONICAL = "columns such as `yield_dry` are in `mirror.sql('FROM harvest_rows')`, `application_rows`, `planting_rows`"
"""Where the columns of `headland.harmonize` are, in errors."""

TABLES = {
    "table": f"{CANONICAL}; Dask reads the files of a table: `dask.dataframe.read_parquet(f'{{folder}}/harvest_rows')`"
}
"""Arguments that `to_dask` does not have."""

SIDES = 4
"""Number of sides of a box."""


class PublishedDataset(Suggesting):
    """Readers of the published dataset in a mirror's folder; a sync may run concurrently."""

    __slots__ = ()

    _instead: ClassVar = {
        "query": "`mirror.sql(query)` runs a query",
        "to_pandas": "`mirror.sql(query).df()` is a frame of pandas, and `mirror.to_geopandas()` has geometries",
    }

    folder: Path
    """The folder of the mirror."""

    @explained()
    def to_geopandas(
        self,
        *,
        job_type: str | Iterable[str] | None = None,
        year: int | Iterable[int] | None = None,
        bbox: Sequence[float] | None = None,
        columns: Iterable[str] | None = None,
        dtype_backend: Literal["numpy_nullable", "pyarrow", "numpy"] = "numpy_nullable",
        units: Units | None = None,
    ) -> gpd.GeoDataFrame:
        """Return rows of jobs as a geopandas frame; only the requested rows and columns are read from disk.

        Args:
            job_type: One kind or several, in any spelling, such as ``"Yield"`` or ``"harvest"``; default: all. Rows of
                jobs for which the service states no kind, not even in their details, are included in each kind. It
                selects the jobs that ``client.job_data.read_all`` does: ``"Sprayer"`` is a label of lists, and
                ``"AsApplied"`` has all jobs of that kind.
            year: One year or several; a year without jobs has no rows.
            bbox: West, south, east and north in degrees: only rows whose geometries intersect this box.
            columns: Only these columns, in the order of the dataset; the geometry is always included.
            dtype_backend: As in :meth:`headland.Layer.to_geopandas`.
            units: ``"metric"`` or ``"us"`` converts numbers whose unit is known, as :meth:`headland.Layer.to_units`
                does; bushels become m³ or m³/ha. ``None`` keeps those of the archives.

        Returns:
            A ``geopandas.GeoDataFrame`` in WGS 84. Its columns are ``job_type``, ``year``, ``job_id``, ``layer``,
            ``job_row`` (the record's number in the layer) and those of the archives. If archives have different
            columns, it has all of them, null if an archive lacks one; integers are wider, or floats, if other archives
            have these. ``frame.attrs["units"]`` are the units of the columns. Rows with an unknown coordinate system
            are returned only if there are no others; ``frame.crs`` is ``None`` then.

        Raises:
            ConfigurationError: Nothing was published yet.
            ArchiveError: A published file is missing or damaged; checksums of all bytes read are verified.
            TypeError: A job type is not a text, a year not a number, or a column not a name.
            ValueError: An unknown job type or column, or a column has incompatible types, such as a date and a text.
            ImportError: geopandas or pyarrow is not installed; ``pip install 'headland[geo]'`` installs both.

        Warns:
            HeadlandWarning: Rows are omitted because their coordinate system is unknown and that of others is known; or
                a column has several units.

        >>> frame = mirror.to_geopandas(job_type="Yield", year=2026, columns=["job_id", "MOISTURE"])
        """
        extras.require("geo", "geopandas", "pyarrow")
        import pyarrow as pa

        box = _box(bbox)
        scan = self._scan(job_type, year, box, columns, units)
        return filter_box(frames.table_to_geo_frame(pa.table(scan), dtype_backend), box)

    def connect(self, *, units: Units | None = None) -> duckdb.DuckDBPyConnection:
        """Open a DuckDB connection with views of the published state.

        Views with one unit in each column are ``field_means``, the mean yield of each harvest (kg/ha: all dry mass
        at ``market_moisture`` by the ground, each piece once), and ``harvest_rows``,
        ``application_rows`` and ``planting_rows``, the rows with the canonical columns of `headland.harmonize`, of
        which a column is null where its unit is unknown. Rows have ``job_id``, ``layer``, ``job_row``, ``job_name``,
        ``field``, ``year`` and ``start_date``. They are not cleaned.

        Views with the columns of the archives are ``dataset`` with the rows of all jobs, and one for each job type
        (``Yield``, ``"Soil Sampling"``). Columns are ``job_id``, ``layer``, ``job_row``, those of the archives,
        ``geometry``, ``bbox``, and, from the folders, ``job_type``, ``year`` and ``columns``. The last one is the
        digest of a folder's schema: it distinguishes folders whose columns have different units. A job type with the
        name of another view, such as ``Jobs``, has no view of its own: ``dataset`` has its rows, under that
        ``job_type``.

        Tables of the catalog are ``jobs``, ``products``, ``boundaries``, ``harmonized`` (where each canonical column
        comes from, and which layers have none), ``units`` (of the archives' columns) and the others. Names are
        case-insensitive.

        The checksums of all files are verified once, when the views are created; views read the files when they are
        queried. The files are kept until two more states were published.

        Args:
            units: ``"metric"`` or ``"us"`` converts numbers of ``dataset`` and of job types whose unit is known;
                bushels become m³ or m³/ha. ``None`` keeps those of the archives. Views with one unit in each column
                are always metric.

        Returns:
            An ordinary ``duckdb.DuckDBPyConnection`` to a database in memory, in the time zone UTC. It downloads no
            extension by itself. Geometries have DuckDB's own type, without an extension; ``ST_AsWKB(geometry)`` returns
            well-known binary. More functions for them, such as ``ST_Area``, are in the extension `spatial`: if it is
            installed, run ``LOAD spatial``.

        Raises:
            ConfigurationError: Nothing was published yet.
            ArchiveError: A published file is missing or damaged.
            ImportError: duckdb or pandas is not installed; ``pip install 'headland[sql]'`` installs both.

        Warns:
            HeadlandWarning: Columns of ``dataset`` have several units, yields and rates first; or, with
                ``units="us"``, there are views that stay metric.

        >>> with mirror.connect() as connection:
        ...     means = connection.sql("SELECT job_name, year, crop, mean / 1000 AS t_ha FROM field_means").df()
        """
        extras.require("sql", "duckdb", "pandas")
        from headland.mirror import sql

        connection, found = sql.connect(self.folder, units=_units(units))
        warn_mixed_units(found.get(sql.ALL_ROWS, []), is_converted=units is not None)
        _warn_metric(sql.metric_views_warning(found), units)
        return connection

    def sql(self, query: str, /, *, units: Units | None = None, **values: Any) -> duckdb.DuckDBPyRelation:
        """Run a query on a connection of its own, as of :meth:`connect`, and return its rows as a DuckDB relation.

        Only the views named in the query are created, and only their files are verified. Several queries of the same
        rows are faster on one :meth:`connect`.

        Args:
            query: SQL; of several statements, the last one returns the rows.
            units: As in :meth:`connect`.
            values: Tables and parameters. A table, such as a frame of pandas, polars or geopandas, a pyarrow table, a
                layer or the relation of another query, is registered under its name, and hides a view with that name.
                Other values are bound to ``$name`` in the query, and are never part of its text. A time without a zone
                is UTC if it is compared with one that has a zone.

        Returns:
            A ``duckdb.DuckDBPyRelation``: ``.df()``, ``.pl()``, ``.arrow()``, ``.fetchall()`` and others; None if the
                last statement has no rows. It reads on demand, from the state that was published when it was created.
                ``geopandas.GeoDataFrame.from_arrow(relation.arrow())`` is a map.

        Raises:
            ConfigurationError: Nothing was published yet.
            ArchiveError: A published file of the query is missing or damaged.
            ValueError: An unknown view; the message lists the existing ones.
            duckdb.Error: DuckDB's own errors, such as a value that it cannot bind.
            ImportError: duckdb, pandas or pyarrow is not installed; ``pip install 'headland[sql]'`` installs them.

        Warns:
            HeadlandWarning: The query reads a column that has several units, of more than one job; or, with
                ``units="us"``, a view that stays metric.

        >>> mirror.sql("SELECT job_id, avg(MOISTURE) FROM Yield WHERE year = $year GROUP BY job_id", year=2026).df()
        """
        extras.require("sql", "duckdb", "pandas", "pyarrow")
        from headland.mirror import sql

        relation, mixed = sql.run(self.folder, arguments.text("query", query), values, _units(units))
        warn_mixed_units(mixed, is_converted=units is not None)
        _warn_metric(sql.metric_views_warning(sql.read_names(query, values)), units)
        return relation

    @explained(TABLES)
    def to_dask(
        self,
        *,
        job_type: str | Iterable[str] | None = None,
        year: int | Iterable[int] | None = None,
        bbox: Sequence[float] | None = None,
        columns: Iterable[str] | None = None,
        units: Units | None = None,
    ) -> dask_geopandas.GeoDataFrame:
        """Return rows of jobs as a dask-geopandas frame, whose tasks each read some row groups of one part.

        Args:
            job_type: As in :meth:`to_geopandas`.
            year: As in :meth:`to_geopandas`.
            bbox: As in :meth:`to_geopandas`.
            columns: As in :meth:`to_geopandas`. Columns that a computation does not need are not read either.
            units: As in :meth:`to_geopandas`.

        Returns:
            A ``dask_geopandas.GeoDataFrame``. Its ``spatial_partitions`` are the bounding boxes of each task's rows, so
            ``frame.cx[...]`` and spatial joins skip tasks. Workers read the parts by their paths, which must be valid
            on the workers; they receive neither the client nor its credentials. The parts belong to the state that was
            published when the frame was created, which is kept until two more were published. A sync that begins later
            keeps it to its end, however often it publishes.

        Raises:
            ConfigurationError: Nothing was published yet.
            ArchiveError: A published file is missing or damaged; or, when the frame is computed, its state no longer
                exists: create the frame again.
            ValueError: As in :meth:`to_geopandas`.
            ImportError: Dask is not installed; ``pip install 'headland[dask]'`` installs it.

        Warns:
            HeadlandWarning: As in :meth:`to_geopandas`.

        >>> mirror.to_dask(job_type="Yield").groupby("job_id").MOISTURE.mean().compute()
        """
        extras.require("dask", "dask.dataframe", "dask_geopandas")
        import pyarrow as pa

        from headland.layer.dask_frames import frame_of_tasks, parallel_tasks, read_row_groups

        box = _box(bbox)
        scan = self._scan(job_type, year, box, columns, units)
        found = scan.row_groups(ROWS_PER_TASK)
        if len(found) < parallel_tasks():
            found = scan.row_groups(0)
        # A selection without rows is one task that reads nothing.
        tasks = [[groups] for groups, _ in found] or [[]]
        return frame_of_tasks(read_row_groups, tasks, pa.schema(scan), boxes=[around for _, around in found], bbox=box)

    def publish(self, target: str | os.PathLike[str], *, archives: bool = False, **store_options: Any) -> Publication:
        """Copy the published dataset to a folder or an object store, for readers elsewhere, with or without headland.

        The newest state is in ``latest/``, and ``README.txt`` explains the tables. A reader that needs one complete
        state at any time uses the folder in ``generations/`` named by ``current.json``, which never changes.

        Files at the target are identified by name and size, and are not sent again. If a file there is damaged but has
        its size, readers with headland detect it by the checksums: remove it there and publish again.

        Args:
            target: The path of a folder, which is created if missing and needs no extra; ``~`` is expanded. Or a URL
                without credentials: ``s3://bucket/farm``, ``gs://``, ``az://``, ``file:///folder``.
            archives: Whether the archives are included.
            store_options: For a URL, options of ``obstore.store.from_url``, such as ``region=``, ``access_key_id=``,
                ``secret_access_key=``, ``endpoint=``. Without them, obstore uses the environment. A missing folder is
                created, and empty folders are removed; ``mkdir=False`` and ``automatic_cleanup=False`` disable this.

        Returns:
            The numbers of files sent and kept, and the addresses of the published state; ``latest`` does not change.

        Raises:
            ConfigurationError: Nothing was published yet; or a file of the mirror differs from its manifest; or the
                mirror of another account is published there, or of any account while the journal with the account of
                this mirror is missing; or a folder ``latest`` there was not written by a publication.
            ArchiveError: The manifest or a file is missing, or the manifest or the pointer to the newest state at the
                target is damaged.
            PermissionDenied: The credentials do not permit writing to the store.
            TransportError: The store was unreachable or refused a request. The state named by ``current.json`` is
                complete.
            HeadlandError: The folder cannot be written, such as a full disk; also an ``OSError``. The same applies.
            TypeError: The target is neither a text nor a path.
            ValueError: The target is invalid, contains credentials, leads to no folder of its own (``/``,
                ``memory://``), or to a folder in a mirror, this or another; or a path has options of a store.
            ImportError: The target is a URL and obstore is not installed; ``pip install 'headland[s3]'`` installs it.

        >>> done = mirror.publish("shared/farm")
        >>> import duckdb
        >>> duckdb.sql(f"SELECT count(*) FROM '{done.latest}/catalog/jobs.parquet'")
        >>> mirror.publish("s3://cooperative/farm", region="us-east-1")
        """
        from headland.mirror import publish

        return publish.publish(self.folder, target, store_options, archives=arguments.flag("archives", archives))

    def _scan(
        self,
        job_type: str | Iterable[str] | None,
        year: int | Iterable[int] | None,
        bbox: Box | None,
        columns: Iterable[str] | None,
        units: Units | None,
    ) -> _core.Scan:
        """Plan a read of rows, and issue warnings about them."""
        state = _core.Dataset(self.folder)
        kinds = arguments.job_types(job_type)
        if kinds == []:
            raise ValueError("`job_type` is empty; omit it to read all job types")
        years = None if year is None else parse_years("year", year)
        names = None if columns is None else _core.column_names(columns)
        try:
            scan = state.scan(kinds, years, names, bbox, _units(units))
        except ValueError as error:
            if not str(error).startswith("there is no column"):
                raise
            raise ValueError(f"{error}; {CANONICAL}") from None
        for warning in scan.warnings:
            errors.warn(warning)
        return scan


def warn_mixed_units(columns: Sequence[tuple[str, str]], *, is_converted: bool) -> None:
    """Issue the warning about columns with several units, if there are any."""
    warning = _core.mixed_units_warning([*columns], is_converted)
    if warning is not None:
        errors.warn(warning)


def _warn_metric(warning: str | None, units: str | None) -> None:
    """Issue the warning about views that stay metric, if other units are requested."""
    if units == "us" and warning is not None:
        errors.warn(warning)


def _units(units: object) -> str | None:
    return None if units is None else arguments.text("units", units, '"metric"')


def parse_years(name: str, year: object) -> list[int]:
    """Return one year or several as a list."""
    years = arguments.as_list(year)
    if not all(isinstance(each, numbers.Integral) and not isinstance(each, bool) for each in years):
        raise TypeError(f"`{name}`: expected a year such as 2026, or several, got {year!r}")
    if not years:
        raise ValueError(f"`{name}` is empty; omit it to read all years")
    # Years in the core have 64 bits, and no row has a larger one.
    return [int(each) for each in years if abs(int(each)) < arguments.MAX_INT]


def _box(bbox: object) -> Box | None:
    """Check a box: west, south, east and north in the coordinates of the dataset."""
    if bbox is None:
        return None
    takes = "`bbox`: expected west, south, east and north, such as `tuple(frame.to_crs('EPSG:4326').total_bounds)`, got"
    if arguments.is_single(bbox) or isinstance(bbox, Mapping | AbstractSet):
        raise TypeError(f"{takes} {bbox!r}")
    sides = arguments.as_list(bbox)
    if len(sides) != SIDES or not all(map(_is_side, sides)):
        raise TypeError(f"{takes} {bbox!r}")
    try:
        west, south, east, north = map(float, sides)
    except OverflowError:
        raise ValueError(f"{takes} {bbox!r}") from None
    if not (west <= east and south <= north):
        raise ValueError(f"{takes} {bbox!r}")
    return west, south, east, north


def _is_side(side: object) -> bool:
    return isinstance(side, numbers.Real) and not isinstance(side, bool)
