"""Finds archives in a folder: zips, and loose shapefiles, which are zipped for the upload."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Archive", "find_archives"]


@dataclass(frozen=True)
class Archive:
    """A zip, or the members of a loose shapefile."""

    name: str
    """The path relative to the searched folder."""
    files: tuple[Path, ...]

    def content(self) -> io.BytesIO:
        """Return the zip as a named file object for the upload."""
        first = self.files[0]
        if first.suffix.lower() == ".zip":
            buffer = io.BytesIO(first.read_bytes())
        else:
            buffer = io.BytesIO()
            with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
                for file in self.files:
                    target.write(file, file.name)
            buffer.seek(0)
        # Uploads use the name of a file object.
        buffer.name = f"{first.stem}.jdp.zip"
        return buffer


def find_archives(folder: Path) -> tuple[list[Archive], list[str]]:
    """Find every zip and every loose `.shp` with its siblings below `folder`, ordered by path.

    The second list contains the tables without shapes.
    """
    if not folder.is_dir():
        message = f"no folder `{folder}`: give one that holds zipped or loose shapefiles"
        raise NotADirectoryError(message)
    found = []
    left_out = []
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.name.startswith("._") or not path.is_file():
            continue
        if path.suffix.lower() == ".zip":
            found.append(Archive(name, (path,)))
        elif path.suffix.lower() == ".shp":
            siblings = sorted(file for file in path.parent.glob(f"{_literal(path.stem)}.*") if file.is_file())
            found.append(Archive(name, tuple(siblings)))
        elif path.suffix.lower() == ".dbf" and not any(
            file.suffix.lower() == ".shp" for file in path.parent.glob(f"{_literal(path.stem)}.*")
        ):
            left_out.append(name)
    return found, left_out


def _literal(stem: str) -> str:
    """Escape characters of a file name that are patterns for `glob`."""
    return "".join(f"[{sign}]" if sign in "[]*?" else sign for sign in stem)
