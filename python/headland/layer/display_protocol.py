"""Protocol of a layer for its displays, which must not import the class of layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headland._core import Layer as CoreLayer
    from headland.layer.rows import Rows


class Column(NamedTuple):
    """A column: its name, Arrow type and number of nulls."""

    name: str
    type: str
    nulls: int


class ShownTable(Protocol):
    """The table of a layer."""

    _core: CoreLayer

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""

    @property
    def units(self) -> dict[str, str]:
        """The unit of each column of numbers."""

    @property
    def provenance(self) -> list[dict[str, str | float | None]]:
        """Where each canonical column comes from."""

    @property
    def bounds(self) -> tuple[float, float, float, float] | None:
        """The bounding box, if there are geometries."""

    def describe(self) -> list[Column]:
        """Return the columns."""

    def values(self, column: str) -> list[Any]:
        """Return the values of a column."""

    def __len__(self) -> int:
        """Return the number of records."""

    def __getitem__(self, column: str) -> list[Any]:
        """Return the cells of a column."""

    def head(self, n: int = 5) -> Rows:
        """Return the first rows."""

    def to_geopandas(self) -> Any:
        """Return the rows as a frame."""


class ShownLayer(ShownTable, Protocol):
    """A layer with its map and origin."""

    @property
    def name(self) -> str:
        """The name of the layer."""

    @property
    def crs(self) -> str | None:
        """The coordinate system."""

    @property
    def metadata(self) -> dict[str, str]:
        """What the file states of the whole layer."""

    @property
    def diagnostics(self) -> Sequence[Any]:
        """What was repaired, assumed or lost on reading."""

    @property
    def __geo_interface__(self) -> dict[str, Any]:
        """The records as GeoJSON."""

    def picture(self) -> str:
        """Return the map as SVG."""
