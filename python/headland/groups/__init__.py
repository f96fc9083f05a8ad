# Generated from the table in `src/api`; change that and run `make generate`.
"""The methods of both clients, one for each row of the table, a file for each group.

Each method only names its row and passes its arguments on; `calls.py` does the work.
"""

from .client import ClientRows
from .client_async import AsyncClientRows
from .field_computers import FieldComputers
from .field_computers_async import AsyncFieldComputers
from .field_hubs import FieldHubs
from .field_hubs_async import AsyncFieldHubs
from .grain_carts import GrainCarts
from .grain_carts_async import AsyncGrainCarts
from .job_data import JobData
from .job_data_async import AsyncJobData
from .prescription_maps import PrescriptionMaps
from .prescription_maps_async import AsyncPrescriptionMaps

__all__ = [
    "AsyncClientRows",
    "AsyncFieldComputers",
    "AsyncFieldHubs",
    "AsyncGrainCarts",
    "AsyncJobData",
    "AsyncPrescriptionMaps",
    "ClientRows",
    "FieldComputers",
    "FieldHubs",
    "GrainCarts",
    "JobData",
    "PrescriptionMaps",
]
