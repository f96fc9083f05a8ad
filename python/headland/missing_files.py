"""Explains a missing file: the folder where it was looked for, and a file there with a similar name."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

from headland.suggestions import did_you_mean

MAX_COMPARED = 10_000
"""Maximum number of names in a folder that are compared."""


def reason(path: Path) -> str:
    """Return the part of a message that explains why there is no file or folder at `path`.

    A relative path is looked for in the working folder, which in notebooks is often another one than expected.
    """
    folder = path.parent
    where = "" if path.is_absolute() else f" in `{Path.cwd()}`"
    if not folder.exists():
        return f"there is no folder `{folder}`{where}"
    if "*" in path.name:
        return f"paths have no patterns: read each of `Path({str(folder)!r}).glob({path.name!r})`"
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in islice(entries, MAX_COMPARED)]
    except OSError:
        names = []
    # Files have similar endings, so only close names are likely meant.
    hint = did_you_mean(path.name, names, cutoff=0.75)
    # The similar name has the same folder as the path, so that it can be copied.
    return f"no such file or folder{where}{hint.replace('`', f'`{folder}{os.sep}', 1) if folder.name else hint}"
