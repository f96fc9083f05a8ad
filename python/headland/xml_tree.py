"""XML files, whose schemas nobody publishes, as nested dicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headland import _core, arguments
from headland.archives import Limits, to_core_source

if TYPE_CHECKING:
    from headland.archives import Source

TREE_LIMITS = Limits(bytes=256 << 20)
"""How much of an XML file is read where no limits are given: a tree takes several times the memory of its file."""


def read_tree(source: Source, *, member: str | None = None, limits: Limits | None = None) -> dict[str, Any]:
    """Read an XML file as nested dicts; nothing is left out, renamed or guessed.

    The dict has one entry, the root element. An element without attributes and children is its text, to the letter; an
    empty one is ``""``. Any other element is a dict:

    - an attribute stands under its name with ``@`` before it;
    - a child stands under its name; children of one name are a list under it, in their order;
    - text beside attributes stands under ``"#text"``;
    - where text and children are mixed, ``"#content"`` lists both in their order, the texts as they are and each child
      as a dict of its name and its value; the children also stand under their names.

    What is not well-formed is refused, except for white space before the declaration.
    Names and prefixes stay as they are, and declarations of namespaces are attributes like others. White space between
    elements, comments and processing instructions are left out. No entities but the five of XML are expanded, and
    elements nested more than 256 deep are refused.

    Args:
        source: A path, bytes or a binary file object: an XML file, or a zip or folder that holds one.
        member: Which file, where a zip or a folder holds several: its name, with or without folders.
        limits: What the source may hold; by default ``Limits(bytes=256 << 20)``.

    Returns:
        The dict; all values in it are dicts, lists and texts.

    Raises:
        ArchiveError: What cannot be read, with `member` and `offset`; the message names the line of XML that is not
            well-formed.

    The service gives such a file of a job (specification 4.4):

    >>> tree = headland.read_tree(client.job_data.download(job["id"], format="XML"))
    """
    name = None if member is None else arguments.text("member", member)
    return _core.read_tree(to_core_source(source), name, TREE_LIMITS if limits is None else limits)
