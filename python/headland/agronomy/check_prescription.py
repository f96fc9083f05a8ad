"""Checks prescriptions: what a display would refuse or misread, before it is in the field."""

from __future__ import annotations

from typing import cast

from headland import _core, arguments
from headland.agronomy.prescription import Prescription
from headland.archives import Source, to_core_source
from headland.layer.layer import Diagnostic
from headland.layer.listings import Diagnostics
from headland.layer.table_input import TableLike, as_layer, is_table


def check_prescription(
    source: Source | TableLike | Prescription,
    *,
    boundary: TableLike | None = None,
    rate: str | None = None,
    display: str | None = None,
) -> list[Diagnostic]:
    """Check a prescription by the rules of the service and of displays.

    Args:
        source: A zip, a folder or a .shp, as a path, bytes or a binary file object; a `Prescription`; or a layer, a
            GeoDataFrame or an Arrow table, whose zones and rates are checked.
        boundary: Polygons of the field, with which the zones are compared.
        rate: The column of rates. ``None`` is ``RATE``, else the only numeric column that is no id and no size. Of
            several such columns, each is checked.
        display: ``"FieldView"``, ``"Raven CRX+"``, ``"Seed Hawk"`` or ``"Agrotax"``: its documented limits are checked
            too.

    Returns:
        Errors (a display refuses the file or applies wrong rates), then warnings. An empty list means that nothing was
        found. ``record`` is the row, counted from 0.

    Raises:
        TypeError: An argument has another type.
        ValueError: The display is unknown, or the boundary is not of polygons.
        OSError: The file cannot be read.

    >>> for found in headland.check_prescription("rx.zip"):
    ...     print(found.severity, found.code, found.message)
    """
    if isinstance(source, Prescription) and boundary is None and rate is None and display is None:
        return source.diagnostics
    return with_rate_column(source, boundary, rate, display)[0]


def with_rate_column(
    source: Source | TableLike | Prescription, boundary: TableLike | None, rate: str | None, display: str | None
) -> tuple[list[Diagnostic], str | None]:
    """Check as `check_prescription`; also return the column that displays read rates from, if there is one."""
    if isinstance(source, Prescription):
        source = bytes(source)
    around = None if boundary is None else as_layer("boundary", boundary)._core  # noqa: SLF001 - a layer of this package
    column = None if rate is None else arguments.text("rate", rate, '"RATE"')
    name = None if display is None else arguments.text("display", display, '"FieldView"')
    checked = (
        as_layer("source", cast("TableLike", source), rate=column)._core  # noqa: SLF001 - a layer of this package
        if is_table(source)
        else to_core_source(cast("Source", source))
    )
    found, taken = _core.check_prescription(checked, column, around, name)
    return Diagnostics(Diagnostic(**each) for each in found), taken
