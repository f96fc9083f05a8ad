"""Accesses an object store, with secrets redacted in its errors."""

from __future__ import annotations

import os
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from headland import errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

T = TypeVar("T")
R = TypeVar("R")

CONCURRENCY = 8
"""Number of concurrent transfers: there are few large files, or many small archives."""

MAX_MESSAGE = 600
"""Maximum length of a store's message in an error."""

PUBLIC_OPTIONS = frozenset({"region", "endpoint", "bucket", "account_name", "container_name"})
"""Options whose values may be shown in errors; all others count as secrets."""

MIN_SECRET_LENGTH = 4
"""Minimum length of a text that counts as a secret."""


class Store:
    """Reads, writes, lists and removes files, with secrets redacted in errors."""

    def __init__(self, store: Any, url: str, secrets: SecretValues) -> None:
        self._store = store
        self._secrets = secrets
        self.url = url

    def read(self, name: str) -> bytes | None:
        """Read a file; ``None`` if it does not exist."""
        import obstore

        content: bytes | None = self._do(
            "read", name, lambda: bytes(obstore.get(self._store, name).bytes()), missing=None
        )
        return content

    def sizes(self, prefix: str) -> dict[str, int]:
        """Return the size of each file whose name has the prefix."""
        return {each["path"]: each["size"] for each in self._listed(prefix)}

    def put(self, name: str, content: bytes | Path) -> None:
        """Write a file; it appears once it is complete."""
        import obstore

        self._do("write", name, lambda: obstore.put(self._store, name, content))

    def copy(self, old: str, new: str) -> bool:
        """Copy a file inside the store; returns False if it no longer exists."""
        import obstore

        done: bool = self._do("copy", old, lambda: obstore.copy(self._store, old, new) is None, missing=False)
        return done

    def times(self, prefix: str) -> dict[str, datetime]:
        """Return the modification time of each file whose name has the prefix."""
        return {each["path"]: each["last_modified"] for each in self._listed(prefix)}

    def remove(self, names: Sequence[str]) -> None:
        """Remove files; missing ones are ignored."""
        import obstore

        self._do("remove", names[0], lambda: obstore.delete(self._store, names), missing=None)

    def _listed(self, prefix: str) -> Sequence[Any]:
        import obstore

        found: Sequence[Any] = self._do("list", prefix, lambda: obstore.list(self._store, prefix).collect(), missing=())
        return found

    def _do(self, verb: str, name: str, action: Callable[[], Any], missing: Any = ...) -> Any:
        """Run an action on the store; if the file is missing, return `missing`."""
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


def concurrently(action: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """Run an action on each item, in several threads; the first error ends it."""
    pool = ThreadPoolExecutor(CONCURRENCY)
    try:
        return list(pool.map(action, items))
    finally:
        pool.shutdown(cancel_futures=True)


class SecretValues:
    """Secret values, hidden from tracebacks."""

    __slots__ = ("_values",)

    def __init__(self, options: Mapping[str, Any]) -> None:
        secrets = (value for name, value in _texts("", options) if name not in PUBLIC_OPTIONS or "@" in value)
        self._values = [value for value in secrets if len(value) >= MIN_SECRET_LENGTH]

    def redact(self, cause: Exception) -> str:
        """Return the message of an error in one line, with the values redacted."""
        message = str(cause).partition("\n\nDebug source")[0]
        for value in self._values:
            message = message.replace(value, "***")
        return textwrap.shorten(message, MAX_MESSAGE) or type(cause).__name__

    def __repr__(self) -> str:
        """Show no value."""
        return "<secrets>"


def _texts(name: str, value: object) -> Iterator[tuple[str, str]]:
    """Yield every text of a value with its closest name."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, dict):
        for inner, each in value.items():
            yield from _texts(str(inner), each)


def is_url(target: object) -> bool:
    """Return whether a target is a URL or similar: text with a colon before the first slash, as in `s3://bucket`.

    Such text in a path object counts too: it would be the folder `s3:`.
    """
    text = os.fspath(target) if isinstance(target, str | os.PathLike) else ""
    return isinstance(text, str) and ":" in os.path.splitdrive(text)[1].partition("/")[0]


def local_path(url: str) -> Path | None:
    """Return the folder of a file URL; None for any other store."""
    split = urlsplit(url)
    return Path(url2pathname(split.path)) if split.scheme == "file" else None


def url_problem(url: str) -> str | None:
    """Return the problem of an address that is no URL or does not lead to a folder; None if there is none."""
    try:
        split = urlsplit(url)
    except ValueError as cause:
        return f"`target` is not a URL: {cause}"
    if split.query or split.fragment or "@" in split.netloc:
        return "`target` must not contain credentials or other settings: pass them by name, as options"
    if "\0" in unquote(url):
        return "`target` contains a null character, which folder names cannot contain"
    if split.scheme == "memory":
        return "`target` is in the memory of this process, which no other process can read: pass the URL of a store"
    # `file:work` is not the folder `work`: it would be read as `/work`.
    if not url.lower().startswith("file:///") if split.scheme == "file" else "://" not in url:
        given = "a string with a colon" if "@" in url else repr(url)
        return (
            "`target`: expected a path such as '/srv/farm', or a URL such as 's3://bucket/farm' or 'file:///srv/farm', "
            f"got {given}; begin the path of a folder with a colon in its name with '/'"
        )
    path = local_path(url)
    return None if path is None else path_problem(path)


def path_problem(path: Path) -> str | None:
    """Return the reason why nothing can be published into a folder; None if there is none."""
    advice = "pass the address of a folder, which is created if missing"
    if path == Path(path.anchor):
        return f"`target` is the root of the file system: {advice}"
    # The store reports folders without permission.
    file = next((each for each in (path, *path.parents) if os.path.isfile(each)), None)  # noqa: PTH113
    return None if file is None else f"`target` is at or below the file `{file}`: {advice}"


def open_store(url: str, options: dict[str, Any]) -> Store:
    """Open the store of a checked address and empty its options, since tracebacks show local variables."""
    from obstore.store import from_url

    secrets = SecretValues(options)
    split = urlsplit(url)
    try:
        folder_options = {"mkdir": True, "automatic_cleanup": True} if split.scheme == "file" else {}
        return Store(from_url(url.rstrip("/"), **{**folder_options, **options}), url.rstrip("/"), secrets)
    except Exception as cause:  # noqa: BLE001 - any error is reported, with the options redacted
        reason = secrets.redact(cause)
    finally:
        options.clear()
    shown = f"{split.scheme}://{split.hostname or ''}{split.path}"
    raise ValueError(f"cannot open a store from `target` ({shown}) and the options: {reason}") from None
