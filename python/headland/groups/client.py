# Generated from the table in `src/api`; change that and run `make generate`.
"""The access key itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from .dispatch import Dispatch
from .field_computers import FieldComputers
from .field_hubs import FieldHubs
from .grain_carts import GrainCarts
from .job_data import JobData
from .legacy_orders import LegacyOrders
from .prescription_maps import PrescriptionMaps

if TYPE_CHECKING:
    from headland.client.calls import Calls
    from headland.records import AccessKeyDetail


class ClientRows:
    """The access key itself."""

    def __init__(self, calls: Calls) -> None:
        """Make the groups of calls."""
        self._calls = calls
        self.field_computers = FieldComputers(calls)
        self.prescription_maps = PrescriptionMaps(calls)
        self.job_data = JobData(calls)
        self.field_hubs = FieldHubs(calls)
        self.grain_carts = GrainCarts(calls)
        self.dispatch = Dispatch(calls)
        self.legacy_orders = LegacyOrders(calls)

    def access_key(self) -> AccessKeyDetail:
        """Describes the access key that signs the requests.

        It answers for revoked and expired keys too, so it finds the cause of a refused key.

        `GET /accesskey`, specification 4.2, 2.7.

        Returns:
            What a customer's access key is and whether it still gives access as a dict, see
            `records.AccessKeyDetail`.

        Raises:
            AuthenticationError: The service refused the credentials, the signature or the time stamp.
            TransportError: The connection failed.

        Examples:
            >>> active = client.access_key()["is_active"]

        """
        return cast("AccessKeyDetail", self._calls.detail("access_key", {}))
