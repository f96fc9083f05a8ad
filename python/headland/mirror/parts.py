"""What a mirror has published: its parts, what their footers say, and reading no more of them than is asked for."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import math
import numbers
import os
import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from headland import arguments, errors
from headland.mirror import blocks, job_types, schemas

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import geopandas as gpd
    import pyarrow as pa

JOURNAL = "journal.sqlite"
"""The file by which the folder of a mirror is known."""

MANIFEST = "manifest.json"
"""The file of a state that lists its files and where their rows come from."""

SEAL = re.compile(rb',"sha256":"([0-9a-f]{64})"}')
"""The end of a manifest: the digest of all that comes before it."""

SEALED_SINCE = 3
"""The format of manifests from which on they have that digest."""

FORMAT = 4
"""The newest format of manifests that this version reads."""

SEALED = 77
"""How many bytes that are."""

PARTS = "dataset/job_type=*/year=*/columns=*/*.parquet"
"""Where the parts are, under a published state."""

COVERING = ("xmin", "ymin", "xmax", "ymax")
"""The sides of a box, in the order in which users give them."""

Box = tuple[float, float, float, float]
"""West, south, east and north."""


NULL = "__HIVE_DEFAULT_PARTITION__"
"""What a folder says where there is no value."""


class Part(NamedTuple):
    """A file of the dataset, what its folders say of it, and what the manifest says of its bytes."""

    path: Path
    job_type: str | None
    year: int | None
    crc32: str | None


class Piece(NamedTuple):
    """Row groups of a part, as a task takes them: texts and numbers only."""

    path: str
    job_type: str | None
    year: int | None
    places: str | None
    covering: str | None
    groups: tuple[int, ...]
    crc32: str | None


NOTHING = Piece("", None, None, None, None, (), None)
"""The piece of no rows: what a selection without any is read from."""


class Head(NamedTuple):
    """What the footer of a part says: its columns without the boxes, the columns of places and of boxes, row groups."""

    part: Part
    schema: pa.Schema
    places: str | None
    covering: str | None
    groups: tuple[tuple[int, Box | None], ...]


def published(folder: Path) -> Path:
    """Give the folder of the state that is published now; it stays whole when another one is published."""
    current = folder / "current"
    try:
        # A loop of links is an error of the system here, of whatever version Python is.
        state = Path(os.path.realpath(current, strict=True))
        if not state.is_dir() and current.is_symlink():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    except OSError as cause:
        message = f"the mirror in `{folder}` has published nothing yet; `sync()` or `headland pull` fills it"
        if current.is_symlink() or any((folder / "generations").glob("[0-9]*")):
            message = f"`{current}`, which leads to what is published, was lost; {blocks.AGAIN}"
        elif isinstance(cause, NotADirectoryError):
            message = f"`{folder}` is a file or lies in one, and a mirror is a folder: choose another path"
        raise errors.from_os("ConfigurationError", message, cause) from None
    if not current.is_symlink() and not (state / MANIFEST).is_file():
        raise errors.ConfigurationError(
            f"`{current}` is not the link that headland makes there, and holds nothing that was published: "
            f"move it away; {blocks.AGAIN}"
        )
    return state


def archive(folder: Path, digest: str) -> Path:
    """Give where the archive of a digest is."""
    found = sorted((folder / "archives" / digest[:2]).glob(f"{digest}.*"))
    if not found:
        cause = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        message = f"the mirror in `{folder}` lacks the archive {digest}; `verify()` says what else is missing"
        raise errors.from_os("ArchiveError", message, cause)
    return found[0]


def rows(state: Path) -> dict[str, int]:
    """Give the rows of each part that the manifest of a state names, by its path in there.

    Raises:
        ArchiveError: The manifest is missing or damaged.
    """
    return {name: rows for name, (rows, _) in _listed(state).items()}


def _listed(state: Path) -> dict[str, tuple[int, str | None]]:
    """Give the rows of each part that the manifest of a state names, and the checksums of its blocks."""
    with manifest(state) as (_, said):
        return {part["path"]: (int(part["rows"]), _crc32(part)) for part in said["parts"]}


def _crc32(entry: dict[str, Any]) -> str | None:
    """Give the checksums of a file; what was written before there were any has none."""
    crc32 = entry.get("crc32")
    if not isinstance(crc32, str | None):
        raise TypeError(f"`crc32` is {crc32!r}")
    return crc32 or None


@contextlib.contextmanager
def manifest(state: Path) -> Iterator[tuple[bytes, Any]]:
    """Give the bytes of a state's manifest and what they say; what the block does not find in there is damage.

    Raises:
        ArchiveError: The manifest is missing or damaged.
        ConfigurationError: A newer headland wrote it.
    """
    path = state / MANIFEST
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise blocks.missing(path) from None
    seal = SEAL.fullmatch(content[-SEALED:])
    if seal is not None and hashlib.sha256(content[:-SEALED]).hexdigest().encode() != seal[1]:
        raise errors.ArchiveError(
            f"`{path}` is damaged (it is not what was written: it has another digest); {blocks.AGAIN}"
        )
    try:
        said = json.loads(content)
        if said["format"] > FORMAT:
            raise errors.ConfigurationError(
                f"`{path}` was written by a newer headland (format {said['format']}, this one knows {FORMAT}): "
                "upgrade headland"
            )
        if seal is None and said["format"] >= SEALED_SINCE:
            raise ValueError("its digest is gone")  # noqa: TRY301 - damage like any other
        yield content, said
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as cause:
        raise errors.ArchiveError(f"`{path}` is damaged ({cause!r}); {blocks.AGAIN}") from None


def parts(state: Path) -> list[Part]:
    """List the parts of a state.

    Raises:
        ArchiveError: One that was published is missing, or the manifest that names them: what is left would look like
            all there is.
    """
    listed = _listed(state)
    for name in listed:
        if not (state / name).is_file():
            raise blocks.missing(state / name)
    found = []
    for path in sorted(state.glob(PARTS)):
        kind, year = (folder.name.partition("=")[2] for folder in (path.parents[2], path.parents[1]))
        _, crc32 = listed.get(path.relative_to(state).as_posix(), (0, None))
        found.append(Part(path, None if kind == NULL else unquote(kind), None if year == NULL else int(year), crc32))
    return found


def catalog(state: Path) -> dict[Path, str | None]:
    """List the tables of a state's catalog, those that its manifest names and that are missing among them.

    Returns:
        The path of each, and the checksums of its blocks where they are known.
    """
    found: dict[Path, str | None] = dict.fromkeys((state / "catalog").glob("*.parquet"))
    if (state / MANIFEST).exists():
        with manifest(state) as (_, said):
            found |= {state / table["path"]: _crc32(table) for table in said["catalog"]}
    return dict(sorted(found.items()))


def selected(
    found: Sequence[Part], job_type: str | Iterable[str] | None, year: int | Iterable[int] | None
) -> tuple[list[Part], list[Part]]:
    """Give the parts of the job types, and those of them that are of the years.

    Raises:
        ValueError: There is no such job type, or its name may be that of several.
    """
    there = {part.job_type for part in found if part.job_type}
    kinds = None if job_type is None else job_types.selected(job_type, there)
    years = None if year is None else _years(year)
    of_kind = [part for part in found if kinds is None or part.job_type in kinds]
    return of_kind, [part for part in of_kind if years is None or part.year in years]


def _years(year: object) -> set[int]:
    years = arguments.several(year)
    if not all(isinstance(each, numbers.Integral) and not isinstance(each, bool) for each in years):
        raise TypeError(f"`year` takes a year such as 2026, or several, not {year!r}")
    if not years:
        raise ValueError("`year` names no year; leave it out for all")
    return {int(each) for each in years}


def head(part: Part) -> Head:
    """Read the footer of a part.

    Raises:
        ArchiveError: It is missing or damaged.
    """
    import pyarrow as pa

    with blocks.parquet(part.path, part.crc32) as file:
        metadata, schema = file.metadata, file.schema_arrow
        geo = json.loads((metadata.metadata or {}).get(b"geo", b"{}"))
        places = geo.get("primary_column")
        said = geo.get("columns", {}).get(places, {})
        covering = said.get("covering", {}).get("bbox", {}).get(COVERING[0], [None])[0]
        # A system that is not said is WGS 84 by the rules of GeoParquet; one that is unknown is said to be null.
        fields = [
            schemas.places(said.get("crs", "OGC:CRS84"), field.metadata) if field.name == places else field
            for field in schema
            if field.name != covering
        ]
        groups = tuple(_group(metadata.row_group(at), covering) for at in range(metadata.num_row_groups))
    keys = [pa.field("job_type", pa.large_string()), pa.field("year", pa.int32())]
    return Head(part, pa.schema([*keys, *fields]), places, covering, groups)


def _group(group: Any, covering: str | None) -> tuple[int, Box | None]:
    """Give the rows of a row group and the box around them, where its statistics tell."""
    sides = [f"{covering}.{side}" for side in COVERING]
    found = {}
    for at in range(group.num_columns):
        column = group.column(at)
        if column.path_in_schema in sides and column.statistics is not None and column.statistics.has_min_max:
            found[column.path_in_schema] = (column.statistics.min, column.statistics.max)
    if len(found) < len(sides):
        return group.num_rows, None
    west, south, east, north = (found[side] for side in sides)
    return group.num_rows, (west[0], south[0], east[1], north[1])


def meets(one: Box, other: Box) -> bool:
    """Say whether two boxes have a point in common."""
    return one[0] <= other[2] and other[0] <= one[2] and one[1] <= other[3] and other[1] <= one[3]


def pieces(heads: Iterable[Head], bbox: Box | None, most_rows: float = math.inf) -> list[tuple[Piece, Box | None]]:
    """Cut parts into pieces of row groups that may have rows in a box, and give the box around each piece."""
    found: list[tuple[Piece, Box | None]] = []
    for each in heads:
        run: list[int] = []
        for at, (rows, box) in enumerate(each.groups):
            if bbox is not None and (each.places is None or (box is not None and not meets(box, bbox))):
                continue
            if run and rows + sum(each.groups[before][0] for before in run) > most_rows:
                found.append(_piece(each, run))
                run = []
            run.append(at)
        if run:
            found.append(_piece(each, run))
    return found


def _piece(head: Head, run: list[int]) -> tuple[Piece, Box | None]:
    boxes = [head.groups[at][1] for at in run]
    known = [box for box in boxes if box is not None]
    around = None
    if len(known) == len(boxes):
        west, south, east, north = zip(*known, strict=True)
        around = (min(west), min(south), max(east), max(north))
    part = head.part
    piece = Piece(str(part.path), part.job_type, part.year, head.places, head.covering, tuple(run), part.crc32)
    return piece, around


def read(piece: Piece, schema: pa.Schema, bbox: Box | None) -> pa.Table:
    """Read the columns of a schema from a piece; of a box, the rows whose own boxes meet it.

    Raises:
        ArchiveError: The part is missing or damaged.
    """
    import pyarrow as pa

    names = {schemas.GEOMETRY: piece.places} if piece.places else {}
    with blocks.parquet(Path(piece.path), piece.crc32) as file:
        there = set(file.schema_arrow.names)
        own = [name for name in (names.get(name, name) for name in schema.names) if name in there]
        boxes = [piece.covering] if bbox is not None and piece.covering else []
        table = file.read_row_groups(list(piece.groups), columns=[*own, *boxes])
    if bbox is not None and piece.covering:
        table = table.filter(_meeting(table.column(piece.covering), bbox)).drop_columns([piece.covering])
    table = table.rename_columns([schemas.GEOMETRY if name == piece.places else name for name in table.column_names])
    for name, value in (("job_type", piece.job_type), ("year", piece.year)):
        if name in schema.names:
            key = pa.repeat(pa.scalar(value, schema.field(name).type), len(table))
            table = table.append_column(name, key)
    return schemas.conformed(table, schema, piece.path)


def _meeting(boxes: pa.ChunkedArray, bbox: Box) -> pa.ChunkedArray:
    """Say of each row's box whether it meets another; a row without a place meets none."""
    import pyarrow.compute as pc

    west, south, east, north = (pc.struct_field(boxes, side) for side in COVERING)
    within_longitudes = pc.and_(pc.less_equal(west, bbox[2]), pc.greater_equal(east, bbox[0]))
    within_latitudes = pc.and_(pc.less_equal(south, bbox[3]), pc.greater_equal(north, bbox[1]))
    return pc.and_(within_longitudes, within_latitudes)


def within(frame: gpd.GeoDataFrame, bbox: Box | None) -> gpd.GeoDataFrame:
    """Keep the rows whose geometries meet a box; the boxes in the file are rounded outwards."""
    import shapely

    if bbox is None or schemas.GEOMETRY not in frame:
        return frame
    return frame[frame.geometry.intersects(shapely.box(*bbox))].reset_index(drop=True)


def frame(piece: Piece, schema: pa.Schema, bbox: Box | None, columns: Sequence[str] | None = None) -> Any:
    """Give the frame of a piece, as a task of Dask makes it; with `columns`, those alone."""
    import pyarrow as pa

    if columns is not None:
        kept = [*columns, *([schemas.GEOMETRY] if bbox is not None else [])]
        schema = pa.schema([field for field in schema if field.name in kept])
    whole = within(schemas.frame(read(piece, schema, bbox) if piece.groups else schema.empty_table()), bbox)
    return whole if columns is None else whole[list(columns)]


def box(bbox: object) -> Box | None:
    """Check a box: west, south, east and north in the coordinates of the dataset."""
    if bbox is None:
        return None
    takes = "`bbox` takes west, south, east and north, such as `tuple(frame.to_crs('EPSG:4326').total_bounds)`, not"
    if arguments.is_single(bbox) or isinstance(bbox, Mapping | AbstractSet):
        raise TypeError(f"{takes} {bbox!r}")
    sides = arguments.several(bbox)
    if len(sides) != len(COVERING) or not all(map(_is_side, sides)):
        raise TypeError(f"{takes} {bbox!r}")
    try:
        west, south, east, north = map(float, sides)
    except OverflowError:
        raise ValueError(f"{takes} {bbox!r}") from None
    if not (west <= east and south <= north):
        raise ValueError(f"{takes} {bbox!r}")
    return west, south, east, north


def _is_side(side: object) -> bool:
    return isinstance(side, numbers.Real) and not isinstance(side, bool)
