"""Writes the text that explains a publication to readers without headland."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headland.mirror.publication import README

if TYPE_CHECKING:
    from headland.mirror.folder_store import FolderStore
    from headland.mirror.object_store import Store

TEXT = """\
Field data published by headland
================================

These are tables of field work: harvest, application, planting and others.
They are Parquet and GeoParquet files. DuckDB, polars, pandas, geopandas and
QGIS read them; headland is not needed.

Folders
-------
latest/        The newest state. Use it in scripts and maps: its name does not
               change. Each publication replaces it, so store nothing there.
generations/   Complete states that never change, the newest two.
styles/        Styles for QGIS of the tables of rows.
current.json   Names the newest state in generations/.
archives/      The original files of the jobs, if they are published.

In a local folder, latest/ is replaced as a whole. In an object store, its
files are replaced one by one, and latest/manifest.json lists no file meanwhile.
If you need one complete state at any time, read "state" in current.json, and
then the files in that folder.

Tables of a state
-----------------
dataset/               All rows with the columns and units of the display, in
                       folders by job type, year and set of columns.
harvest_rows/          Harvest, application and planting with the same columns
application_rows/      for all jobs: worked_area in m2, masses in kg, yields in
planting_rows/         kg/ha, rates in kg/ha, L/ha or seeds/ha by "quantity". A value
                       is null if no column has it or its unit is unknown, so
                       divide sums over the same rows. "time" is in UTC, or in
                       the time of the display, as "clock" says; "start_date"
                       is in that of the display. Yields in kg/ha and m3/ha
                       are those of the display, the dry ones at its own
                       moisture; "dry_mass" and "yield_dry" are at
                       "market_moisture" (percent of water).
catalog/field_means.parquet
                       Each harvest: field, year, crop, covered_area (ground
                       counted once, m2), dry_mass (kg, at market_moisture in
                       percent), mean (kg/ha).
catalog/covered_areas.parquet
                       The worked ground of each job, counted once (m2).
catalog/harmonized.parquet
                       Where each of these columns comes from, and why a layer
                       is not among them.
catalog/units.parquet  The units of the columns of dataset/.
catalog/boundaries.parquet
                       The field boundaries.
catalog/jobs.parquet   The jobs; catalog/ has further tables.
manifest.json          The files, with their sizes and SHA-256 digests.

A state published by an earlier version of headland lacks some of these tables.

Queries
-------
Run them in the folder of this file, or write its address before `latest`.

DuckDB, the mean yield of each field, year and crop in kg/ha. A job whose field nothing names keeps its own line:

    SELECT coalesce(field, job_name) AS field, year, crop, sum(dry_mass) / sum(covered_area) * 10000 AS mean
    FROM 'latest/catalog/field_means.parquet' GROUP BY ALL;

DuckDB, the applied amount of each job, in kg, L or seeds, and its rate:

    SELECT job_name, quantity, sum(amount) AS amount,
           sum(amount) / sum(worked_area) * 10000 AS rate
    FROM 'latest/application_rows/*.parquet'
    WHERE amount IS NOT NULL GROUP BY ALL;

DuckDB, the number of rows of each job type and year:

    SELECT job_type, year, count(*) AS rows
    FROM read_parquet('latest/dataset/**/*.parquet', hive_partitioning = true, union_by_name = true)
    GROUP BY ALL ORDER BY ALL;

polars, the jobs:

    import polars as pl
    print(pl.read_parquet("latest/catalog/jobs.parquet"))

geopandas, the harvest of one year on the ground:

    import geopandas as gpd
    from pathlib import Path
    part = next(Path("latest/dataset/job_type=Yield").rglob("*.parquet"))
    print(gpd.read_parquet(part))

QGIS: drag latest/catalog/boundaries.parquet, or a file of latest/harvest_rows,
into the window of a map. The styles in styles/ have the classes and colours of
maps: load one by Properties > Symbology > Style > Load Style.
"""

TITLE = TEXT.partition("\n")[0].encode()
"""The first line of the text, in every version of headland."""


def write(store: Store | FolderStore) -> None:
    """Write the text, unless it is there; a file with another title is kept."""
    there = store.read(README)
    if there is None or (there.startswith(TITLE) and there != TEXT.encode()):
        store.put(README, TEXT.encode())
