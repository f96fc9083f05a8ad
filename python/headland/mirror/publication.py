"""The layout of a publication, and the result of publishing."""

from __future__ import annotations

import re
from typing import NamedTuple

POINTER = "current.json"
"""The file that names the newest state."""

MANIFEST = "manifest.json"
"""The file of a state that lists its files and the origin of their rows."""

README = "README.txt"
"""The file that explains the publication to readers without headland."""

LATEST = "latest"
"""The folder with the files of the newest state, under a name that does not change."""

STYLES = "styles"
"""The folder with the styles for QGIS."""

STATE_NAME = re.compile(r"generations/\d+-[0-9a-f]{12}")
"""The name of a state's folder: the number of the generation, and a digest of its manifest."""

STATES_PREFIX = "generations/"
"""Prefix of the names of states."""


class Publication(NamedTuple):
    """The result of publishing."""

    url: str
    """The address of the store, or the path of the folder."""
    state: str
    """The folder of the state in the store, such as ``generations/000012-0f3a5c77de10``."""
    sent: int
    """Number of files sent."""
    kept: int
    """Number of files that the store already had."""
    bytes_sent: int
    """Number of bytes sent."""

    @property
    def dataset(self) -> str:
        """The address of the dataset in the state's folder, for readers of folders of Parquet files."""
        return f"{self.url}/{self.state}/dataset"

    @property
    def latest(self) -> str:
        """The address of the folder that has the newest state after each publication."""
        return f"{self.url}/{LATEST}"
