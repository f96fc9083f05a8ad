"""Lists of device locations, which are also maps."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from headland import _core, extras
from headland.client.pages import AsyncPages, Pages
from headland.display.quantities import iso_text
from headland.records import DeviceLocation

if TYPE_CHECKING:
    from collections.abc import Mapping

WGS_84 = "EPSG:4326"


class LocationPages(Pages[DeviceLocation]):
    """A lazy list of locations, which is also a map: points of longitude and latitude in WGS 84.

    A record has no point if it marks its position as invalid, if the GPS had no fix (no time stamp), or if its
    coordinates are missing or out of range.

    >>> track = client.field_hubs.locations(hub_id).to_geopandas()
    """

    __slots__ = ()

    @property
    def __geo_interface__(self) -> dict[str, Any]:
        """The list as a GeoJSON FeatureCollection: a feature for each record, with times as ISO 8601 texts."""
        return {"type": "FeatureCollection", "features": [_feature(record) for record in self]}

    def to_geopandas(self, dtype_backend: str = "numpy_nullable") -> Any:
        """Read the whole list into a ``geopandas.GeoDataFrame`` in EPSG:4326; `dtype_backend` as in ``to_pandas``."""
        extras.require("geo", "geopandas", "pyarrow")
        from headland.layer.frames import pandas_options

        return _frame(self.to_arrow(), pandas_options(dtype_backend))


class AsyncLocationPages(AsyncPages[DeviceLocation]):
    """A lazy list of locations for ``async for``; ``await pages.to_geopandas()`` returns it as a map."""

    __slots__ = ()

    async def to_geopandas(self, dtype_backend: str = "numpy_nullable") -> Any:
        """Read the whole list into a ``geopandas.GeoDataFrame`` in EPSG:4326; `dtype_backend` as in ``to_pandas``."""
        extras.require("geo", "geopandas", "pyarrow")
        from headland.layer.frames import pandas_options

        options = pandas_options(dtype_backend)
        return _frame(await self.to_arrow(), options)


def _feature(record: Mapping[str, Any]) -> dict[str, Any]:
    latitude, longitude = record.get("lat"), record.get("lon")
    is_placed = _core.has_position(record.get("valid"), record.get("gps_date_time") is not None, latitude, longitude)
    return {
        "type": "Feature",
        "id": record.get("id"),
        "geometry": {"type": "Point", "coordinates": [longitude, latitude]} if is_placed else None,
        "properties": {name: _plain(value) for name, value in record.items()},
    }


def _plain(value: object) -> object:
    return iso_text(value) if isinstance(value, dt.datetime) else value


def _frame(table: Any, options: dict[str, Any]) -> Any:
    import geopandas as gpd
    import numpy as np
    import shapely

    from headland.layer.frames import to_frame, with_units

    columns = table["valid"], table["gps_date_time"].is_valid(), table["lat"], table["lon"]
    is_placed = np.fromiter(map(_core.has_position, *(column.to_pylist() for column in columns)), bool)
    longitude, latitude = (table[name].to_numpy() for name in ("lon", "lat"))
    points = np.full(len(is_placed), None, dtype=object)
    points[is_placed] = shapely.points(longitude[is_placed], latitude[is_placed])
    frame = gpd.GeoDataFrame(to_frame(table, options), geometry=points, crs=WGS_84, copy=False)
    return with_units(frame, table.schema)
