"""True totals of jobs and grain carts of the local service."""

from __future__ import annotations

from typing import TypedDict

from headland.sandbox.harvest_truth import HarvestTruth  # noqa: TC001 -- for `typing.get_type_hints`


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
