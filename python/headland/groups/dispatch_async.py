# Generated from the table in `src/api`; change that and run `make generate`.
"""The dispatch service: field operations, the equipment that they are assigned to, products and batches. As coroutines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headland.client.call_group import CallGroup

from .dispatch_batches_async import AsyncDispatchBatches
from .dispatch_equipment_async import AsyncDispatchEquipment
from .dispatch_field_operations_async import AsyncDispatchFieldOperations
from .dispatch_products_async import AsyncDispatchProducts

if TYPE_CHECKING:
    from headland.client.calls import AsyncCalls


class AsyncDispatch(CallGroup):
    """The dispatch service: field operations, the equipment that they are assigned to, products and batches."""

    __slots__ = ("batches", "equipment", "field_operations", "products")

    def __init__(self, calls: AsyncCalls) -> None:
        """Make the groups of calls."""
        self.field_operations = AsyncDispatchFieldOperations(calls)
        self.equipment = AsyncDispatchEquipment(calls)
        self.products = AsyncDispatchProducts(calls)
        self.batches = AsyncDispatchBatches(calls)
