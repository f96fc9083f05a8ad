"""Imports optional packages and names the extra that installs a missing one."""

from __future__ import annotations

import importlib


def require(extra: str, *packages: str) -> None:
    """Import the packages of an extra before any work.

    Raises:
        ImportError: A package is not installed; the message names the extra.
    """
    for package in packages:
        try:
            importlib.import_module(package)
        except ImportError as reason:
            raise ImportError(f"this needs {package} ({reason}): `pip install 'headland[{extra}]'`") from reason
