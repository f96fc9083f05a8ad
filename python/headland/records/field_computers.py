# Generated from the table in `src/api`; change that and run `make generate`.
"""The records of `field_computers` as typed dicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Required, TypedDict

if TYPE_CHECKING:
    import datetime as dt


class FieldComputerItem(TypedDict):
    """A field computer in a list.

    Specification 2.1.

    Attributes:
        id: Id of the field computer.
        name: Name given by a user.
        uri: Absolute address of the detail.

    """

    id: str
    name: str | None
    uri: str


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
        field_hub_id: Id of the last field hub that was connected to this computer; None where the service sends
            an empty text.
        last_report_date: Time of the last report.
        third_party_dispatch_capable: Whether third parties can dispatch work to it.
        software_version: Software of the device, where the service gives it.

    """

    id: Required[str]
    name: str | None
    device_type: str | None
    status: str | None
    remote_access: bool | None
    web_access: bool | None
    field_hub_id: str | None
    last_report_date: dt.datetime | None
    third_party_dispatch_capable: bool | None
    software_version: str | None


class PrescriptionMapItem(TypedDict):
    """A prescription map in a list.

    Specification 2.1.

    Attributes:
        id: Id of the prescription map.
        name: Name given by a user, or the file name.
        uri: Absolute address of the detail.
        sub_type: `Prescription Map`.

    """

    id: str
    name: str | None
    uri: str
    sub_type: str | None


class JobDataItem(TypedDict):
    """A job in a list.

    Specification 2.1.

    Attributes:
        id: Id of the job. Ids are not in the order of the list.
        name: Name given by a user, or the file name.
        uri: Absolute address of the detail.
        sub_type: `Planter`, `Sprayer`, `Yield`, `Planter/Sprayer` or `As Applied`.
        create_date: When the file was uploaded.
        update_date: Latest update by the service to the file.

    """

    id: str
    name: str | None
    uri: str
    sub_type: str | None
    create_date: dt.datetime | None
    update_date: dt.datetime | None


class DeviceLocation(TypedDict, total=False):
    """Where a device was; units are those that the specification states for a hub's report (2.4).

    Specification 2.3.

    Attributes:
        id: Id of the record.
        device_id: Id of the device whose record it is.
        sub_type: `Field Hub` or `Field Computer`: whose record it is.
        lat: Latitude, -90 to 90. Unit: degrees.
        lon: Longitude, -180 to 180. Unit: degrees.
        alt: Altitude relative to sea level. Unit: m.
        speed: Speed, 0 to 255. Unit: km/h.
        direction: Course, 0 to 360. Unit: degrees.
        valid: Whether the position is valid.
        gps_date_time: Time stamp of the GPS; None where there was no fix.

    """

    id: Required[str]
    device_id: str | None
    sub_type: str | None
    lat: float | None
    lon: float | None
    alt: int | None
    speed: int | None
    direction: int | None
    valid: bool | None
    gps_date_time: dt.datetime | None
