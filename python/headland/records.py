"""The records of the interface, as ``TypedDict``s. Generated from the table."""

from __future__ import annotations

import datetime as dt
from typing import TypedDict


class Created(TypedDict):
    """The new record of an upload."""

    id: str
    uri: str


class AccessKeyDetail(TypedDict, total=False):
    """What a customer's access key is and whether it still gives access."""

    access_key: str | None
    id: str | None
    friendly_name: str | None
    description: str | None
    is_active: bool | None
    contact: str | None
    expiration_date_time: dt.datetime | None


class FieldComputerItem(TypedDict, total=False):
    """A field computer in a list."""

    id: str
    name: str | None
    uri: str | None


class FieldComputerDetail(TypedDict, total=False):
    """A field computer."""

    id: str
    name: str | None
    device_type: str | None


class JobDataItem(TypedDict, total=False):
    """A job in a list."""

    id: str
    name: str | None
    uri: str | None
    sub_type: str | None
    create_date: dt.datetime | None
    update_date: dt.datetime | None


class JobDataDetail(TypedDict, total=False):
    """A job."""

    id: str
    status: str | None
    job_type: str | None
