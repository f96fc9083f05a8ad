"""True totals of jobs and grain carts of the local service."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from headland.display.quantities import HECTARE
from headland.display.tables import Listing
from headland.sandbox.harvest_truth import HarvestTruth  # noqa: TC001 -- for `typing.get_type_hints`

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

T = TypeVar("T", bound="Mapping[str, Any]")
"""The dict of a job or a grain cart file."""


class Total(TypedDict):
    """The true total of a job: the harvested, planted or applied quantity.

    `value` equals `factor` times the sum over the rows of the product of `columns`.
    """

    label: str
    unit: str
    value: float
    factor: float
    columns: list[str]


class ProductTotal(TypedDict):
    """The true total of one product of a job."""

    name: str
    unit: str
    value: float


class Truth(TypedDict):
    """True totals of a generated job.

    Areas are in square metres: `area` is covered by the job, `field_area` is enclosed by the field's boundary. `totals`
    lists column, unit and the sum over all rows. `products` has the total of each product: a tank mix has several, and
    its `area` counts their common ground once. `harvest` is None except for harvests with ``harvest="logged"``; their
    `area` is what the display counted with the header down, overlaps included.
    """

    job_id: str
    job_name: str
    sub_type: str
    field: str
    layer: str
    rows: int
    area: float
    field_area: float
    totals: list[tuple[str, str, float]]
    total: Total
    products: list[ProductTotal]
    harvest: HarvestTruth | None


class SprayTruth(TypedDict):
    """Truth of a job that was sprayed from a prescription map, from the model of the machine.

    `under`, `within` and `over` are square metres of ground, counted once, by the applied rate against the target with
    a tolerance of a tenth; `off` is ground that no section sprayed where one was off. `area` is width times distance
    with the boom on, as the display counts it. `unit` is that of the rates, such as ``L/ha``; `asked` and `applied` are
    amounts in it (``L``) on full swaths, and `asked` includes the ground that is off.
    """

    job_id: str
    unit: str
    rows: int
    area: float
    under: float
    within: float
    over: float
    off: float
    asked: float
    applied: float


class CartTruth(TypedDict):
    """True totals of a generated grain cart file, in pounds and dry bushels.

    Each file is uploaded several times as it grows; the newest with a name contains the whole harvest of `field`.
    """

    id: str
    name: str
    field: str
    loads: int
    total_pounds: float
    total_dry_bushels: float
    is_newest: bool


class Truths(Listing[T]):
    """True totals of the jobs of a service, shown as a table."""

    __slots__ = ()

    def _title(self) -> str:
        return f"true totals of {len(self):,} job{'' if len(self) == 1 else 's'}"

    def _columns(self) -> dict[str, Callable[[T], object]]:
        return {
            "job_id": lambda each: each["job_id"],
            "job_name": lambda each: each["job_name"],
            "kind": lambda each: each["sub_type"],
            "rows": lambda each: each["rows"],
            "area (ha)": lambda each: round(each["area"] / HECTARE, 4),
            "total": lambda each: round(each["total"]["value"], 2),
            "unit": lambda each: each["total"]["unit"],
            "what": lambda each: each["total"]["label"],
        }


class CartTruths(Listing[T]):
    """True totals of the grain cart files of a service, shown as a table."""

    __slots__ = ()

    def _title(self) -> str:
        return f"true totals of {len(self):,} grain cart file{'' if len(self) == 1 else 's'}"

    def _columns(self) -> dict[str, Callable[[T], object]]:
        names = ("id", "name", "field", "loads", "total_pounds", "total_dry_bushels", "is_newest")
        return {name: itemgetter(name) for name in names}
