"""Frames of Dask whose tasks read archives, or row groups of a dataset."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any

from headland import _core
from headland.layer import frames
from headland.layer.frames import filter_box

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import dask_geopandas
    import pyarrow as pa

    from headland.layer.frames import Box


def parallel_tasks() -> int:
    """Return the number of tasks that keep all workers busy: two for each thread of the cluster, or core."""
    import dask
    from dask.system import CPU_COUNT

    threads = 0
    if "distributed" in sys.modules:
        from distributed import get_client

        # There is none if the frame is computed on this machine.
        with contextlib.suppress(ValueError):
            threads = sum(get_client().nthreads().values())
    return 2 * (threads or dask.config.get("num_workers", None) or CPU_COUNT)


def frame_of_tasks(
    make: Callable[..., Any],
    tasks: Sequence[Any],
    schema: pa.Schema,
    *,
    boxes: Sequence[Sequence[float] | None] = (),
    **given: Any,
) -> dask_geopandas.GeoDataFrame:
    """Return a frame with one partition per task; `boxes` are the bounding boxes of their rows, if known."""
    import dask
    import dask.dataframe as dd
    import geopandas as gpd
    import shapely

    meta = frames.table_to_geo_frame(schema.empty_table())
    # Texts are Arrow strings already, and Dask would convert date columns to texts.
    with dask.config.set({"dataframe.convert-string": False}):
        frame = dd.from_map(make, tasks, meta=meta, label="headland", schema=schema, **given)
    known = [shapely.box(*box) for box in boxes if box is not None]
    if frames.GEOMETRY in schema.names and len(known) == len(tasks):
        frame.spatial_partitions = gpd.GeoSeries(known, crs=meta.crs)
    return frame


def read_row_groups(
    row_groups: list[Any], schema: pa.Schema, bbox: Box | None, columns: Sequence[str] | None = None
) -> Any:
    """Return the rows of row groups of a mirror's dataset, or only their `columns`; runs in a task."""
    import pyarrow as pa

    if columns is not None:
        kept = [*columns, *([frames.GEOMETRY] if bbox is not None else [])]
        schema = pa.schema([field for field in schema if field.name in kept])
    whole = filter_box(frames.table_to_geo_frame(pa.table(_core.read_row_groups(row_groups, schema, bbox))), bbox)
    return whole if columns is None else whole[list(columns)]
