"""Shows a layer on an interactive map, with lonboard or folium."""

from __future__ import annotations

import datetime as dt
import html
import importlib.util
import math
from typing import TYPE_CHECKING, Any

from headland import errors
from headland.display.escaping import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from headland.layer.display_protocol import ShownLayer

RAMP = ("#440154", "#3b528b", "#21918c", "#5ec962", "#fde725")
"""Viridis, for the legend: the colours of records are those of `plot`."""

COLOUR = "headland:colour"
"""Name of the colour among the values of a record."""

MAX_FEATURES = 20_000
"""A browser shows more features slowly with folium, so a larger layer is thinned evenly."""

HALF_TURN = 180.0
"""Degrees of longitude beyond which a layer may be narrower around the antimeridian."""

MAX_FIELDS = 12
"""Columns shown on hovering, the mapped one first."""


def explore(layer: ShownLayer, column: str | None) -> Any:
    """Return the map of the library that is installed, lonboard first."""
    if len(layer) == 0 or layer.bounds is None:
        raise ValueError(f"layer `{layer.name}` has no coordinates, so there is nothing to show")
    if layer.crs is None:
        raise ValueError(
            f"the coordinate system of layer `{layer.name}` is unknown, so it has no place on a map; "
            '`plot(crs="as-is")` draws it'
        )
    shown, colours, limits = layer._core.colours(column)  # noqa: SLF001 - of this package
    if importlib.util.find_spec("lonboard") is not None:
        return _lonboard(layer, colours)
    if importlib.util.find_spec("folium") is not None:
        return _folium(layer, shown, colours, limits)
    message = "this needs folium or lonboard: `pip install 'headland[explore]'`"
    raise ImportError(message)


def _label(layer: ShownLayer, column: str) -> str:
    unit = layer.units.get(column)
    return f"{column} ({unit})" if unit else column


def _lonboard(layer: ShownLayer, colours: list[str]) -> Any:
    import lonboard
    import numpy as np
    import shapely

    frame = layer.to_geopandas()
    # Positions whose Z is not a number would be lost.
    frame = frame.set_geometry(frame.force_2d()).to_crs("OGC:CRS84")
    vertices = shapely.get_coordinates(frame.geometry)
    if _is_around_antimeridian(vertices[:, 0]):
        frame = frame.set_geometry(shapely.transform(frame.geometry.array, _continued))
    geometry = frame.geometry.name
    # Names that occur twice have a number here; that of the geometry occurs once.
    frame.columns = layer._core.distinct_columns  # noqa: SLF001 - of this package
    frame = frame.set_geometry(geometry)
    has_geometry = frame.geometry.notna().to_numpy()
    rgb = np.array([tuple(bytes.fromhex(colour[1:])) for colour in colours], dtype=np.uint8).reshape(-1, 3)[
        has_geometry
    ]
    units = {name: f"{name} ({unit})" for name, unit in layer.units.items() if unit}
    frame = frame[has_geometry].rename(columns=units)
    kinds = frame.geom_type
    layers: list[Any] = []
    for wanted, make, options in (
        (("Polygon", "MultiPolygon"), lonboard.PolygonLayer, {"get_fill_color": None, "stroked": False}),
        (("LineString", "MultiLineString"), lonboard.PathLayer, {"get_color": None, "width_min_pixels": 2}),
        (("Point", "MultiPoint"), lonboard.ScatterplotLayer, {"get_fill_color": None, "radius_min_pixels": 2}),
    ):
        of_kind = kinds.isin(wanted).to_numpy()
        if of_kind.any():
            given = {name: rgb[of_kind] if value is None else value for name, value in options.items()}
            layers.append(make.from_geopandas(frame[of_kind], pickable=True, **given))
    return lonboard.Map(layers)


def _is_around_antimeridian(longitudes: np.ndarray[Any, Any]) -> bool:
    """Whether longitudes from 0 to 360 degrees are in less than half the width of those from -180 to 180."""
    import numpy as np

    known = longitudes[np.isfinite(longitudes)]
    if len(known) == 0 or np.ptp(known) <= HALF_TURN:
        return False
    return bool(np.ptp(known % (2 * HALF_TURN)) * 2 < np.ptp(known))


def _continued(vertices: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return vertices with longitudes from 0 to 360 degrees."""
    vertices[:, 0] %= 2 * HALF_TURN
    return vertices


def _positions(coordinates: list[Any]) -> Iterator[list[Any]]:
    """Yield each position of GeoJSON coordinates."""
    if coordinates and isinstance(coordinates[0], list):
        for part in coordinates:
            yield from _positions(part)
    elif coordinates:
        yield coordinates


def _continue(features: list[dict[str, Any]]) -> None:
    """Move the features of a layer around the antimeridian to longitudes from 0 to 360 degrees."""
    import numpy as np

    positions = [
        position
        for feature in features
        for geometry in feature["geometry"].get("geometries", [feature["geometry"]])
        for position in _positions(geometry["coordinates"])
    ]
    if _is_around_antimeridian(np.array([position[0] for position in positions])):
        for position in positions:
            position[0] %= 2 * HALF_TURN


def _folium(layer: ShownLayer, column: str | None, colours: list[str], limits: tuple[float, float] | None) -> Any:
    import branca.colormap
    import folium

    collection = layer.__geo_interface__
    features = collection["features"]
    for feature, colour in zip(features, colours, strict=True):
        feature["properties"] = {name: _shown(value) for name, value in feature["properties"].items()}
        feature["properties"][COLOUR] = colour
    features = [feature for feature in features if feature["geometry"] is not None]
    _continue(features)
    step = max(math.ceil(len(features) / MAX_FEATURES), 1)
    if step > 1:
        shown = len(features[::step])
        errors.warn(f"the map shows {shown:,} of {len(features):,} records; with lonboard installed, it shows all")
    geometry = layer._core.geometry_column  # noqa: SLF001 - the package's own core
    others = [name for name in layer.columns if name not in (column, geometry)]
    fields = [*([] if column is None else [column]), *others][:MAX_FIELDS]
    made = folium.Map(tiles="OpenStreetMap", max_zoom=22, control_scale=True)
    shapes = folium.GeoJson(
        {"type": "FeatureCollection", "features": features[::step]},
        name=layer.name,
        marker=folium.CircleMarker(radius=4, fill=True, fill_opacity=0.8),
        style_function=lambda feature: {
            "color": feature["properties"][COLOUR],
            "fillColor": feature["properties"][COLOUR],
            "weight": 1,
            "fillOpacity": 0.7,
        },
        tooltip=folium.GeoJsonTooltip(fields, [_shown(_label(layer, name)) for name in fields]) if fields else None,
    )
    shapes.add_to(made)
    if column is not None and limits is not None:
        low, high = limits
        branca.colormap.LinearColormap(RAMP, vmin=low, vmax=high, caption=_label(layer, column)).add_to(made)
    if features:
        made.fit_bounds(shapes.get_bounds())
    return made


def _shown(value: object) -> object:
    """Return a value for a tooltip, whose texts folium inserts into the page as markup."""
    if value is None or isinstance(value, bool | int | float):
        return value
    return html.escape(printable(value.isoformat() if isinstance(value, dt.date | dt.time) else str(value)))
