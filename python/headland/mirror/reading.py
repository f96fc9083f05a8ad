"""Reading what a mirror has published: frames of geopandas and Dask, and DuckDB."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from headland import arguments, errors, extras
from headland.mirror import parts, schemas

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import dask_geopandas
    import duckdb
    import geopandas as gpd
    import pyarrow as pa

    from headland.mirror.publish import Publication

ROWS_PER_TASK = 262_144
"""The most rows of one task of Dask, where row groups are not larger: four row groups."""


class Reading:
    """What can be read of a mirror's folder: only what was published, so that a sync may run meanwhile."""

    __slots__ = ()

    folder: Path
    """The folder of the mirror."""

    def to_geopandas(
        self,
        *,
        job_type: str | Iterable[str] | None = None,
        year: int | Iterable[int] | None = None,
        bbox: Sequence[float] | None = None,
        columns: Iterable[str] | None = None,
        dtype_backend: Literal["numpy_nullable", "pyarrow", "numpy"] = "numpy_nullable",
    ) -> gpd.GeoDataFrame:
        """Give the rows of jobs as a frame of geopandas; no more than what is asked for is read from the disk.

        Args:
            job_type: One job type or several, such as ``"Yield"``; all by default. Case and blanks do not matter, and
                what lists call ``"Sprayer"`` or ``"As Applied"`` is ``"AsApplied"``, as in the folders of the dataset.
            year: One year or several; a year without jobs gives no rows.
            bbox: West, south, east and north in degrees: only rows whose geometries meet this box.
            columns: Only these columns, in the order of the dataset; the geometry always comes along.
            dtype_backend: As in :meth:`headland.Layer.to_geopandas`.

        Returns:
            A ``geopandas.GeoDataFrame`` in WGS 84. Its columns are ``job_type``, ``year``, ``job_id``, ``layer``,
            ``job_row`` (the record's number in the layer) and those of the archives. Where archives have different
            columns, it has all of them, null where an archive has none; integers are wider, or floats, where other
            archives have these. ``frame.attrs["units"]`` are the units of columns. Rows whose coordinate system is
            unknown come only where no others do; ``frame.crs`` is ``None`` then.

        Raises:
            ConfigurationError: Nothing was published yet.
            ArchiveError: A published file is missing or damaged: the bytes that are read are compared with checksums.
            TypeError: A job type is no text, a year no number, a column no name.
            ValueError: There is no such job type or column, or a column has types that do not go together, such as a
                date and a text.
            ImportError: geopandas or pyarrow is not installed; ``pip install 'headland[geo]'`` brings both.

        Warns:
            HeadlandWarning: Rows are left out because their coordinate system is unknown and that of others is not; a
                column has several units.

        >>> frame = mirror.to_geopandas(job_type="Yield", year=2026, columns=["job_id", "MOISTURE"])
        """
        extras.needed("geo", "geopandas", "pyarrow")
        import pyarrow as pa

        box = parts.box(bbox)
        heads, schema = selection(self.folder, job_type, year, columns)
        tables = [parts.read(piece, schema, box) for piece, _ in parts.pieces(heads, box)]
        whole = schemas.frame(pa.concat_tables([schema.empty_table(), *tables]), dtype_backend)
        frame = parts.within(whole, box)
        frame.attrs["units"] = schemas.units(schema)
        return frame

    def sql(self, query: str, /, **parameters: Any) -> duckdb.DuckDBPyRelation:
        """Give the rows of a query as a relation of DuckDB, which reads only the parts and columns that it needs.

        The views are ``dataset`` with the rows of all jobs, one for each job type (``Yield``, ``"Soil Sampling"``), and
        the tables of the catalog: ``jobs``, ``products``, ``boundaries`` and the others. Columns are ``job_id``,
        ``layer``, ``job_row``, those of the archives, ``geometry``, ``bbox``, and of the folders ``job_type``, ``year``
        and ``columns``, the digest of a folder's schema: of columns that have other units in other folders, it says
        which. Names are equal whatever their case. A job type that is called like another view, such as ``Jobs``, has
        no view of its own: ``dataset`` has its rows, under that ``job_type``.

        Args:
            query: One ``SELECT`` and what belongs to it; ``SET`` and ``LOAD`` may stand before it, and hold for this
                query alone; settings by which DuckDB writes or fetches files, such as ``temp_directory`` and
                ``autoinstall_known_extensions``, stay as they are. Each query has a DuckDB of its own, so threads need
                not wait for each other.
            parameters: The values of ``$name`` in the query: numbers, texts, times and others of Python, numpy and
                pandas, and lists, columns and dicts of them. They are bound and never part of its text. What pandas and
                numpy have for no value is ``NULL``; a time without a zone, as numpy has them, is UTC where it meets one
                with a zone, unless ``SET TimeZone`` stands before the query. A table, such as a frame of pandas, polars
                or geopandas, a pyarrow table, a layer or what another query gave, is a view of that name, and comes
                before those of the mirror.

        Returns:
            A ``duckdb.DuckDBPyRelation``: ``.df()``, ``.pl()``, ``.arrow()``, ``.fetchall()`` and others. It reads when
            it is asked, from the state that was published when it was made. Geometries are of DuckDB's own type,
            without an extension; ``ST_AsWKB(geometry)`` gives well-known binary, and
            ``geopandas.GeoDataFrame.from_arrow(relation.arrow())`` a map. More functions for them, such as ``ST_Area``,
            are in the extension `spatial`: where it is installed, begin with ``LOAD spatial;``.

        Raises:
            ConfigurationError: Nothing was published yet.
            ArchiveError: A published file that the query speaks of is missing or damaged. The rows of parts, which
                DuckDB reads when it is asked, are not compared with checksums; `verify()` does that.
            TypeError: A parameter is nothing that DuckDB has, such as a complex number; or it is no table, and the
                query does not ask for it.
            ValueError: The query writes or is several, or there is no such view; the message names those that are. Two
                tables have names that differ in case alone. A parameter would lose nanoseconds or digits: a Decimal
                has 38, and the numbers of a list become of one kind.
            duckdb.Error: What DuckDB says of the query.
            ImportError: duckdb is not installed; ``pip install 'headland[sql]'`` brings it.

        >>> mirror.sql("SELECT job_id, avg(MOISTURE) FROM Yield WHERE year = $year GROUP BY job_id", year=2026).df()
        """
        extras.needed("sql", "duckdb", "pyarrow")
        from headland.mirror import sql

        return sql.query(self.folder, arguments.text("query", query), parameters)

    def to_dask(
        self,
        *,
        job_type: str | Iterable[str] | None = None,
        year: int | Iterable[int] | None = None,
        bbox: Sequence[float] | None = None,
        columns: Iterable[str] | None = None,
    ) -> dask_geopandas.GeoDataFrame:
        """Give the rows of jobs as a frame of dask-geopandas, whose tasks each read some row groups of one part.

        Args:
            job_type: As in :meth:`to_geopandas`.
            year: As in :meth:`to_geopandas`.
            bbox: As in :meth:`to_geopandas`.
            columns: As in :meth:`to_geopandas`. Columns that a computation does not need are not read either.

        Returns:
            A ``dask_geopandas.GeoDataFrame``. Its ``spatial_partitions`` are the boxes around the rows of each task,
            so that ``frame.cx[...]`` and spatial joins leave out tasks. Workers read the parts by their paths, which
            must be theirs too; they get neither the client nor its credentials. The parts are those of the state that
            was published when the frame was made, which stays until two more were published. A sync
            that begins later keeps it to its end, however often it publishes.

        Raises:
            ConfigurationError: Nothing was published yet.
            ArchiveError: A published file is missing or damaged; or when the frame is computed, the state that it was
                made of is not there any more, and the frame is to be made again.
            ValueError: As in :meth:`to_geopandas`.
            ImportError: Dask is not installed; ``pip install 'headland[dask]'`` brings it.

        >>> mirror.to_dask(job_type="Yield").groupby("job_id").MOISTURE.mean().compute()
        """
        extras.needed("dask", "dask.dataframe", "dask_geopandas")
        from headland.dask import collection

        box = parts.box(bbox)
        heads, schema = selection(self.folder, job_type, year, columns)
        pieces = parts.pieces(heads, box, ROWS_PER_TASK) or [(parts.NOTHING, None)]
        boxes = [around for _, around in pieces]
        return collection(parts.frame, [piece for piece, _ in pieces], schema, boxes=boxes, bbox=box)

    def publish(self, url: str, *, archives: bool = False, **store_options: Any) -> Publication:
        """Copy what is published here to an object store, for readers elsewhere; they never see half of it.

        What is there already is known by its name and its size, and is not sent again. Of a file that was damaged there
        and is as long as before, readers with headland see it by the checksums: remove it there and publish again.

        Args:
            url: Where to, without credentials: ``s3://bucket/farm``, ``gs://``, ``az://``, ``file:///folder``.
            archives: Whether the archives go along.
            store_options: What ``obstore.store.from_url`` takes, such as ``region=``, ``access_key_id=``,
                ``secret_access_key=``, ``endpoint=``. Without them, obstore takes what the environment says. A folder
                is made where there is none, and folders that become empty are removed: ``mkdir=False`` and
                ``automatic_cleanup=False`` leave that.

        Returns:
            What was done, and where it can be read now.

        Raises:
            ConfigurationError: Nothing was published yet, a file of the mirror is not what its manifest says, the
                mirror of another account is published there, or of one while the journal is missing that says whose
                this is.
            ArchiveError: The manifest or a file is missing, the manifest is damaged, or what there says which state is
                the newest.
            PermissionDenied: The store does not let these credentials write.
            TransportError: The store could not be reached, or refused. What was published there before still stands.
            ValueError: The address is none, holds credentials, leads to no folder of its own (``file:///``,
                ``memory://``), or is that of a folder in a mirror, this or another.
            ImportError: obstore is not installed; ``pip install 'headland[s3]'`` brings it.

        >>> mirror.publish("s3://cooperative/farm", region="us-east-1")
        """
        extras.needed("s3", "obstore")
        from headland.mirror import publish

        url = arguments.text("url", url)
        return publish.publish(self.folder, url, store_options, archives=arguments.flag("archives", archives))


def selection(
    folder: Path,
    job_type: str | Iterable[str] | None,
    year: int | Iterable[int] | None,
    columns: Iterable[str] | None,
) -> tuple[list[parts.Head], pa.Schema]:
    """Read the footers of the parts that are asked for, and give the schema of all their rows."""
    of_kind, wanted = parts.selected(parts.parts(parts.published(folder)), job_type, year)
    heads = _of_one_system([parts.head(part) for part in wanted or of_kind])
    schema = schemas.union(((str(head.part.path), head.schema) for head in heads), columns)
    several = [f"`{name}` ({units})" for name, units in schemas.units(schema).items() if schemas.OR in units]
    if several:
        errors.warn(
            f"columns have several units: {', '.join(several)}; `sql` tells them apart by the column `columns`, "
            "and other job types, years or columns may be of one unit"
        )
    return heads if wanted else [], schema


def _of_one_system(heads: list[parts.Head]) -> list[parts.Head]:
    """Leave parts out that are in other coordinate systems than WGS 84, where there are some in it.

    Those are of systems that are unknown, or that cannot be brought to WGS 84, and one frame has one system.
    """
    systems = {schemas.system(head.schema) for head in heads if head.places}
    if len(systems) <= 1:
        return heads
    others = [head for head in heads if head.places and schemas.system(head.schema) != schemas.WGS84]
    folders = ", ".join(sorted({str(head.part.path.parent) for head in others}))
    if schemas.WGS84 not in systems:
        raise ValueError(
            f"the rows are in {len(systems)} coordinate systems, none of them WGS 84, and one frame has one; "
            f"`geopandas.read_parquet` reads each: {folders}"
        )
    rows = sum(rows for head in others for rows, _ in head.groups)
    errors.warn(
        f"{rows} rows are left out, as their coordinate system is unknown or cannot be brought to WGS 84; "
        f"`geopandas.read_parquet` reads them: {folders}"
    )
    return [head for head in heads if head not in others]
