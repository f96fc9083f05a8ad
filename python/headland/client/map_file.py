"""Prepares a prescription map for its upload: the zip of a prescription, a path, bytes or a loose shapefile."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, NoReturn, Protocol, TypeGuard, cast

from headland import _core, arguments, errors
from headland.agronomy.check_prescription import check_prescription
from headland.files import DEFAULT_NAMES, read_upload

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headland.files import Upload
    from headland.layer.layer import Diagnostic

CALL = "prescription_maps.upload"

SHOWN = 3
"""Errors of a map that a message quotes."""

ZIP, SHAPEFILE = ".zip", ".shp"
"""Extensions by which a text is a path, not the id of a map."""


class Prescription(Protocol):
    """A prescription that knows its own zip, such as ``headland.Prescription``."""

    @property
    def name(self) -> str:
        """The name of its file, without the extension."""

    @property
    def diagnostics(self) -> Sequence[Diagnostic]:
        """What a display would refuse or change."""

    def __bytes__(self) -> bytes:
        """Return the zip."""


MapFile = Prescription | str | os.PathLike[str] | bytes | bytearray | memoryview
"""A prescription map: a prescription, a path of a zip or a .shp, or the bytes of a zip."""


class PreparedMap(NamedTuple):
    """A map that can be sent, with a warning if a display may refuse it."""

    name: str
    content: bytes
    warning: str | None


def is_prescription(file: object) -> TypeGuard[Prescription]:
    """Return whether an object is a prescription; paths have bytes too, but no diagnostics."""
    return hasattr(file, "__bytes__") and hasattr(file, "diagnostics")


def is_map_file(rx: object) -> TypeGuard[MapFile]:
    """Return whether an argument is a map to upload, or a wrong type that `prepare` explains, instead of an id."""
    if isinstance(rx, str):
        return rx.lower().endswith((ZIP, SHAPEFILE))
    types = (os.PathLike, bytes, bytearray, memoryview)
    return isinstance(rx, types) or is_prescription(rx) or hasattr(rx, "read") or _is_table(rx)


def refuse_other_file(rx: object) -> None:
    """Refuse the path of a file that is no map, which would be sent as the id of a map."""
    # For names that no file can have, `os.path` answers False.
    if isinstance(rx, str) and Path(rx).suffix and os.path.exists(rx):  # noqa: PTH110
        raise ValueError(
            f"`rx_id`: `{rx}` is a file, but a map is a .zip or .shp; `hl.Prescription` and `headland rx` make one"
        )


def prepare(file: MapFile | BinaryIO, file_type: str = "RX", *, force: bool = False) -> PreparedMap:
    """Return name and content of a map; errors of a prescription are raised, those of other files are the warning."""
    if is_prescription(file):
        refused = _errors_of(file)
        if refused is not None and not force:
            raise errors.InvalidRequest(
                f"{refused}, so nothing was sent; correct the zones, or call "
                "`client.prescription_maps.upload(rx, force=True)`",
                endpoint=CALL,
            )
        return PreparedMap(file_name(file), bytes(file), None)
    if _is_table(file):
        raise_for_table(file)
    name, content = _read(cast("Upload", file), file_type)
    warning = None
    if file_type.upper() == "RX" and not force and _core.broken_map_rule(name, content) is None:
        warning = _content_warning(name, content)
    return PreparedMap(name, content, warning)


def file_name(file: MapFile) -> str:
    """Return the file name of a map, without reading it."""
    if _is_table(file):
        raise_for_table(file)
    if is_prescription(file):
        return f"{file.name}{ZIP}"
    if isinstance(file, str | os.PathLike):
        path = arguments.path("file", file)
        return f"{path.stem}{ZIP}" if path.suffix.lower() == SHAPEFILE else path.name
    name = getattr(file, "name", None)
    return Path(name).name if isinstance(name, str) and name else DEFAULT_NAMES[CALL]


class Findings(NamedTuple):
    """What is known of a map before it is sent."""

    refusal: str | None
    """Why it would not be uploaded."""
    warning: str | None
    """What a display may refuse."""


def findings(rx: object) -> Findings:
    """Check a map that may be sent; of an id, and of a path without a file, nothing is known."""
    if is_prescription(rx):
        return Findings(_errors_of(rx), None)
    is_path = isinstance(rx, str | os.PathLike)
    if not is_map_file(rx) or (is_path and not arguments.path("file", rx).is_file()):
        return Findings(None, None)
    try:
        name, content, warning = prepare(rx)
    except errors.InvalidRequest as error:
        return Findings(str(error), None)
    return Findings(_core.broken_map_rule(name, content), warning)


def _errors_of(rx: Prescription) -> str | None:
    """Return why a prescription would not be uploaded: its errors."""
    found = [each for each in rx.diagnostics if each.severity == "error"]
    return f"prescription `{rx.name}` has {_quoted(found)}" if found else None


def raise_for_table(table: object) -> NoReturn:
    """Refuse a table of zones, which states neither the column of the rate nor its unit."""
    kind = type(table)
    name = (
        kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__.partition('.')[0]}.{kind.__name__}"
    )
    raise TypeError(
        f"`file`: expected a prescription, a path or bytes, got {name}, which states neither rate nor unit; make a "
        'prescription of it first: `hl.Prescription(frame, rate, unit="kg/ha")`'
    )


def _is_table(file: object) -> bool:
    """Return whether an object is a frame, a layer, an Arrow table or a GeoJSON mapping."""
    marks = ("__geo_interface__", "__arrow_c_stream__", "__dataframe__")
    is_frame = any(hasattr(file, mark) for mark in marks) or hasattr(file, "iterrows")
    return not is_prescription(file) and (is_frame or (isinstance(file, Mapping) and "features" in file))


def _read(file: Upload, file_type: str) -> tuple[str, bytes]:
    if isinstance(file, str | os.PathLike) and file_type.upper() == "RX":
        path = arguments.path("file", file)
        if path.suffix.lower() == SHAPEFILE and path.is_file():
            name, content = _core.zip_shapefile(path)
            return arguments.sendable("file", name), content
    return read_upload(CALL, file)


def _content_warning(name: str, content: bytes) -> str | None:
    found = [each for each in check_prescription(content) if each.severity == "error"]
    if not found:
        return None
    return (
        f"`{name}` has {_quoted(found)}; a display may refuse it: `headland.check_prescription` lists all, and "
        "`force=True` uploads without this warning"
    )


def _quoted(found: Sequence[Diagnostic]) -> str:
    count = f"{len(found)} error{'s' if len(found) > 1 else ''}"
    shown = "; ".join(f"{each.code}: {each.message}" for each in found[:SHOWN])
    more = len(found) - SHOWN
    return f"{count} ({shown}{f'; and {more} more' if more > 0 else ''})"
