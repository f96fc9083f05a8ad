"""The table of a layer: its columns, rows, statistics and frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NoReturn

from headland import _core, arguments, errors, extras
from headland.layer.display_protocol import Column
from headland.layer.listings import Columns

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator
    from pathlib import Path

    import geopandas as gpd
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from headland.layer.rows import Rows
    from headland.layer.summary import Summary

DtypeBackend = Literal["numpy_nullable", "pyarrow", "numpy"]
"""Kinds of pandas dtypes."""

NUMBER_TYPES = ("Int", "UInt", "Float")
"""Prefixes of Arrow's names of number types."""


_CSV = ": `to_pandas().to_csv(path)` writes it, and `headland read job.zip --to job.csv` with geometries"

INSTEAD = {
    "to_crs": ': read with `headland.read(source, to_crs="EPSG:4326")`, or call `to_geopandas().to_crs(...)`',
    "write_csv": _CSV,
    "to_csv": _CSV,
    "map": ": `plot(column)` draws it",
    "save": ": `write_parquet(path)` writes the rows, `plot(column).save(path)` a map",
}
"""What to use instead of attributes that users expect."""


class TableMethods:
    """The table of a layer, and rasters of it; ``Layer`` adds the map, the origin and the files."""

    __slots__ = ("_core",)

    def __init__(self, core: _core.Layer) -> None:
        self._core = core

    @property
    def columns(self) -> list[str]:
        """Names of the columns in order, including the geometry column."""
        return self._core.columns

    @property
    def units(self) -> dict[str, str]:
        """The unit of each column of numbers, ``"unknown"`` if not stated; also of other columns with a unit.

        Archives state units by column name, so columns with the same name have the same unit.
        """
        return dict(self._core.units)

    @property
    def provenance(self) -> list[dict[str, str | float | None]]:
        """Where each canonical column of a harmonised layer comes from; empty for other layers.

        Each dict has `column`, `source` (the original column, or the columns that a computed one follows from), `rule`
        (how it was found), and where they apply `unit`, `unit_in`, `factor`, `evidence`, `quantity`, `moisture_basis`
        (percent of water) and `kg_per_bushel`. An original column whose unit is unknown has no canonical column: its
        `factor` is ``None``.

        >>> headland.harmonize(headland.read("job.zip")).provenance[0]
        """
        return self._core.provenance

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            """Raise an error that names the column or a similar attribute."""
            from headland.suggestions import missing_attribute

            is_column = not name.startswith("_") and name in self
            hint = f': the column is `layer["{name}"]`' if is_column else INSTEAD.get(name, "")
            raise missing_attribute(
                self, name, hint=hint, other="; `to_pandas()` and `to_geopandas()` return frames, which have more"
            )

    def describe(self) -> list[Column]:
        """Return name, type and null count of each column."""
        return Columns(Column(*column) for column in self._core.describe())

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self._core)

    def values(self, column: str) -> list[Any]:
        """Return the cells of one column as Python values, without any other package; null is ``None``.

        Raises:
            ValueError: There is no column with this name, or several. Select one of several by position:
                ``to_arrow().column(index)``.
        """
        return self._core.values(arguments.text("column", column))

    def __getitem__(self, column: str) -> list[Any]:
        """Return the cells of one column, as ``values(column)``.

        Args:
            column: The name of a column.

        Returns:
            A list of Python values; null is ``None``.

        Raises:
            KeyError: There is no column with this name; the message suggests a similar one.
            ValueError: Several columns have this name.
            TypeError: A position or a slice: ``head(n)`` returns rows.

        >>> moisture = headland.read("job.zip")["MOISTURE"]
        """
        if not isinstance(column, str):
            raise TypeError(
                f"a layer takes the name of a column, got {type(column).__name__}; `head(n)` returns the first n rows"
            )
        try:
            return self.values(column)
        except ValueError:
            if column in self:
                raise
            from headland.layer.columns import missing_column

            raise KeyError(missing_column(self, column)) from None

    def __contains__(self, column: object) -> bool:
        """Return whether there is a column with this name, as ``layer[column]`` finds it.

        Args:
            column: The name of a column.

        Returns:
            Whether there is one or several.

        Raises:
            TypeError: It is no text: layers do not search their rows.

        >>> "MOISTURE" in headland.read("job.zip")
        """
        if not isinstance(column, str):
            raise TypeError(f"`in` takes the name of a column, got {type(column).__name__}")
        return column in self._core

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Iterate over the rows in file order, as dicts.

        Returns:
            Rows as in ``head``; 10,000 rows at a time are converted.

        >>> crops = {row["CROP"] for row in headland.read("job.zip")}
        """
        from headland.layer.rows import rows

        return rows(self._core)

    def head(self, n: int = 5) -> Rows:
        """Return the first rows, as a table in notebooks.

        Args:
            n: Maximum number of rows.

        Returns:
            A list of dicts with the cells as in ``values``, without the geometry: ``values("geometry")`` returns it as
            well-known binary, ``__geo_interface__`` as GeoJSON. Of columns with the same name, the later ones have a
            number as suffix.

        Raises:
            ValueError: `n` is negative.
            TypeError: `n` is no whole number.

        >>> headland.read("job.zip").head(3)
        """
        from itertools import islice

        from headland.layer.columns import ordered_columns
        from headland.layer.rows import Rows, rows

        count = arguments.whole_number("n", n, 0)
        first = [column.name for column in ordered_columns(self)[0]]
        return Rows(islice(rows(self._core), count), self.units, first)

    def summary(self) -> Summary:
        """Return statistics of each column of numbers: count, mean, extremes, quantiles and unit.

        Returns:
            One ``ColumnSummary`` for each column, as a table in consoles and notebooks; ``to_pandas()`` makes a frame.
            Nulls and NaN are not counted. Quantiles are interpolated linearly, as by numpy and pandas. Means are those
            of rows: a field's mean yield is that of ``headland.field_means``.

        >>> print(headland.read("job.zip").summary())
        """
        from headland.layer.summary import Summary, summarize

        units = self.units
        return Summary(
            summarize(column.name, units[column.name], self._core.cells(index))
            for index, column in enumerate(self.describe())
            if column.type.startswith(NUMBER_TYPES)
        )

    @property
    def bounds(self) -> tuple[float, float, float, float] | None:
        """The bounding box (west, south, east, north) in the layer's own coordinates; ``None`` without geometries.

        Geometries that GEOS rejects are not in it, with a warning.

        Raises:
            ImportError: pyarrow or shapely is not installed; ``pip install 'headland[geo]'`` installs both.

        >>> west, south, east, north = headland.read("job.zip").bounds
        """
        geometry = self._core.geometry_column
        if geometry is None or len(self) == 0:
            return None
        extras.require("geo", "pyarrow", "shapely")
        from headland.layer.frames import total_bounds

        return total_bounds(self.to_arrow().column(geometry))

    def to_arrow(self) -> pa.Table:
        """Return a pyarrow table, which shares the memory."""
        extras.require("geo", "pyarrow")
        import pyarrow as pa

        return pa.table(self)

    def to_geopandas(self, dtype_backend: DtypeBackend | None = None) -> gpd.GeoDataFrame:
        """Return a geopandas frame with the layer's rows, columns, coordinate system and units.

        Args:
            dtype_backend: ``None`` selects the dtypes that geopandas and statistics packages expect: numbers are
                ``float64``, ``int32`` and ``int64``, booleans ``bool``, dates and times ``datetime64[us]``, times in
                UTC ``datetime64[us, UTC]``, texts ``str`` in pandas 3 and ``object`` in pandas 2. Only an integer or
                boolean column with nulls is nullable (``Int32``, ``Int64``, ``boolean``). So dtypes depend on the
                values, also those of two batches; the others depend on the Arrow types alone. ``"numpy_nullable"``
                makes each column nullable (``Int32``, ``Float64``, ...), ``"pyarrow"`` keeps the Arrow types and
                shares their memory, ``"numpy"`` makes floats of integers with nulls. Dates are ``datetime.date``
                objects in the first and the last of the three, Arrow dates in ``"pyarrow"``.

        Returns:
            A ``geopandas.GeoDataFrame`` with coordinates in the layer's own system and its units. ``frame.crs`` is
            ``EPSG:n`` if the code is certain and the .prj adds no datum shift, ``None`` if it is unknown.
            ``frame.attrs["units"]`` maps columns to their known units. Null geometries are ``None``, null numbers
            ``NaN``. A layer without geometry becomes a frame without a geometry column. Columns with the same name keep
            their own values and types: select one with ``frame.iloc[:, index]``.

        Raises:
            ImportError: geopandas or pyarrow is not installed; ``pip install 'headland[geo]'`` installs both.
            ValueError: ``dtype_backend`` has another value.

        >>> frame = headland.read("job.zip").to_geopandas()
        >>> frame.to_crs(frame.estimate_utm_crs()).area.sum()
        """
        extras.require("geo", "geopandas", "pyarrow")
        from headland.layer.frames import pandas_options, to_geo_frame

        options = None if dtype_backend is None else pandas_options(dtype_backend)
        return to_geo_frame(self.to_arrow(), self._core.geometry_column, options)

    def to_pandas(self, dtype_backend: DtypeBackend | None = None) -> pd.DataFrame:
        """Return a pandas frame with the layer's rows, columns and units, without the geometry.

        Args:
            dtype_backend: As in ``to_geopandas``, which keeps the geometry.

        Returns:
            A ``pandas.DataFrame``; ``frame.attrs["units"]`` maps columns to their known units.

        Raises:
            ImportError: pandas or pyarrow is not installed; ``pip install 'headland[geo]'`` installs both.
            ValueError: ``dtype_backend`` has another value.

        >>> headland.read("job.zip").to_pandas().describe()
        """
        extras.require("geo", "pandas", "pyarrow")
        from headland.layer.frames import pandas_options, to_frame

        options = None if dtype_backend is None else pandas_options(dtype_backend)
        table, geometry = self.to_arrow(), self._core.geometry_column
        return to_frame(table if geometry is None else table.drop_columns(geometry), options)

    def to_polars(self) -> pl.DataFrame:
        """Return a polars frame with the layer's rows and columns; the geometry is well-known binary.

        Returns:
            A ``polars.DataFrame``. Of columns with the same name, the later ones have a number as suffix. polars stores
            neither units nor coordinate systems: see ``units`` and ``crs``.

        Raises:
            ImportError: polars or pyarrow is not installed; ``pip install 'headland[polars]'`` installs both.

        >>> headland.read("job.zip").to_polars().group_by("CROP").len()
        """
        extras.require("polars", "polars", "pyarrow")
        from headland.layer.frames import to_polars

        return to_polars(self._core.distinct_columns, self.to_arrow())

    def write_geotiff(self, path: str | os.PathLike[str], column: str) -> Path:
        """Write a column of square cells, such as those of ``headland.grid``, as a GeoTIFF with a style for QGIS.

        Args:
            path: The file, with the extension ``.tif`` or ``.tiff``. It replaces an existing one. The style has the
                classes and colours of ``plot(column)``; it is the ``.qml`` file of the same name, which QGIS applies.
                Both files appear, or neither.
            column: A column of numbers.

        Returns:
            The path. The raster has the system and the cells of the layer, each with the value of its row as a 64-bit
            float. Cells without a row or a value have no data (NaN). The band is described by the column and its unit.

        Raises:
            ValueError: The rows are no squares of one lattice, several have one cell, such as those of ``by``, the
                column contains no numbers, the coordinate system is unknown, or `path` has another extension.
            HeadlandError: A file cannot be written, statistics of GDAL of an earlier raster cannot be removed, or the
                ``.qml`` file was not written by headland, such as one saved in QGIS (it is an ``OSError`` too).

        >>> headland.grid(headland.clean(harvest), 10.0).write_geotiff("yield.tif", "yield_dry")
        """
        target = arguments.path("path", path)
        if target.suffix.lower() not in {".tif", ".tiff"}:
            raise ValueError(f"`path`: a GeoTIFF has the extension `.tif` or `.tiff`, got `{target.name}`")
        _core.write_geotiff(self._core, target, arguments.text("column", column))
        # Statistics and overviews that GDAL keeps in files of their own are those of the raster before.
        for stale in (target.with_name(target.name + ending) for ending in (".aux.xml", ".ovr")):
            try:
                stale.unlink(missing_ok=True)
            except OSError as cause:
                raise errors.from_os("File", f"cannot remove `{stale}`, which is of the raster before", cause) from None
        return target
