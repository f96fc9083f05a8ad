"""Reads XML files, whose schemas are not published, as nested dicts."""

from __future__ import annotations

from typing import Any

from headland import _core, arguments
from headland.archives import Limits, Source, to_core_source

TREE_LIMITS = Limits(bytes=256 << 20)
"""Limits of an XML file by default: a tree needs several times the memory of its file."""


def read_tree(source: Source, *, member: str | None = None, limits: Limits | None = None) -> dict[str, Any]:
    """Read an XML file as nested dicts; no element, attribute or text is omitted, renamed or guessed.

    The dict has one entry, the root element. An element without attributes and children is its exact text; an empty one
    is ``""``. Any other element is a dict:

    - the key of an attribute is its name with the prefix ``@``;
    - the key of a child is its name; the value of children with the same name is a list in document order;
    - the key of text in an element with attributes is ``"#text"``;
    - if text and children are mixed, ``"#content"`` lists both in document order: texts unchanged, each child as a dict
      of its name and its value; the children also have keys of their own.

    Input that is not well-formed is refused, except for white space before the declaration. Names and prefixes are
    unchanged, and namespace declarations are ordinary attributes. White space between elements, comments and processing
    instructions are omitted. Only the five predefined entities of XML are expanded. Elements nested more than 256 deep
    are refused.

    Args:
        source: A path, bytes or a binary file object: an XML file, or a zip or folder that contains one.
        member: The file, if a zip or a folder contains several: its name, with or without folders.
        limits: Limits of the source; default: ``Limits(bytes=256 << 20)``.

    Returns:
        The dict; all values are dicts, lists and texts.

    Raises:
        ArchiveError: The source cannot be read; has `member` and `offset`. For XML that is not well-formed, the message
            states the line.

    The service returns such a file for a job (specification 4.4):

    >>> tree = headland.read_tree(client.job_data.download(job["id"], format="XML"))
    """
    name = None if member is None else arguments.text("member", member)
    return _core.read_tree(to_core_source(source), name, TREE_LIMITS if limits is None else limits)
