# Generated from the table in `src/api`; change that and run `make generate`.
"""The dispatch service: field operations, the equipment that they are assigned to, products and batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headland.client.call_group import CallGroup

from .dispatch_batches import DispatchBatches
from .dispatch_equipment import DispatchEquipment
from .dispatch_field_operations import DispatchFieldOperations
from .dispatch_products import DispatchProducts

if TYPE_CHECKING:
    from headland.client.calls import Calls


class Dispatch(CallGroup):
    """The dispatch service: field operations, the equipment that they are assigned to, products and batches."""

    __slots__ = ("batches", "equipment", "field_operations", "products")

    def __init__(self, calls: Calls) -> None:
        """Make the groups of calls."""
        self.field_operations = DispatchFieldOperations(calls)
        self.equipment = DispatchEquipment(calls)
        self.products = DispatchProducts(calls)
        self.batches = DispatchBatches(calls)
