"""Lists the peers in the comparison of archive readers, and the target of each task."""

from __future__ import annotations

import importlib.util
import sys
import zipfile
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import geopandas as gpd
import pandas as pd
import pyarrow as pa
import pyogrio
import shapefile

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Callable

    Work = Callable[[], Any]
    Prepare = Callable[[Path, Path], Work]


@dataclass(frozen=True)
class Peer:
    """Another reader: returns its work for an archive and an output folder."""

    of: Prepare
    is_slow: bool = False


@dataclass(frozen=True)
class Task:
    """A conversion of a zip, the peers that do the same, and the smallest speed-up of headland."""

    name: str
    ask: float
    ours: Prepare
    peers: dict[str, Peer] = field(default_factory=dict)

    def check(self, outcome: Any, rows: int) -> None:
        """Compare the outcome with the rows of the archive."""
        found = len(outcome) if hasattr(outcome, "__len__") else outcome
        assert found == rows, f"{self.name}: {found} rows, not {rows}"


def largest_member(path: Path) -> int:
    """Return the bytes of the largest member of a zip."""
    with zipfile.ZipFile(path) as archive:
        return max(member.file_size for member in archive.infolist())


def written(path: Path, rows: int) -> int:
    """Assert that a file was written, and return the rows."""
    assert path.stat().st_size > rows
    return rows


def stem(path: Path) -> str:
    """Return the path of the .shp inside the zip."""
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.lower().endswith(".shp")]
    return next(name for name in names if "__MACOSX" not in name)


def ours_arrow(path: Path, _: Path) -> Work:
    """Read into an Arrow table."""
    return lambda: hl.read(path).to_arrow()


def ours_frame(backend: str) -> Prepare:
    """Read into a frame with those column types."""
    return lambda path, _: lambda: hl.read(path).to_geopandas(dtype_backend=backend)


def ours_written(ending: str) -> Prepare:
    """Read and write a file."""

    def prepare(path: Path, out: Path) -> Work:
        target = out / f"ours{ending}"

        def work() -> int:
            layer = hl.read(path)
            target.unlink(missing_ok=True)
            if ending == ".parquet":
                layer.write_parquet(target)
            else:
                # GDAL's writer keeps the given coordinates, so both do.
                layer.write_geojson(target, crs="as-is")
            return written(target, len(layer))

        return work

    return prepare


def nullable() -> dict[str, Any]:
    """Return the settings with which pyogrio makes the nullable types of pandas."""
    types = {
        pa.int32(): pd.Int32Dtype(),
        pa.int64(): pd.Int64Dtype(),
        pa.float64(): pd.Float64Dtype(),
        pa.bool_(): pd.BooleanDtype(),
        pa.string(): pd.StringDtype(),
        pa.large_string(): pd.StringDtype(),
    }
    return {"types_mapper": types.get}


def pyogrio_arrow(path: Path, _: Path) -> Work:
    """Read by pyogrio's Arrow path."""
    return lambda: pyogrio.read_arrow(path)[1]


def pyogrio_numpy(path: Path, _: Path) -> Work:
    """Read by pyogrio's other path."""
    return lambda: pyogrio.raw.read(path)


def duckdb_arrow(path: Path, _: Path) -> Work:
    """Read by duckdb's spatial extension."""
    import duckdb
    import duckdb_extension_spatial

    extension = next(Path(duckdb_extension_spatial.__file__).parent.glob("extensions/*/spatial.duckdb_extension"))
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    connection.load_extension(str(extension))
    query = f"SELECT * FROM ST_Read('/vsizip/{path.resolve()}/{stem(path)}')"  # noqa: S608 - our own path
    return lambda: connection.sql(query).to_arrow_table()


def pyshp_records(path: Path, _: Path) -> Work:
    """Read by pyshp into its records."""

    def work() -> Any:
        with shapefile.Reader(f"{path}/{stem(path)}") as reader:
            return list(reader.iterShapeRecords())

    return work


def pyogrio_frame(**settings: Any) -> Prepare:
    """Read into a frame by pyogrio's Arrow path."""
    return lambda path, _: lambda: pyogrio.read_dataframe(path, use_arrow=True, **settings)


def geopandas_frame(path: Path, _: Path) -> Work:
    """Read as geopandas does by default."""
    return lambda: gpd.read_file(path)


def gdal_geojson(path: Path, out: Path) -> Work:
    """Read by pyogrio's Arrow path and write by GDAL."""
    target = out / "theirs.geojson"

    def work() -> int:
        meta, table = pyogrio.read_arrow(path)
        target.unlink(missing_ok=True)
        # Conversion of other systems to WGS 84 depends on other options; the text takes the same work.
        pyogrio.write_arrow(
            table,
            target,
            driver="GeoJSON",
            geometry_type=meta["geometry_type"],
            crs="EPSG:4326",
            geometry_name=meta["geometry_name"] or "wkb_geometry",
        )
        return written(target, table.num_rows)

    return work


def geopandas_parquet(path: Path, out: Path) -> Work:
    """Read by pyogrio's Arrow path and write by geopandas."""
    target = out / "theirs.parquet"

    def work() -> int:
        frame = pyogrio.read_dataframe(path, use_arrow=True)
        frame.to_parquet(target, compression="zstd", write_covering_bbox=True)
        return written(target, len(frame))

    return work


ARROW_PEERS = {
    "pyogrio.read_arrow": Peer(pyogrio_arrow),
    "pyogrio.raw.read": Peer(pyogrio_numpy),
    "pyshp": Peer(pyshp_records, is_slow=True),
}
# `make bench` installs it to a separate folder; otherwise the comparison skips it and reports that.
if importlib.util.find_spec("duckdb_extension_spatial"):
    ARROW_PEERS["duckdb ST_Read"] = Peer(duckdb_arrow)
else:
    print("duckdb ST_Read does not run: duckdb-extension-spatial is not installed", file=sys.stderr)


def versions() -> str:
    """Return the versions of the peers."""
    packages = ["geopandas", "shapely", "pandas", "pyshp"]
    if "duckdb ST_Read" in ARROW_PEERS:
        packages.append("duckdb-extension-spatial")
    gdal = ".".join(map(str, pyogrio.__gdal_version__))
    rest = ", ".join(f"{package} {version(package)}" for package in packages)
    return f"pyogrio {version('pyogrio')} with GDAL {gdal}, {rest}"


TASKS = [
    Task("Arrow", 10, ours_arrow, ARROW_PEERS),
    Task(
        "GeoDataFrame, numpy",
        5,
        ours_frame("numpy"),
        {"pyogrio.read_dataframe": Peer(pyogrio_frame()), "geopandas.read_file": Peer(geopandas_frame)},
    ),
    Task(
        "GeoDataFrame, nullable",
        5,
        ours_frame("numpy_nullable"),
        {"pyogrio.read_dataframe": Peer(pyogrio_frame(arrow_to_pandas_kwargs=nullable()))},
    ),
    Task("GeoJSON", 12, ours_written(".geojson"), {"pyogrio + GDAL's writer": Peer(gdal_geojson)}),
    Task("GeoParquet, zstd", 6, ours_written(".parquet"), {"geopandas.to_parquet": Peer(geopandas_parquet)}),
]
