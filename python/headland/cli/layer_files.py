"""Writes a layer to a file in the format of its extension, for the verb ``read``."""

from __future__ import annotations

import errno
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headland import extras, files

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    import headland as hl


def text_frame(layer: hl.Layer) -> pd.DataFrame:
    """Return the cells of a table of texts: geometries are well-known text with all digits."""
    extras.require("geo", "geopandas", "pyarrow")
    frame = layer.to_geopandas()
    is_table = layer._core.geometry_column is None  # noqa: SLF001 - a layer of this package
    return frame if is_table else frame.to_wkt(rounding_precision=-1)


def _write_csv(layer: hl.Layer, path: Path) -> None:
    """Write cells as texts, and null as an empty one."""
    frame = text_frame(layer)
    with files.replacing(path) as file:
        frame.to_csv(file, index=False)


def fill_geopackage(rows: hl.Layer, path: Path, **options: Any) -> None:
    """Write rows by the driver of GeoPackage. Its errors have no numbers of the system; most are of the disk."""
    extras.require("geo", "geopandas", "pyogrio", "pyarrow")
    import pyogrio

    try:
        pyogrio.write_dataframe(rows.to_geopandas(), path, driver="GPKG", **options)
    except RuntimeError as cause:
        raise OSError(errno.EIO, str(cause)) from None


def _write_geopackage(layer: hl.Layer, path: Path) -> None:
    # A GeoPackage is a database, which its driver creates under a name with this extension.
    with tempfile.TemporaryDirectory() as folder, files.replacing(path) as file:
        made = Path(folder, path.name)
        fill_geopackage(layer, made, layer=layer.name)
        file.write(made.read_bytes())


def _write_map(layer: hl.Layer, path: Path) -> None:
    layer.plot().save(path)


def writer(path: Path) -> Callable[[hl.Layer], object]:
    """Return what writes a layer to a path; an extension without a format is an error."""
    formats: dict[str, Callable[[hl.Layer, Path], object]] = {
        ".parquet": lambda layer, path: layer.write_parquet(path),
        ".geojson": lambda layer, path: layer.write_geojson(path),
        ".json": lambda layer, path: layer.write_geojson(path),
        ".csv": _write_csv,
        ".gpkg": _write_geopackage,
        ".svg": _write_map,
    }
    write = formats.get(path.suffix.lower())
    if write is None:
        raise ValueError(f"`--to`: expected a name that ends in .parquet, .geojson, .csv, .gpkg or .svg, got `{path}`")
    return lambda layer: write(layer, path)
