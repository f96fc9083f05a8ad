# Generated from the table in `src/api`; change that and run `make generate`.
"""The records of the service as typed dicts.

A record has the fields that the service sent; fields that are not listed here are kept, too, under snake_case
names. Times are aware datetimes in UTC, ids are strings, and what has no value is None.
"""

from typing import TypedDict

from .client import AccessKeyDetail
from .field_computers import DeviceLocation, FieldComputerDetail, FieldComputerItem, JobDataItem, PrescriptionMapItem
from .field_hubs import FieldHubDetail, FieldHubItem, FieldHubReport
from .grain_carts import GrainCart
from .job_data import AppliedProduct, Ingredient, JobDataDetail, Product, ProductRow
from .prescription_maps import AvailableFile, PrescriptionMapDetail

__all__ = [
    "AccessKeyDetail",
    "AppliedProduct",
    "AvailableFile",
    "Created",
    "DeviceLocation",
    "FieldComputerDetail",
    "FieldComputerItem",
    "FieldHubDetail",
    "FieldHubItem",
    "FieldHubReport",
    "GrainCart",
    "Ingredient",
    "JobDataDetail",
    "JobDataItem",
    "PrescriptionMapDetail",
    "PrescriptionMapItem",
    "Product",
    "ProductRow",
]


class Created(TypedDict):
    """A record that an upload made.

    Specification 4.3.

    Attributes:
        id: Id of the new record.
        uri: Address of the new record.

    """

    id: str
    uri: str
