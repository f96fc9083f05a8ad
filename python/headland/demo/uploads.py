"""Finds what the demo uploads from a folder: zips, and loose shapefiles, which are zipped."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Archive:
    """A zip, or the members of a loose shapefile; its name is the path relative to the searched folder."""

    name: str
    files: tuple[Path, ...]

    def content(self) -> io.BytesIO:
        """Return the zip as a named file object for the upload."""
        first = self.files[0]
        buffer = io.BytesIO(first.read_bytes() if first.suffix.lower() == ".zip" else b"")
        if first.suffix.lower() != ".zip":
            with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
                for file in self.files:
                    target.write(file, file.name)
            buffer.seek(0)
        # Uploads use the name of a file object.
        buffer.name = f"{first.stem}.jdp.zip"
        return buffer


def find_uploads(folder: Path) -> tuple[list[Archive], list[str]]:
    """Find every zip and every loose `.shp` with its siblings below `folder`, ordered by path.

    The second list contains the tables without shapes.
    """
    if not folder.is_dir():
        message = f"no folder `{folder}`: give one that holds zipped or loose shapefiles"
        raise NotADirectoryError(message)
    found: list[Archive] = []
    left_out: list[str] = []
    for path in sorted(folder.rglob("*")):
        name, ending = str(path.relative_to(folder)), path.suffix.lower()
        if path.name.startswith("._") or not path.is_file() or ending not in (".zip", ".shp", ".dbf"):
            continue
        siblings = sorted(file for file in path.parent.iterdir() if file.name.startswith(f"{path.stem}."))
        if ending == ".dbf":
            left_out += [] if any(file.suffix.lower() == ".shp" for file in siblings) else [name]
        else:
            found.append(Archive(name, (path,) if ending == ".zip" else tuple(filter(Path.is_file, siblings))))
    return found, left_out
