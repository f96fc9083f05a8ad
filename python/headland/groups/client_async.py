# Generated from the table in `src/api`; change that and run `make generate`.
"""The access key itself. As coroutines."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from .dispatch_async import AsyncDispatch
from .field_computers_async import AsyncFieldComputers
from .field_hubs_async import AsyncFieldHubs
from .grain_carts_async import AsyncGrainCarts
from .job_data_async import AsyncJobData
from .legacy_orders_async import AsyncLegacyOrders
from .prescription_maps_async import AsyncPrescriptionMaps

if TYPE_CHECKING:
    from headland.client.calls import AsyncCalls
    from headland.records import AccessKeyDetail


class AsyncClientRows:
    """The access key itself."""

    def __init__(self, calls: AsyncCalls) -> None:
        """Make the groups of calls."""
        self._calls = calls
        self.field_computers = AsyncFieldComputers(calls)
        self.prescription_maps = AsyncPrescriptionMaps(calls)
        self.job_data = AsyncJobData(calls)
        self.field_hubs = AsyncFieldHubs(calls)
        self.grain_carts = AsyncGrainCarts(calls)
        self.dispatch = AsyncDispatch(calls)
        self.legacy_orders = AsyncLegacyOrders(calls)

    async def access_key(self) -> AccessKeyDetail:
        """Like `Client.access_key`, as a coroutine."""
        return cast("AccessKeyDetail", await self._calls.detail("access_key", {}))
