"""Optional packages, and what to install where one is missing."""

from __future__ import annotations

import importlib


def require(extra: str, *packages: str) -> None:
    """Import the packages of an extra, before anything else is done.

    Raises:
        ImportError: One is not installed; it says what brings it.
    """
    for package in packages:
        try:
            importlib.import_module(package)
        except ImportError as reason:
            raise ImportError(f"this needs {package} ({reason}): `pip install 'headland[{extra}]'`") from reason
