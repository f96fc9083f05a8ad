# Generated from the table in `src/api`; change that and run `make generate`.
"""The records of `client` as typed dicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Required, TypedDict

if TYPE_CHECKING:
    import datetime as dt


class AccessKeyDetail(TypedDict, total=False):
    """What a customer's access key is and whether it still gives access.

    Specification 2.7.

    Attributes:
        access_key: The access key, in the form of a GUID.
        id: Id of the access key.
        friendly_name: Name that the customer gave the key.
        description: Description that the customer gave the key.
        is_active: Whether the key gives access; false after it was revoked.
        contact: Contact e-mail address.
        expiration_date_time: When the key expires.

    """

    access_key: str | None
    id: Required[str]
    friendly_name: str | None
    description: str | None
    is_active: bool | None
    contact: str | None
    expiration_date_time: dt.datetime | None
