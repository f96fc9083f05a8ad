"""An object store, and how to speak of its failures without telling what opened it."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from headland import errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime

MAX_MESSAGE = 600
"""How much of what a store says of a failure is shown."""

PUBLIC_OPTIONS = frozenset({"region", "endpoint", "bucket", "account_name", "container_name"})
"""Options whose values may stand in an error; all others are taken for secrets."""

MIN_SECRET_LENGTH = 4
"""The letters of the shortest text that is taken for a secret."""


class Store:
    """Reading, writing, listing and removing, with errors that tell no secret."""

    def __init__(self, store: Any, url: str, secrets: SecretValues) -> None:
        self._store = store
        self._secrets = secrets
        self.url = url

    def read(self, name: str) -> bytes | None:
        """Read a file; ``None`` where there is none."""
        import obstore

        content: bytes | None = self._do(
            "read", name, lambda: bytes(obstore.get(self._store, name).bytes()), missing=None
        )
        return content

    def sizes(self, prefix: str) -> dict[str, int]:
        """Give the bytes of each file whose name begins so."""
        return {each["path"]: each["size"] for each in self._listed(prefix)}

    def put(self, name: str, content: bytes | Path) -> None:
        """Write a file; it appears when it is whole."""
        import obstore

        self._do("write", name, lambda: obstore.put(self._store, name, content))

    def copy(self, old: str, new: str) -> bool:
        """Copy a file inside the store; False where it is not there any more."""
        import obstore

        done: bool = self._do("copy", old, lambda: obstore.copy(self._store, old, new) is None, missing=False)
        return done

    def times(self, prefix: str) -> dict[str, datetime]:
        """Give when each file whose name begins so was written."""
        return {each["path"]: each["last_modified"] for each in self._listed(prefix)}

    def remove(self, names: Sequence[str]) -> None:
        """Remove files; those that are gone already do not matter."""
        import obstore

        self._do("remove", names[0], lambda: obstore.delete(self._store, names), missing=None)

    def _listed(self, prefix: str) -> Sequence[Any]:
        import obstore

        found: Sequence[Any] = self._do("list", prefix, lambda: obstore.list(self._store, prefix).collect(), missing=())
        return found

    def _do(self, verb: str, name: str, action: Callable[[], Any], missing: Any = ...) -> Any:
        """Do something with the store; where the file is missing, give what stands for that."""
        from obstore import exceptions

        kind: type[errors.HeadlandError] = errors.TransportError
        try:
            return action()
        except FileNotFoundError as cause:
            if missing is not ...:
                return missing
            reason = self._secrets.redact(cause)
        except (exceptions.PermissionDeniedError, exceptions.UnauthenticatedError) as cause:
            kind, reason = errors.PermissionDenied, self._secrets.redact(cause)
        except (exceptions.BaseError, OSError) as cause:
            reason = self._secrets.redact(cause)
        raise kind(f"cannot {verb} `{name}` at `{self.url}`: {reason}") from None


class SecretValues:
    """Values that may not be told, in a form that no traceback shows."""

    __slots__ = ("_values",)

    def __init__(self, options: Mapping[str, Any]) -> None:
        secrets = (value for name, value in _texts("", options) if name not in PUBLIC_OPTIONS or "@" in value)
        self._values = [value for value in secrets if len(value) >= MIN_SECRET_LENGTH]

    def redact(self, cause: Exception) -> str:
        """Give what an error says, in a line and without the values."""
        message = str(cause).partition("\n\nDebug source")[0]
        for value in self._values:
            message = message.replace(value, "***")
        return textwrap.shorten(message, MAX_MESSAGE) or type(cause).__name__

    def __repr__(self) -> str:
        """Say nothing."""
        return "<secrets>"


def _texts(name: str, value: object) -> Iterator[tuple[str, str]]:
    """Give every text of a value, with the name that is nearest to it."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, dict):
        for inner, each in value.items():
            yield from _texts(str(inner), each)


def local_path(url: str) -> Path | None:
    """Give the folder that an address leads to; None where it is that of a store elsewhere."""
    split = urlsplit(url)
    return Path(url2pathname(split.path)) if split.scheme == "file" else None


def url_problem(url: str) -> str | None:
    """Say what is wrong with an address that is no URL, or that leads to no folder; None where it may do."""
    try:
        split = urlsplit(url)
    except ValueError as cause:
        return f"`url` is no URL: {cause}"
    if split.query or split.fragment or "@" in split.netloc:
        return "`url` has no place for credentials and other settings: give them by name, as options"
    if "\0" in unquote(url):
        return "`url` holds a null character, which no name of a folder has"
    if split.scheme == "memory":
        return "`url` leads to the memory of this program, where nobody else can read it: give the address of a store"
    # `file:work` is no address of the folder `work`: it would be taken for `/work`.
    if not url.lower().startswith("file:///") if split.scheme == "file" else "://" not in url:
        is_path = url and not split.scheme and url[0] != "~" and "@" not in url
        example = Path(url).absolute().as_uri() if is_path else "file:///srv/farm"
        given = "a text without a scheme" if "@" in url else repr(url)
        return f"`url` takes a URL, such as {example!r} for a folder or 's3://bucket/farm' for a bucket, not {given}"
    path = local_path(url)
    return None if path is None else _path_problem(path)


def _path_problem(path: Path) -> str | None:
    """Say why nothing can be published into a folder; None where it may do."""
    advice = "give the address of a folder, which is made where needed"
    if path == Path(path.anchor):
        return f"`url` leads to the root of the file system: {advice}"
    # What may not be looked at is told by the store.
    file = next((each for each in (path, *path.parents) if os.path.isfile(each)), None)  # noqa: PTH113
    return None if file is None else f"`url` leads to `{file}`, which is a file: {advice}"


def open_store(url: str, options: dict[str, Any]) -> Store:
    """Open the store of an address that is not misplaced, and empty its options: tracebacks show local variables."""
    from obstore.store import from_url

    secrets = SecretValues(options)
    split = urlsplit(url)
    try:
        folder_options = {"mkdir": True, "automatic_cleanup": True} if split.scheme == "file" else {}
        return Store(from_url(url.rstrip("/"), **{**folder_options, **options}), url.rstrip("/"), secrets)
    except Exception as cause:  # noqa: BLE001 - whatever it is, it is told without what was given
        reason = secrets.redact(cause)
    finally:
        options.clear()
    shown = f"{split.scheme}://{split.hostname or ''}{split.path}"
    raise ValueError(f"`url` ({shown}) and the options do not make a store: {reason}") from None
