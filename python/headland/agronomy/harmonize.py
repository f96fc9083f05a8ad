"""Canonical columns: the same names and units for the files of all displays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from headland import _core, arguments
from headland.argument_hints import explained
from headland.layer.layer import Layer
from headland.layer.table_input import TableLike, as_layer, systems

JobKind = Literal["yield", "as_applied", "planting"]
"""Kinds of jobs that have canonical columns."""


@explained()
def harmonize(
    layer: TableLike,
    *,
    job: Mapping[str, Any] | None = None,
    kind: JobKind | str | None = None,
    columns: Mapping[str, str] | None = None,
    units: Mapping[str, str] | None = None,
    crop: str | None = None,
    market_moisture: float | Mapping[str, float] | None = None,
    timezone: str | None = None,
    crs: str | int | None = None,
) -> Layer:
    """Return the layer with canonical columns, which have the same names and units for all displays.

    The columns are `time` (UTC), `date`, `longitude` and `latitude` (deg), `interval` (s), `distance` and
    `swath_width` (m), `heading` (deg), `speed` (m/s), `elevation` (m), `pass_number`, `section`, `machine`, `working`;
    for a harvest `flow` (kg/s), `moisture` and `protein` (%), `yield_wet_mass` and `yield_dry_mass` (kg/ha),
    `yield_wet_volume` and `yield_dry_volume` (m3/ha), `yield` (as stated, where its basis is unknown); for spraying,
    spreading and planting `target_rate`, `applied_rate` and `control_rate` (kg/ha, L/ha or seeds/ha); for planting
    `depth` (m), `down_force` (N), `singulation`, `skips` and `doubles` (%); and `product`, `variety`, `crop`,
    `operator`, `field`, `load`. Computed where they follow are `worked_area` (m2, distance x swath width), `wet_mass`
    and `dry_mass` (kg), `yield_wet` and `yield_dry` (kg/ha, on the worked area), and `amount` (kg, L or seeds). Dry is
    at the market moisture of the crop, which may differ between rows. `worked_area` is 0 with the header up, and counts
    once for several products of one place. Swaths overlap, so the mean yield of a field is that of
    ``headland.field_means``.

    Args:
        layer: The layer, or a table: a GeoDataFrame, a pandas or polars frame, a DuckDB relation, an Arrow table or
            stream, with or without geometries. Its units are ``frame.attrs["units"]`` or the Arrow field metadata
            ``unit``. The columns keep their values; one with a canonical name is called ``<name>_original``.
        job: The dict of ``client.job_data.get(id)`` or an entry of ``client.job_data.list()``: the kind of the job,
            and its start for files that log times of day alone.
        kind: ``"yield"``, ``"as_applied"`` or ``"planting"``, or an alias such as ``"harvest"``, as in
            ``client.job_data.read_all``; without it, that of `job`, of the archive or of the columns.
        columns: Columns that headland does not find: canonical name to original name.
        units: Units that the archive does not state: original name to unit, such as ``{"YIELD": "bu/ac"}``. A column
            whose unit is unknown has no canonical column, and a diagnostic says so.
        crop: The crop, such as ``"corn"``; without it, that of the archive, or that of each row. Dry mass needs it. In
            a concatenation, the crop of the rows that name none.
        market_moisture: Percent of water at which the grain is sold, from 0 to 40, or one for each crop:
            ``{"corn": 14.0}``. Without it, that of the crop. Dry masses and yields are at this moisture.
        timezone: The zone of the display's clock, such as ``"America/Chicago"``, for times that state none. Without
            it they keep the display's clock, and a diagnostic says so.

        crs: The coordinate system of a table that states none, such as ``"EPSG:4326"`` for a frame of polars or DuckDB.
            A table without geometries but with columns of longitudes and latitudes gets points, in WGS 84 without it.

    Returns:
        The layer. `Layer.provenance` says where each column comes from. A harmonised layer is returned unchanged,
        unless an argument states more.

    Raises:
        ValueError: An unknown kind, column, unit, crop or zone; a market moisture outside 0 to 40; no column has a
            known meaning; the columns do not say what kind of job it is; or a table has several geometry columns, a
            malformed geometry, or a column of a type that layers do not have.
        TypeError: An argument of a wrong type.
        ImportError: A table needs pyarrow; ``pip install 'headland[geo]'`` installs it.

    >>> harvest = headland.harmonize(headland.read("job.zip"))
    >>> frame = headland.read("job.zip").to_geopandas()
    >>> dry = headland.harmonize(frame[frame.MOISTURE < 20], kind="yield")
    """
    core = as_layer("layer", layer)._core  # noqa: SLF001 - the layer of this package
    if isinstance(kind, str):
        kind = _core.job_kind(kind) or kind
    statements: dict[str, object] = {"job": job, "kind": kind, "columns": columns, "units": units, "crop": crop}
    statements["market_moisture"] = moistures(market_moisture)
    if crs is not None:
        code = (
            f"EPSG:{arguments.whole_number('crs', crs, 1)}"
            if arguments.is_whole(crs)
            else arguments.text("crs", crs, '"EPSG:4326"')
        )
        statements["crs"] = systems(code)
    offsets = None
    if timezone is not None:
        # The database of zones is loaded when a zone is named.
        from headland.layer import local_times

        zone = local_times.parse_zone("timezone", arguments.text("timezone", timezone, '"America/Chicago"'))
        times = _core.harmonized_local_times(core, statements)
        offsets = None if times is None else local_times.offsets(zone, times.minutes)
    return Layer(_core.harmonize(core, statements, offsets))


def moistures(stated: float | Mapping[str, float] | None) -> list[tuple[str | None, float]]:
    """Return market moistures as pairs of a crop, or None for all crops, and percent of water."""
    if stated is None:
        return []
    pairs = stated.items() if isinstance(stated, Mapping) else [(None, stated)]
    crops = [(None if crop is None else arguments.text("market_moisture", crop), percent) for crop, percent in pairs]
    return [(crop, arguments.number("market_moisture", percent)) for crop, percent in crops]
