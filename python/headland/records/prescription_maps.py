# Generated from the table in `src/api`; change that and run `make generate`.
"""The records of `prescription_maps` as typed dicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    import datetime as dt


class AvailableFile(TypedDict, total=False):
    """A file that can be downloaded.

    Specification 2.5, 2.6.

    Attributes:
        file_name: File name.
        uri: Address of the detail with a `format` parameter.
        file_type: Format, for example `bin`.

    """

    file_name: str | None
    uri: str | None
    file_type: str | None


class PrescriptionMapDetail(TypedDict, total=False):
    """A prescription map.

    Specification 2.5.

    Attributes:
        device_file_name: File name.
        create_date: When the map was uploaded.
        update_date: Latest update by the service to the map.
        status: Status of the delivery, such as `SENT_TO_DEVICE`.
        job_type: `PrescriptionMap`.
        available_files: Files that can be downloaded.

    """

    device_file_name: str | None
    create_date: dt.datetime | None
    update_date: dt.datetime | None
    status: str | None
    job_type: str | None
    available_files: list[AvailableFile]
