"""Stores a shared secret in the system's keyring, if there is one that works."""

from __future__ import annotations

import contextlib
import importlib

SERVICE = "headland"
"""Service under which the keyring has the secrets of new profiles."""


class Keyring:
    """The entry of one profile in the keyring."""

    def __init__(self, service: str, profile: str) -> None:
        self.service = service
        self.problem: str | None = None
        """Why the keyring was not used; ``None`` also if the package `keyring` is not installed."""
        self._profile = profile
        self._old: str | None = None
        self._is_changed = False

    def store(self, secret: str) -> bool:
        """Store the secret and return whether the keyring returns it again."""
        try:
            keyring = importlib.import_module("keyring")
        except ImportError:
            return False
        try:
            self._old = keyring.get_password(self.service, self._profile)
            keyring.set_password(self.service, self._profile, secret)
            self._is_changed = True
            is_stored = bool(keyring.get_password(self.service, self._profile) == secret)
        except Exception as cause:  # noqa: BLE001 - every keyring has errors of its own
            # Its text is not shown: it may quote the secret.
            self.problem = f"the keyring cannot be used ({type(cause).__name__})"
            return False
        if not is_stored:
            self.problem = "the keyring does not store secrets"
        return is_stored

    def restore(self) -> None:
        """Restore the earlier entry, because the profile could not be stored."""
        if not self._is_changed:
            return
        keyring = importlib.import_module("keyring")
        with contextlib.suppress(Exception):
            if self._old is None:
                keyring.delete_password(self.service, self._profile)
            else:
                keyring.set_password(self.service, self._profile, self._old)
