"""Prescriptions: zones and rates as the shapefile that displays accept."""

from __future__ import annotations

import html
import math
import numbers
import re
import struct
import unicodedata
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from headland import _core, arguments, extras
from headland.agronomy.rate_totals import RateTotal, Totals
from headland.argument_hints import UNIT, explained
from headland.files import replacing
from headland.layer.layer import Diagnostic, Layer
from headland.layer.listings import Diagnostics
from headland.layer.table_input import TableLike, as_layer
from headland.suggestions import Suggesting

if TYPE_CHECKING:
    import os
    from pathlib import Path

LONGEST_NAME = 20
"""Most characters of the name of the written files."""

LONGEST_TEXT = 254
"""Most bytes of a text in a .dbf."""

MOST_RATE = 1e12
"""No machine applies so much, and a .dbf could not hold more."""

WGS84 = "EPSG:4326"

LEAST_REST = 1e-10
"""Smallest piece of a boundary that gets the default rate, in square degrees: about 1 m²."""

MOST_DEGREES = 180
"""Most degrees of longitude of a field; a wider one is across the antimeridian."""


LEAST_INSIDE = 1e-3
"""Part of the zones that is inside of the boundary of another field at most."""


class Prescription(Suggesting):
    """Zones and rates, written as the shapefile that displays and the service accept.

    Zones are transformed to WGS 84 and rounded to 7 decimals, neighbours with one rate become one zone, and neighbours
    share all their vertices, so that there is no gap and no overlap between them. Rates that are written alike, with at
    most 6 decimals, are one. Zones across the antimeridian are cut there (RFC 7946, section 3.1.9). Spikes and sides
    that parts of a zone share are removed; other rings that `is_valid` of shapely refuses are errors of `diagnostics`.

    Args:
        zones: Polygons: a layer, a result of `headland.grid`, a GeoDataFrame, or an Arrow table or stream.
        rate: The name of a column of rates, one number for all zones, or a mapping of value of the column ``zone`` to
            rate. Zones may be numbers or texts: 1, 1.0 and ``"1"`` are one zone.
        unit: The unit of the rates, an amount per hectare or acre, such as ``"kg/ha"``, ``"L/ha"`` or ``"seeds/ac"``.
        step: Rates become multiples of it, such as those that the machine can apply.
        default: A rate for the ground of `boundary` without a zone. It needs the extra ``geo``.
        boundary: Polygons of the field, with which the zones are compared.
        min_area: Ground of one rate below this area in m² gets the rate of the neighbour with the longest shared edge.
        product: The product, which is written in the column ``PRODUCT``.
        name: The name of the files. It becomes ASCII of at most 20 characters.
        display: ``"FieldView"``, ``"Raven CRX+"``, ``"Seed Hawk"`` or ``"Agrotax"``: its documented limits are checked
            too.

    Raises:
        TypeError: An argument has another type.
        ValueError: A row has no polygon, no finite coordinates or no finite rate, the coordinate system is unknown, a
            column is missing, or the zones state another unit.

    >>> rx = headland.Prescription(zones, "nitrogen", unit="kg/ha", step=5)
    >>> rx.write("north.zip")
    """

    __slots__ = ("_core", "_name", "_unit", "_unused")

    _instead: ClassVar = {"save": "`write(path)` writes the zip", "plot": '`rx.layer.plot("RATE")` draws the rates'}
    _table = "rx.layer"
    _table_class = Layer

    @explained(UNIT)
    def __init__(
        self,
        zones: TableLike,
        rate: str | float | Mapping[Any, float],
        *,
        unit: str,
        step: float | None = None,
        default: float | None = None,
        boundary: TableLike | None = None,
        min_area: float | None = None,
        product: str | None = None,
        name: str | None = None,
        display: str | None = None,
    ) -> None:
        layer = as_layer("zones", zones, rate=_column(rate))
        self._unit = arguments.text("unit", unit, '"kg/ha"')
        _core.amount_unit(self._unit)
        if isinstance(rate, str):
            _check_unit(layer, rate, self._unit)
        rates, self._unused = _rates(layer, rate)
        around = None if boundary is None else as_layer("boundary", boundary)
        if default is not None:
            layer, rates = _with_rest(layer, rates, around, _number("default", default))
        self._name = _file_name("prescription" if name is None else arguments.text("name", name))
        self._core = _core.make_prescription(
            layer._core,  # noqa: SLF001 - a layer of this package
            rates,
            self._unit,
            self._name,
            _product(product),
            _positive("step", step),
            _positive("min_area", min_area),
            None if around is None else around._core,  # noqa: SLF001 - a layer of this package
            None if display is None else arguments.text("display", display, '"FieldView"'),
        )

    @property
    def name(self) -> str:
        """The name of the written files, without extension."""
        return self._name

    @property
    def unit(self) -> str:
        """The unit of the rates."""
        return self._unit

    @property
    def layer(self) -> Layer:
        """The zones as written, with ``RATE``, ``PRODUCT`` and ``UNIT``."""
        return Layer(self._core.layer)

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """What a display would refuse or misread, and what was changed; errors first. ``record`` is a row."""
        return Diagnostics([*(Diagnostic(**each) for each in self._core.diagnostics), *self._unused])

    @property
    def totals(self) -> Totals:
        """Hectares and product for each rate and in all, of the polygons as written.

        Areas are those between geodesics on WGS 84, as ``pyproj.Geod`` computes them: within 1e-9 for sides up to
        50 km.
        """
        rates, area, amount, unit = self._core.totals
        return Totals([RateTotal(*total) for total in rates], area, amount, unit)

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the zip and return its path.

        Args:
            path: A name that ends in ``.zip``. An existing file is replaced, as by all methods that write. The same
                input gives the same bytes.

        Raises:
            ValueError: The name has another ending.
            HeadlandError: The file cannot be written.

        >>> rx.write("north.zip")
        """
        target = arguments.path("path", path)
        if target.suffix.lower() != ".zip":
            raise ValueError(f"`path`: expected a name that ends in .zip, got `{target}`")
        with replacing(target) as file:
            file.write(bytes(self))
        return target

    def __bytes__(self) -> bytes:
        """Return the zip."""
        return self._core.to_bytes()

    def __repr__(self) -> str:
        """Return zones, ground and product in one line, with the number of errors and warnings."""
        return f"<headland.Prescription {self._name!r}: {_sentence(self)}>"

    def _repr_html_(self) -> str:
        """Return the map, the totals and the diagnostics, for notebooks."""
        totals = self.totals
        rows = "".join(
            f"<tr><td>{each.rate:g}</td><td>{each.zones:,}</td><td>{each.area:,.2f}</td><td>{each.amount:,.0f}</td></tr>"
            for each in totals.rates
        )
        unit, amount = html.escape(self._unit), html.escape(totals.unit)
        found = "".join(
            f"<li>{each.severity} <code>{each.code}</code> {html.escape(each.message)}</li>"
            for each in self.diagnostics
        )
        return (
            f"<div>{self.layer.plot('RATE').svg}<p>{html.escape(_sentence(self))}</p>"
            f"<table><tr><th>rate, {unit}</th><th>zones</th><th>area, ha</th><th>amount, {amount}</th></tr>"
            f"{rows}</table>"
            f"{f'<ul>{found}</ul>' if found else ''}</div>"
        )


def _sentence(rx: Prescription) -> str:
    totals, found = rx.totals, [str(each.severity) for each in rx.diagnostics]
    count = sum(each.zones for each in totals.rates)
    zones = f"{count:,} zone{'' if count == 1 else 's'} with {len(totals.rates):,} rate{'s'[: len(totals.rates) > 1]}"
    parts = [zones, f"{totals.area:,.2f} ha", f"{totals.amount:,.0f} {totals.unit}"]
    counted = [(found.count(severity), severity) for severity in ("error", "warning")]
    parts += [f"{count} {severity}{'s'[: count > 1]}" for count, severity in counted if count]
    return ", ".join(parts)


def _rates(layer: Layer, rate: object) -> tuple[list[float], list[Diagnostic]]:
    """Return one finite rate for each row, and what is to be said about them."""
    if isinstance(rate, str):
        return [_finite(row, rate, value) for row, value in enumerate(layer.values(rate))], []
    if isinstance(rate, Mapping):
        return _rates_of_zones(layer, rate)
    return [_number("rate", rate)] * len(layer), []


def _column(rate: object) -> str:
    """Return the name of the column that a rate needs; other columns do not matter."""
    return rate if isinstance(rate, str) else "zone" if isinstance(rate, Mapping) else ""


def _number(name: str, value: object) -> float:
    """Return one rate for all zones, or for the rest of the field."""
    if not arguments.is_single(value):
        raise TypeError(
            f"`{name}`: expected one number, got {type(value).__name__}; make the rates of zones a column, "
            '`zones.assign(RATE=...)`, and pass its name, `rate="RATE"`'
        )
    number = arguments.finite_number(name, value)
    if abs(number) >= MOST_RATE:
        raise ValueError(f"`{name}`: {number:g} is a rate that no machine applies; check the unit")
    return _as_written(number)


def _check_unit(layer: Layer, rate: str, unit: str) -> None:
    """Refuse a unit that another one of the column contradicts: its own, or those of a column `UNIT` beside it."""
    column, texts = _core.stated_units(layer._core) or ("", [])  # noqa: SLF001 - a layer of this package
    for other in sorted({layer.units.get(rate, "unknown"), *texts}):
        if _is_other(other, unit):
            raise ValueError(
                f"`unit`: the rates of column `{rate}` are in {other}, not in {unit}; pass `unit={other!r}`, or "
                "convert the rates first"
            )
    if len(texts) > 1:
        raise ValueError(
            f"`zones`: column `{column}` states several units: {', '.join(map(repr, texts))}; convert all and drop it"
        )


def _is_other(stated: str, unit: str) -> bool:
    """Return whether rates in the stated unit are others in `unit`; an unknown spelling contradicts nothing."""
    try:
        is_other_amount = _core.amount_unit(stated) != _core.amount_unit(unit)
    except ValueError:
        return False
    return is_other_amount or _core.conversion_factor(stated, unit) is not None


def _rates_of_zones(layer: Layer, by_zone: Mapping[Any, Any]) -> tuple[list[float], list[Diagnostic]]:
    """Return the rate of the zone of each row; a rate of a zone that no row has is a diagnostic."""
    names = [name for name in layer.columns if name.lower() == "zone"]
    if len(names) != 1:
        raise ValueError(
            f"`rate`: a mapping needs one column `zone`, and the zones have {len(names)}; the columns: "
            + ", ".join(layer.columns)
        )
    by_text: dict[str, float] = {}
    for zone, rate in by_zone.items():
        if _zone_text(zone) in by_text:
            raise ValueError(f"`rate`: the zone {zone!r} is twice in the mapping, as a number and as a text")
        by_text[_zone_text(zone)] = _number(f"rate[{zone!r}]", rate)
    zones = layer.values(names[0])
    texts = [_zone_text(zone) for zone in zones]
    for row, text in enumerate(texts):
        if text not in by_text:
            raise ValueError(f"`rate`: the zone {zones[row]!r} of row {row} has no rate in the mapping")
    known = set(texts)
    unused = ", ".join(repr(zone) for zone in by_zone if _zone_text(zone) not in known)
    message = f"the mapping has rates of zones that are not there: {unused}; check the spelling of the zones"
    found = [Diagnostic("rate-without-zone", message, None, None, "warning")] if unused else []
    return [by_text[text] for text in texts], found


def _zone_text(zone: Any) -> str:
    """Return the text of a zone; a whole number has no decimals, because pandas has floats where zones are null."""
    is_number = isinstance(zone, numbers.Number) and not isinstance(zone, bool | complex)
    return str(int(zone)) if is_number and math.isfinite(zone) and zone % 1 == 0 else str(zone)


def _finite(row: int, column: str, value: object) -> float:
    if value is None:
        raise ValueError(f"`rate`: column `{column}` is null in row {row}; drop the row or give it a rate")
    if isinstance(value, bool) or not isinstance(value, int | float):
        message = f"`rate`: column `{column}` does not contain numbers: row {row} is {value!r}; convert it"
        raise ValueError(message)  # noqa: TRY004 - of a table, not of an argument
    number = float(value)
    if number - number != 0:
        raise ValueError(f"`rate`: column `{column}` is {number} in row {row}; give it a finite rate")
    if abs(number) >= MOST_RATE:
        raise ValueError(
            f"`rate`: column `{column}` is {number:g} in row {row}, which no machine applies; check the unit"
        )
    return _as_written(number)


def _as_written(number: float) -> float:
    """Return the shortest decimal of a number of 32 bits, as grids of other tools have them: 80.1, not 80.09999847."""
    narrow = struct.pack("f", number)
    if number % 1 == 0 or struct.unpack("f", narrow)[0] != number:
        return number
    shorter = (float(f"{number:.{digits}g}") for digits in range(1, 10))
    return next((each for each in shorter if struct.pack("f", each) == narrow), number)


def _positive(name: str, value: object) -> float | None:
    if value is None:
        return None
    number = arguments.finite_number(name, value)
    if number <= 0:
        raise ValueError(f"`{name}`: expected a number above 0, got {number:g}")
    return number


def _product(product: object) -> str | None:
    if product is None:
        return None
    text = arguments.text("product", product)
    if len(text.encode()) > LONGEST_TEXT:
        raise ValueError(f"`product`: expected at most {LONGEST_TEXT} bytes, got {len(text.encode())}")
    return text


def _file_name(name: str) -> str:
    """Return a name that every display accepts: letters, digits, `-` and `_`, at most 20 of them."""
    plain = unicodedata.normalize("NFKD", name.removesuffix(".zip")).encode("ascii", "ignore").decode()
    words = re.sub(r"[^A-Za-z0-9_-]+", "_", plain).strip("_")
    return words[:LONGEST_NAME].strip("_") or "prescription"


def _with_rest(layer: Layer, rates: list[float], boundary: Layer | None, default: float) -> tuple[Layer, list[float]]:
    """Add the ground of the boundary without a zone, as rows with the default rate."""
    if boundary is None:
        raise ValueError("`default`: the rate of the rest of the field needs its `boundary`")
    extras.require("geo", "geopandas", "shapely")
    import geopandas as gpd
    import shapely

    for argument, given in (("zones", layer), ("boundary", boundary)):
        if given.crs is None:
            raise ValueError(f"`{argument}` has no coordinate system; set one, such as `frame.set_crs(4326)`")
    zones = layer.to_geopandas().geometry.to_crs(WGS84)
    around = boundary.to_geopandas().geometry.to_crs(WGS84)
    for row, is_valid in enumerate(around.is_valid):
        if not is_valid:
            why = shapely.is_valid_reason(around.iloc[row])
            raise ValueError(f"`boundary`: row {row} is invalid ({why}); repair it (`make_valid` of shapely)")
    for argument, shapes in (("zones", zones), ("boundary", around)):
        west, _, east, _ = shapes.total_bounds
        if MOST_DEGREES < east - west <= 2 * MOST_DEGREES:
            raise ValueError(
                f"`default`: the rest of a field across the antimeridian cannot be computed, and `{argument}` is wider "
                "than 180 degrees; pass the rest as zones of its own"
            )
    field = around.union_all()
    ground = shapely.union_all(zones.buffer(0).to_numpy())
    # Fields that touch share an edge, whose rounding is ground. The rest would hide that all zones are outside.
    if ground.intersection(field).area <= LEAST_INSIDE * ground.area:
        raise ValueError(
            "`boundary`: no zone is inside of it; check its coordinate system, or that it is that of this field"
        )
    rest = field.difference(ground)
    parts = [each for each in shapely.get_parts(rest) if each.geom_type == "Polygon" and each.area > LEAST_REST]
    return as_layer("zones", gpd.GeoDataFrame(geometry=[*zones, *parts], crs=WGS84)), rates + [default] * len(parts)
