# Generated from the table in `src/api`; change that and run `make generate`.
"""The records of `field_computers` as typed dicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    import datetime as dt


class FieldComputerItem(TypedDict, total=False):
    """A field computer in a list.

    Specification 2.1.

    Attributes:
        id: Id of the field computer.
        name: Name given by a user.
        uri: Absolute address of the detail.

    """

    id: str
    name: str | None
    uri: str | None


class FieldComputerDetail(TypedDict, total=False):
    """A field computer.

    Specification 2.2.

    Attributes:
        id: Id of the field computer.
        name: Name given by a user.
        device_type: Model of the device; the units of its files depend on it.
        status: Current status, for example whether it is in a job.
        remote_access: Whether remote access is on.
        web_access: Whether web access is on.
        field_hub_id: Id of the last field hub that was connected to this computer.
        last_report_date: Time of the last report.
        third_party_dispatch_capable: Whether third parties can dispatch work to it.
        software_version: Software of the device, where the service gives it.

    """

    id: str
    name: str | None
    device_type: str | None
    status: str | None
    remote_access: bool | None
    web_access: bool | None
    field_hub_id: str | None
    last_report_date: dt.datetime | None
    third_party_dispatch_capable: bool | None
    software_version: str | None
