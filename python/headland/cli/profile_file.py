"""Changes one table of a profile file: all other bytes are kept, and the file is replaced atomically."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import tempfile
from typing import TYPE_CHECKING, Any

from headland import _core
from headland.client import settings
from headland.errors import ConfigurationError, from_os

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def read_file(file: Path) -> bytes:
    """Return the content of a profile file, empty if there is none."""
    try:
        with file.open("rb") as opened:
            settings.refuse_foreign(file, os.fstat(opened.fileno()).st_uid)
            return opened.read()
    except FileNotFoundError:
        return b""
    except OSError as cause:
        raise from_os(
            "ConfigurationError", f"cannot read the profile file `{file}`", cause, _setting="profiles"
        ) from None


@contextlib.contextmanager
def locked(file: Path) -> Iterator[None]:
    """Lock the folder of the profile file against other logins, where the system can, so that none of them is lost."""
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        held = _core.FolderLock(file.parent)
    except OSError as cause:
        raise from_os(
            "ConfigurationError", f"cannot write the profile file `{file}`", cause, _setting="profiles"
        ) from None
    try:
        yield
    finally:
        held.release()


def read_table(content: bytes, name: str, file: Path) -> dict[str, Any]:
    """Return the table of a profile, empty if there is none; errors do not quote the content."""
    profiles, line = settings.parse_toml(content)
    content = b""
    if profiles is None:
        raise ConfigurationError(
            f"the profile file `{file}` is not TOML at line {line}: correct it or move it away, it is not overwritten",
            _setting="not TOML",
        )
    table = profiles.get(name, {})
    profiles = None
    if not isinstance(table, dict):
        table = None
        raise ConfigurationError(f"`{name}` in `{file}` is not a table: choose another name", _setting="not a table")
    return table


def change_table(content: bytes, name: str, table: Mapping[str, str | None], file: Path) -> bytes:
    """Return the content with these values in the table `name`; ``None`` removes a value.

    Raises:
        ConfigurationError: The table is written in a form that cannot be changed, such as an inline table.
    """
    text = content.decode()
    end = "\r\n" if "\r\n" in text else "\n"
    lines = [f"{_key(key)} = {_string(value)}{end}" for key, value in table.items() if value is not None]
    before, own, after = _split(text, name)
    if own:
        changed = [own[0] if own[0].endswith("\n") else own[0] + end, *lines]
        changed += [each for each in own[1:] if not _sets(each, table)]
    else:
        gap = "" if not before else end if before.endswith("\n") else end + end
        changed = [f"{gap}[{_key(name)}]{end}", *lines]
    result = "".join([before, *changed, after]).encode()
    old = _parse(content) or {}
    values = {**old.get(name, {}), **table}
    is_right = _parse(result) == {**old, name: {key: value for key, value in values.items() if value is not None}}
    if not is_right:
        # The parsed values are the proof that no other profile was changed.
        content = result = b""
        text = before = after = ""
        lines, own, changed, old, values = [], [], [], {}, {}
        raise ConfigurationError(
            f"the profile [{name}] in `{file}` has a form that cannot be changed: write it as a table, or choose "
            "another name",
            _setting="not a table",
        )
    return result


def replace_file(file: Path, content: bytes) -> None:
    """Write a file that only its owner can read; after a crash it is the old or the new one."""
    try:
        file.parent.parent.mkdir(parents=True, exist_ok=True)
        file.parent.mkdir(mode=0o700, exist_ok=True)
        # The file is created with mode 0600.
        descriptor, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
        try:
            with open(descriptor, "wb") as opened:  # noqa: PTH123 - a descriptor has no path
                opened.write(content)
                opened.flush()
                os.fsync(descriptor)
            os.replace(temporary, file)  # noqa: PTH105 - the name is a text
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)  # noqa: PTH108
            raise
        _sync_folder(file.parent)
    except OSError as cause:
        raise from_os(
            "ConfigurationError", f"cannot write the profile file `{file}`", cause, _setting="profiles"
        ) from None


def _sync_folder(folder: Path) -> None:
    """Make the new name durable; Windows cannot open a folder."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _parse(content: bytes) -> dict[str, Any] | None:
    """Return the profiles, ``None`` if the content is not TOML."""
    return settings.parse_toml(content)[0]


def _split(text: str, name: str) -> tuple[str, list[str], str]:
    """Return the text before the table `name`, the statements of the table, and the text after it."""
    before, after = "", ""
    own: list[str] = []
    is_own = False
    for statement in _statements(text):
        if statement.lstrip(" \t").startswith("["):
            is_own = not own and _parse(statement.encode()) == {name: {}}
        if is_own:
            own.append(statement)
        elif own:
            after += statement
        else:
            before += statement
    return before, own, after


def _statements(text: str) -> Iterator[str]:
    """Yield the statements of a TOML text, which may span lines; each of them is TOML itself."""
    statement = ""
    for line in re.findall(r"[^\n]*\n|[^\n]+", text):
        statement += line
        # A statement within a text of several lines or an array is not complete until that ends.
        if statement.endswith("\n") and _parse(statement.encode()) is not None:
            yield statement
            statement = ""
    if statement:
        yield statement


def _sets(statement: str, table: Mapping[str, str | None]) -> bool:
    """Return whether a statement of a table sets one of these values."""
    return not (_parse(statement.encode()) or {}).keys().isdisjoint(table)


def _key(name: str) -> str:
    return name if BARE_KEY.fullmatch(name) else _string(name)


def _string(text: str) -> str:
    """Return a TOML string; JSON escapes all characters that TOML requires but one."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
