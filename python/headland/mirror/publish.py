"""Copying what a mirror has published to an object store.

There, as here, each state has a folder of its own that never changes, `generations/<name>`, and `current.json` says
which is the newest, and by a digest of whose account. It is written last: readers that follow it, or that stay in a
state's folder, never see half of one. What the store has already from the state before is copied inside the store, and
what a broken attempt has left is not sent again. The archives are under their digests, beside the states.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import textwrap
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit
from urllib.request import url2pathname

from headland import _core, errors
from headland.mirror import blocks, parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

POINTER = "current.json"
"""The file that says which state is the newest."""

STATE = re.compile(r"generations/\d+-[0-9a-f]{12}")
"""What the folder of a state is called there: the number of the generation, and a digest of its manifest."""

AT_ONCE = 8
"""How many files are sent at a time; there are few large ones, or many small archives."""

MOST_SHOWN = 600
"""How much of what a store says of a failure is shown."""

OPEN = frozenset({"region", "endpoint", "bucket", "account_name", "container_name"})
"""Options whose values may stand in an error; all others are taken for secrets."""

SHORTEST = 4
"""The letters of the shortest text that is taken for a secret."""


class File(NamedTuple):
    """A file to publish: its path here, its path in the state, its bytes and its digest."""

    path: Path
    name: str
    bytes: int
    sha256: str


class Publication(NamedTuple):
    """What publishing did."""

    url: str
    """The address that was published to."""
    state: str
    """The folder of the state there, such as ``generations/000012-0f3a5c77de10``."""
    sent: int
    """Files that were sent."""
    kept: int
    """Files that the store had already."""
    bytes_sent: int
    """Bytes that were sent."""

    @property
    def dataset(self) -> str:
        """The address of the dataset, for readers of folders of Parquet files."""
        return f"{self.url}/{self.state}/dataset"


def publish(folder: Path, url: str, options: dict[str, Any], *, archives: bool) -> Publication:
    """Bring a store to what the mirror has published; `options` may hold credentials and are emptied."""
    mirror = _mirror_around(url, folder)
    if mirror is not None:
        options.clear()
        raise ValueError(
            f"`url` leads into a mirror, that in `{mirror}`, whose next sync would take it for its own: "
            "give the address of a folder outside it"
        )
    store = opened(url, options)
    state = parts.published(folder)
    account = _core.mirrored_account(folder)
    before, owner = _before(store)
    if account is not None and owner not in {account, None}:
        raise errors.ConfigurationError(
            f"at `{store.url}` the mirror of another account is published (another access key or another base "
            f"address): give this one an address of its own, or remove `{POINTER}` there, and publishing replaces it"
        )
    with parts.manifest(state) as (text, said):
        name = f"generations/{state.name}-{hashlib.sha256(text).hexdigest()[:12]}"
        files = [_file(state / entry["path"], f"{name}/{entry['path']}", entry) for entry in _entries(said)]
        digests = sorted({str(origin["archive"]) for part in said["parts"] for origin in part["origins"]})
    files += [_archive(folder, digest) for digest in digests] if archives else []
    known = _known(store, before) if before else {}
    there = store.sizes(f"{name}/") | (store.sizes("archives/") if archives else {})
    pool = ThreadPoolExecutor(AT_ONCE)
    try:
        sent = [count for count in pool.map(partial(_send, store, known, there), files) if count is not None]
    finally:
        pool.shutdown(cancel_futures=True)
    if before != name or there.get(f"{name}/{parts.MANIFEST}") != len(text):
        store.put(f"{name}/{parts.MANIFEST}", text)
    if before != name:
        whose = account or owner
        said = {"format": 1, "state": name, "before": before} | ({"account": whose} if whose else {})
        store.put(POINTER, json.dumps(said).encode())
        store.remove_states({name, before})
    return Publication(store.url, name, len(sent), len(files) - len(sent), sum(sent))


def _mirror_around(url: str, folder: Path) -> Path | None:
    """Give the mirror, this or another, whose folder an address is or lies in."""
    place = urlsplit(url)
    if place.scheme != "file":
        return None
    target, own = Path(url2pathname(place.path)).resolve(), folder.resolve()
    if (folder / "current").exists() and target.is_relative_to(own):
        return own
    # What may not be looked at is told by the store.
    is_file = os.path.isfile
    return next((each for each in (target, *target.parents) if is_file(each / parts.JOURNAL)), None)


def _entries(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    return [*manifest["parts"], *manifest["catalog"]]


def _file(path: Path, name: str, entry: dict[str, Any]) -> File:
    return File(path, name, entry["bytes"], entry["sha256"])


def _archive(folder: Path, digest: str) -> File:
    """Give the archive of a digest, which rows of the state come from."""
    path = parts.archive(folder, digest)
    return File(path, path.relative_to(folder).as_posix(), path.stat().st_size, digest)


def _before(store: Store) -> tuple[str | None, str | None]:
    """Give the state that the store's pointer names, and the digest of the account that it is of, where it says so.

    Raises:
        ArchiveError: The pointer is damaged.
    """
    content = store.read(POINTER)
    if content is None:
        return None, None
    try:
        said = json.loads(content)
        state = said["state"]
        if STATE.fullmatch(state):
            return str(state), said.get("account")
        reason = f"it names no state but {state!r}"
    except (ValueError, KeyError, TypeError) as cause:
        reason = repr(cause)
    raise errors.ArchiveError(
        f"`{POINTER}` at `{store.url}` is damaged ({reason}): remove that file there and publish again, "
        "which sends what is missing and removes the states before"
    )


def _known(store: Store, state: str) -> dict[str, str]:
    """Give where the store has files of the state before, by their digests."""
    there = store.sizes(f"{state}/")
    try:
        said = json.loads(store.read(f"{state}/{parts.MANIFEST}") or b"{}")
        places = {entry["sha256"]: (f"{state}/{entry['path']}", entry["bytes"]) for entry in _entries(said)}
    except (ValueError, KeyError, TypeError):
        # What cannot be known is sent.
        return {}
    return {digest: place for digest, (place, size) in places.items() if there.get(place) == size}


def _send(store: Store, known: dict[str, str], there: dict[str, int], file: File) -> int | None:
    """Bring one file there, and give its bytes where it had to be sent."""
    if there.get(file.name) == file.bytes:
        return None
    if file.sha256 in known and store.copy(known[file.sha256], file.name):
        return None
    try:
        with file.path.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
    except OSError as cause:
        message = f"`{file.path}` cannot be read; where a sync has published anew meanwhile, publish again"
        raise errors.from_os("ConfigurationError", message, cause) from None
    if digest != file.sha256:
        raise errors.ConfigurationError(
            f"`{file.path}` is not what the manifest says: its SHA-256 is {digest}, not {file.sha256}; {blocks.MEND}"
        )
    store.put(file.name, file.path)
    return file.bytes


class Store:
    """An object store, and how to speak of its failures without telling what opened it."""

    def __init__(self, store: Any, url: str, secrets: Secrets) -> None:
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
        import obstore

        found = self._do("list", prefix, lambda: obstore.list(self._store, prefix).collect(), missing=())
        return {each["path"]: each["size"] for each in found}

    def put(self, name: str, content: bytes | Path) -> None:
        """Write a file; it appears when it is whole."""
        import obstore

        self._do("write", name, lambda: obstore.put(self._store, name, content))

    def copy(self, old: str, new: str) -> bool:
        """Copy a file inside the store; False where it is not there any more."""
        import obstore

        done: bool = self._do("copy", old, lambda: obstore.copy(self._store, old, new) is None, missing=False)
        return done

    def remove_states(self, kept: set[str | None]) -> None:
        """Remove states but those that are kept, and nothing that is no state."""
        import obstore

        found = self._do("list", "generations/", lambda: obstore.list_with_delimiter(self._store, "generations/"))
        for state in found["common_prefixes"]:
            if STATE.fullmatch(state) and state not in kept:
                names = list(self.sizes(f"{state}/"))
                self._do("remove", state, partial(obstore.delete, self._store, names), missing=None)

    def _do(self, verb: str, name: str, action: Callable[[], Any], missing: Any = ...) -> Any:
        """Do something with the store; where the file is missing, give what stands for that."""
        from obstore import exceptions

        kind: type[errors.HeadlandError] = errors.TransportError
        try:
            return action()
        except FileNotFoundError as cause:
            if missing is not ...:
                return missing
            reason = self._secrets.without(cause)
        except (exceptions.PermissionDeniedError, exceptions.UnauthenticatedError) as cause:
            kind, reason = errors.PermissionDenied, self._secrets.without(cause)
        except (exceptions.BaseError, OSError) as cause:
            reason = self._secrets.without(cause)
        raise kind(f"cannot {verb} `{name}` at `{self.url}`: {reason}") from None


class Secrets:
    """Values that may not be told, in a form that no traceback shows."""

    __slots__ = ("_values",)

    def __init__(self, options: Mapping[str, Any]) -> None:
        told = (value for name, value in _texts("", options) if name not in OPEN or "@" in value)
        self._values = [value for value in told if len(value) >= SHORTEST]

    def without(self, cause: Exception) -> str:
        """Give what an error says, in a line and without the values."""
        told = str(cause).partition("\n\nDebug source")[0]
        for value in self._values:
            told = told.replace(value, "***")
        return textwrap.shorten(told, MOST_SHOWN) or type(cause).__name__

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


def _misplaced(url: str) -> str | None:
    """Say what is wrong with an address that is no URL, or that leads to a file; None where it may do."""
    split = urlsplit(url)
    # `file:work` is no address of the folder `work`: it would be taken for `/work`.
    if not url.lower().startswith("file:///") if split.scheme == "file" else "://" not in url:
        is_path = url and not split.scheme and url[0] != "~" and "@" not in url
        example = Path(url).absolute().as_uri() if is_path else "file:///srv/farm"
        given = "a text without a scheme" if "@" in url else repr(url)
        return f"`url` takes a URL, such as {example!r} for a folder or 's3://bucket/farm' for a bucket, not {given}"
    if split.scheme == "file":
        path = Path(url2pathname(split.path))
        # What may not be looked at is told by the store.
        file = next((each for each in (path, *path.parents) if os.path.isfile(each)), None)  # noqa: PTH113
        if file is not None:
            return f"`url` leads to `{file}`, which is a file: give the address of a folder, which is made where needed"
    return None


def opened(url: str, options: dict[str, Any]) -> Store:
    """Open a store, and empty its options: tracebacks show local variables."""
    from obstore.store import from_url

    secrets = Secrets(options)
    split = urlsplit(url)
    if split.query or split.fragment or "@" in split.netloc:
        options.clear()
        raise ValueError("`url` has no place for credentials and other settings: give them by name, as options")
    reason = _misplaced(url)
    if reason is not None:
        options.clear()
        raise ValueError(reason)
    try:
        made = {"mkdir": True} if split.scheme == "file" else {}
        return Store(from_url(url.rstrip("/"), **made, **options), url.rstrip("/"), secrets)
    except Exception as cause:  # noqa: BLE001 - whatever it is, it is told without what was given
        reason = secrets.without(cause)
    finally:
        options.clear()
    shown = f"{split.scheme}://{split.hostname or ''}{split.path}"
    raise ValueError(f"`url` ({shown}) and the options do not make a store: {reason}") from None
