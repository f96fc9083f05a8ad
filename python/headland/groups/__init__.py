# Generated from the table in `src/api`; change that and run `make generate`.
"""The methods of both clients, one for each row of the table, a file for each group.

Each method only names its row and passes its arguments on; `calls.py` does the work.
"""

from .client import ClientRows
from .client_async import AsyncClientRows
from .dispatch import Dispatch
from .dispatch_async import AsyncDispatch
from .dispatch_batches import DispatchBatches
from .dispatch_batches_async import AsyncDispatchBatches
from .dispatch_equipment import DispatchEquipment
from .dispatch_equipment_async import AsyncDispatchEquipment
from .dispatch_field_operations import DispatchFieldOperations
from .dispatch_field_operations_async import AsyncDispatchFieldOperations
from .dispatch_products import DispatchProducts
from .dispatch_products_async import AsyncDispatchProducts
from .field_computers import FieldComputers
from .field_computers_async import AsyncFieldComputers
from .field_hubs import FieldHubs
from .field_hubs_async import AsyncFieldHubs
from .grain_carts import GrainCarts
from .grain_carts_async import AsyncGrainCarts
from .job_data import JobData
from .job_data_async import AsyncJobData
from .legacy_orders import LegacyOrders
from .legacy_orders_async import AsyncLegacyOrders
from .prescription_maps import PrescriptionMaps
from .prescription_maps_async import AsyncPrescriptionMaps

__all__ = [
    "AsyncClientRows",
    "AsyncDispatch",
    "AsyncDispatchBatches",
    "AsyncDispatchEquipment",
    "AsyncDispatchFieldOperations",
    "AsyncDispatchProducts",
    "AsyncFieldComputers",
    "AsyncFieldHubs",
    "AsyncGrainCarts",
    "AsyncJobData",
    "AsyncLegacyOrders",
    "AsyncPrescriptionMaps",
    "ClientRows",
    "Dispatch",
    "DispatchBatches",
    "DispatchEquipment",
    "DispatchFieldOperations",
    "DispatchProducts",
    "FieldComputers",
    "FieldHubs",
    "GrainCarts",
    "JobData",
    "LegacyOrders",
    "PrescriptionMaps",
]
