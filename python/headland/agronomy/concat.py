"""One table from several layers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping  # noqa: TC003 -- for `typing.get_type_hints`
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, runtime_checkable

from headland import _core
from headland.agronomy.harmonize import moistures
from headland.argument_hints import explained
from headland.layer.layer import Layer
from headland.layer.reader import LayerReader
from headland.layer.table_input import TableLike, as_layer, is_table

if TYPE_CHECKING:
    import datetime as dt


class Part(NamedTuple):
    """A layer of a concatenation and what its rows get in addition."""

    layer: Layer
    job_id: str | None = None
    job_name: str | None = None
    field: str | None = None
    start_date: dt.datetime | None = None


@runtime_checkable
class Jobs(Protocol):
    """Layers of several jobs, such as those of ``client.job_data.read_all``."""

    def _parts(self) -> list[Part]:
        """Return the harmonised layers with what their jobs state."""


@explained()
def concat(
    layers: Iterable[TableLike] | Jobs,
    *,
    units: Literal["metric"] | None = "metric",
    originals: bool = False,
    market_moisture: float | Mapping[str, float] | None = None,
) -> Layer:
    """Return one layer with the canonical columns and all rows of several layers, in their order.

    Layers that are not harmonised are harmonised (``headland.harmonize``). A column that a layer lacks is null there.
    Geometries are in WGS 84. `crop` and `market_moisture` state the crop of each row and the water of its dry mass, so
    cleaning and drying use those of the row.

    Args:
        layers: The layers, of one kind of job, or the jobs of ``client.job_data.read_all``. Tables are accepted as in
            ``headland.harmonize``; their `source` is the name of their type, such as ``GeoDataFrame``.
        units: ``"metric"`` converts to the canonical units; ``None`` keeps the units, and a column with two units,
            quantities or moisture bases is an error that names both sources.
        originals: Whether the original columns are kept, those of one name as one column.
        market_moisture: Percent of water at which the grain is sold, as in ``headland.harmonize``.

    Returns:
        A layer with the columns `source`, `job_id` (null for layers that are no job's) and `field`, then the canonical
        columns. `field` is that of the row or of the archive, else that of a boundary or a layer on the same ground; a
        diagnostic names the layers for which it is null.

    Raises:
        ValueError: No layer, layers of several kinds, columns without a known meaning, coordinates without a way to
            WGS 84, a market moisture outside 0 to 40, or a column that cannot have one unit, such as rates in kg/ha and
            L/ha.
        TypeError: An item that is neither a layer nor a table.
        ImportError: A table needs pyarrow; ``pip install 'headland[geo]'`` installs it.

    >>> both = headland.concat([headland.read("north.zip"), headland.read("south.zip")])
    """
    # A reader is a stream, and also the batches of it.
    if is_table(layers) and not isinstance(layers, LayerReader):
        raise TypeError("`layers`: expected several layers, got one; pass a list")
    parts = parts_of(layers)
    if units not in ("metric", None):
        raise ValueError(f"`units`: expected 'metric' or None, got {units!r}")
    return Layer(_core.concat(given(parts), units is not None, bool(originals), moistures(market_moisture)))


def parts_of(layers: Iterable[TableLike] | Jobs) -> list[Part]:
    """Return layers, tables or jobs as parts."""
    if isinstance(layers, Jobs):
        return layers._parts()  # noqa: SLF001 - of this package
    return [Part(as_layer("layers", layer)) for layer in layers]


def given(parts: list[Part]) -> list[tuple[_core.Layer, str | None, str | None, str | None, dt.datetime | None]]:
    """Return parts as the core receives them."""
    return [(part.layer._core, *part[1:]) for part in parts]  # noqa: SLF001 - the layers of this package
