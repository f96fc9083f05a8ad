"""Counts ground once and shares it out onto cells with shapely, vectorised: the peers of `hl.clean` and `hl.grid`.

Both peers find the pairs of swaths with an STRtree and cut the cells with vectorised intersections. They differ in
how they subtract earlier swaths: the union of all, or one after the other by rank.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import shapely

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Polygons = NDArray[np.object_]
    Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]

# Rows of a pass less than this many rows apart do not cover each other, since positions jitter.
JITTER_ROWS = 3


def earlier_swaths(swaths: Polygons, passes: NDArray[np.int32]) -> Pairs:
    """Return the pairs of a swath and an earlier one that it meets, in their order."""
    late, early = shapely.STRtree(swaths).query(swaths, predicate="intersects")
    is_jitter = (passes[late] == passes[early]) & (late - early < JITTER_ROWS)
    is_pair = (early < late) & ~is_jitter
    late, early = late[is_pair], early[is_pair]
    order = np.lexsort((early, late))
    return late[order], early[order]


def subtract_union(swaths: Polygons, pairs: Pairs) -> Polygons:
    """Subtract the union of the earlier swaths from each swath."""
    late, early = pairs
    rows, position = np.unique(late, return_inverse=True)
    covered = shapely.union_all(shapely.multipolygons(swaths[early], indices=position)[:, None], axis=1)
    new = swaths.copy()
    new[rows] = shapely.difference(swaths[rows], covered)
    return new


def subtract_by_rank(swaths: Polygons, pairs: Pairs) -> Polygons:
    """Subtract the first earlier swath from all swaths, then the second one, and so on."""
    late, early = pairs
    starts = np.r_[0, np.flatnonzero(np.diff(late)) + 1]
    rank = np.arange(len(late)) - np.repeat(starts, np.diff(np.r_[starts, len(late)]))
    new = swaths.copy()
    for step in range(rank.max() + 1):
        is_step = rank == step
        new[late[is_step]] = shapely.difference(new[late[is_step]], swaths[early[is_step]])
    return new


def by_cell(new: Polygons, side: float) -> dict[tuple[int, int], float]:
    """Return the ground in each square; pieces within one square are not cut."""
    bounds = shapely.bounds(new)
    some = np.flatnonzero(~np.isnan(bounds[:, 0]))
    low, high = (np.floor(bounds[some][:, half] / side).astype(int) for half in (slice(0, 2), slice(2, 4)))
    is_whole = (low == high).all(axis=1)
    cut = some[~is_whole]
    first, last = low.min(axis=0), high.max(axis=0)
    columns, rows = np.meshgrid(np.arange(first[0], last[0] + 1), np.arange(first[1], last[1] + 1))
    columns, rows = columns.ravel(), rows.ravel()
    squares = shapely.box(columns * side, rows * side, (columns + 1) * side, (rows + 1) * side)
    piece, square = shapely.STRtree(squares).query(new[cut], predicate="intersects")
    areas = shapely.area(shapely.intersection(new[cut][piece], squares[square]))
    width = last[0] - first[0] + 1
    whole_square = (low[is_whole, 1] - first[1]) * width + low[is_whole, 0] - first[0]
    sums = np.bincount(np.r_[square, whole_square], np.r_[areas, shapely.area(new[some[is_whole]])], len(squares))
    return {(int(columns[at]), int(rows[at])): float(sums[at]) for at in np.flatnonzero(sums)}


PEERS = {"union": subtract_union, "rank": subtract_by_rank}
