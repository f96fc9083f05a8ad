"""Finding archives in a folder: zips as they are, loose shapefile sets zipped on the way."""

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
    """A zip, or the members of a loose shapefile set."""

    name: str
    """The path below the folder that was searched."""
    files: tuple[Path, ...]

    def content(self) -> io.BytesIO:
        """Give the zip as a file object that has a name, as the upload wants it."""
        first = self.files[0]
        if first.suffix.lower() == ".zip":
            buffer = io.BytesIO(first.read_bytes())
        else:
            buffer = io.BytesIO()
            with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
                for file in self.files:
                    target.write(file, file.name)
            buffer.seek(0)
        # Files have names, and so has this one.
        buffer.name = f"{first.stem}.jdp.zip"
        return buffer


def find_archives(folder: Path) -> tuple[list[Archive], list[str]]:
    """Find every zip and every loose `.shp` with its siblings below `folder`, in the order of their paths.

    The second list names the tables that no shapes belong to.
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
    """Keep the signs of a file name that `glob` would read as patterns."""
    return "".join(f"[{sign}]" if sign in "[]*?" else sign for sign in stem)
