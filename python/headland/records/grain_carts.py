# Generated from the table in `src/api`; change that and run `make generate`.
"""The records of `grain_carts` as typed dicts."""

from __future__ import annotations

from typing import Required, TypedDict


class GrainCart(TypedDict, total=False):
    """A grain cart file.

    Specification 2.8.

    Attributes:
        id: Id of the file; of several uploads of one name, the newest has the highest.
        name: The file name: crop, field, job number, date, time and bridge, between underscores; the field may
            hold some.

    """

    id: Required[str]
    name: str | None
