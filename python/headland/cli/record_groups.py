"""Kinds of records as the command line names them: the words of the Python client, in any spelling."""

from __future__ import annotations

from headland.cli.argument_parser import OneOf
from headland.suggestions import without_separators

KINDS = ("job_data", "prescription_maps", "field_computers", "field_hubs", "grain_carts")
"""The groups of the client that have lists, by the names of its attributes."""

FILES = {"job_data": "SHP", "prescription_maps": "bin"}
"""Kinds with files in several formats, with the default format."""

UPLOADS = ("job_data", "prescription_maps", "grain_carts")
"""Kinds with files that can be uploaded."""


def kind(*names: str) -> OneOf:
    """Return the type of an argument that names one of these kinds; singulars and dashes are accepted too."""
    spellings = {}
    for name in names:
        spellings[without_separators(name)] = name
        spellings[without_separators(name.removesuffix("s"))] = name
    return OneOf("kind", spellings)
