"""Shows a layer on an interactive map, with lonboard or folium."""

from __future__ import annotations

import datetime as dt
import html
import importlib.util
import math
from typing import TYPE_CHECKING, Any

from headland import errors
from headland.escaping import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headland.layer import Layer

RAMP = ("#440154", "#3b528b", "#21918c", "#5ec962", "#fde725")
"""Viridis, as in the pictures."""

CLASSES = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#ee8866", "#44bb99")
MISSING = "#c4c4c0"

COLOUR = "headland:colour"
"""Name of the colour among the values of a record."""

MAX_FEATURES = 20_000
"""A browser shows more features slowly with folium, so a larger layer is thinned evenly."""

MAX_FIELDS = 12
"""Columns shown on hovering, the mapped one first."""


def explore(layer: Layer, column: str | None) -> Any:
    """Return the map of the library that is installed, lonboard first."""
    if len(layer) == 0 or layer.bounds is None:
        raise ValueError(f"layer `{layer.name}` has no coordinates, so there is nothing to show")
    if layer.crs is None:
        raise ValueError(
            f"the coordinate system of layer `{layer.name}` is unknown, so it has no place on a map; "
            '`plot(crs="as-is")` draws it'
        )
    values: Sequence[Any] = [None] * len(layer) if column is None else layer.values(column)
    if importlib.util.find_spec("lonboard") is not None:
        return _lonboard(layer, _colours(values))
    if importlib.util.find_spec("folium") is not None:
        return _folium(layer, column, values)
    message = "this needs folium or lonboard: `pip install 'headland[explore]'`"
    raise ImportError(message)


def _colours(values: Sequence[Any]) -> list[str]:
    """Return the colour of each value: a ramp of numbers between the 2 % and 98 % quantiles, else classes."""
    numbers = [value for value in values if _is_number(value)]
    if not numbers:
        classes = {value: index for index, value in enumerate(dict.fromkeys(values)) if value is not None}
        return [MISSING if value is None else CLASSES[classes[value] % len(CLASSES)] for value in values]
    low, high = _limits(numbers)
    return [_ramp_colour((value - low) / (high - low)) if _is_number(value) else MISSING for value in values]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _limits(numbers: list[float]) -> tuple[float, float]:
    ordered = sorted(numbers)
    cut = len(ordered) // 50
    low, high = ordered[cut], ordered[-1 - cut]
    return (low, high) if low < high else (ordered[0], max(ordered[-1], ordered[0] + 1))


def _ramp_colour(share: float) -> str:
    place = min(max(share, 0.0), 1.0) * (len(RAMP) - 1)
    index = min(int(place), len(RAMP) - 2)
    parts = zip(_channels(RAMP[index]), _channels(RAMP[index + 1]), strict=True)
    return "#" + "".join(f"{round(low + (high - low) * (place - index)):02x}" for low, high in parts)


def _channels(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour[1:]))


def _label(layer: Layer, column: str) -> str:
    unit = layer.units.get(column)
    return f"{column} ({unit})" if unit else column


def _lonboard(layer: Layer, colours: list[str]) -> Any:
    import lonboard
    import numpy as np

    frame = layer.to_geopandas().to_crs("OGC:CRS84")
    geometry = frame.geometry.name
    # Names that occur twice have a number here; that of the geometry occurs once.
    frame.columns = layer._core.distinct_columns  # noqa: SLF001 - of this package
    frame = frame.set_geometry(geometry)
    has_geometry = frame.geometry.notna().to_numpy()
    rgb = np.array([_channels(colour) for colour in colours], dtype=np.uint8).reshape(-1, 3)[has_geometry]
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


def _folium(layer: Layer, column: str | None, values: Sequence[Any]) -> Any:
    import branca.colormap
    import folium

    collection = layer.__geo_interface__
    features = collection["features"]
    colours = _colours(values)
    for feature, colour in zip(features, colours, strict=True):
        feature["properties"] = {name: _shown(value) for name, value in feature["properties"].items()}
        feature["properties"][COLOUR] = colour
    features = [feature for feature in features if feature["geometry"] is not None]
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
    numbers = [value for value in values if _is_number(value)]
    if column is not None and numbers:
        low, high = _limits(numbers)
        branca.colormap.LinearColormap(RAMP, vmin=low, vmax=high, caption=_label(layer, column)).add_to(made)
    if features:
        made.fit_bounds(shapes.get_bounds())
    return made


def _shown(value: object) -> object:
    """Return a value for a tooltip, whose texts folium inserts into the page as markup."""
    if value is None or isinstance(value, bool | int | float):
        return value
    return html.escape(printable(value.isoformat() if isinstance(value, dt.date | dt.time) else str(value)))
