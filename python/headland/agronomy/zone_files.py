"""Reads zones from files: archives with shapefiles, and files of geopandas."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from headland import archives, errors, extras

if TYPE_CHECKING:
    from headland.layer.table_input import TableLike

ARCHIVES = (".zip", ".shp")
"""Endings by which a text is the path of an archive."""

PARQUET = (".parquet", ".geoparquet")
"""Endings that `geopandas.read_parquet` reads."""

TABLES = (*PARQUET, ".geojson", ".json", ".gpkg", ".fgb")
"""Endings of files that geopandas reads."""


def is_zone_file(value: object) -> TypeGuard[str | os.PathLike[str]]:
    """Return whether a value is the path of a file of zones: a path, or a text with such an ending."""
    is_named = isinstance(value, str) and value.lower().endswith((*ARCHIVES, *TABLES))
    return is_named or isinstance(value, os.PathLike)


def read_zones(path: str | os.PathLike[str]) -> TableLike:
    """Read zones from an archive, or from a file of geopandas.

    Raises:
        ArchiveError: There is no such file, or it cannot be read.
    """
    ending = Path(path).suffix.lower()
    if ending not in TABLES:
        return archives.read(path)
    extras.require("geo", "geopandas")
    import geopandas as gpd

    found = archives.to_core_source(path)
    try:
        frame: TableLike = gpd.read_parquet(found) if ending in PARQUET else gpd.read_file(found)
    except (RuntimeError, ValueError, OSError) as reason:
        # The classes of pyogrio and pyarrow derive from these.
        raise errors.ArchiveError(f"cannot read `{path}`: {reason}") from None
    return frame
