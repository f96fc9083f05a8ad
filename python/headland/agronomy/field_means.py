"""Mean yields of fields."""

from __future__ import annotations

from collections.abc import Iterable  # noqa: TC003 -- for `typing.get_type_hints`
from typing import cast

from headland import _core
from headland.agronomy.concat import Jobs, given, parts_of
from headland.layer.layer import Layer
from headland.layer.reader import LayerReader
from headland.layer.table_input import TableLike, is_table


def field_means(layers: TableLike | Iterable[TableLike] | Jobs) -> Layer:
    """Return the mean yield of each harvest and field: all dry mass of the job by its ground, counted once.

    Swaths overlap, and grain arrives after the header went up, so a mean of rows is too low. The ground of each row is
    that of ``headland.clean``; no row is left out, and ground whose mass was not logged has the mean of the other. Sums
    of several jobs divide in the same way: ``sum(dry_mass) / sum(covered_area)``.

    Args:
        layers: A layer of one or several harvests, several layers, or the jobs of ``client.job_data.read_all``. Layers
            that are not harmonised are harmonised; the rows of ``headland.concat`` are taken job by job.

    Returns:
        A table with one row for each job, field and crop that its rows name. Its columns are `job_id`, `job_name`,
        `field`, `year`, `crop`, `rows`, `rows_without_yield`, `worked_area` and `covered_area` (m2), `dry_mass` (kg),
        `mean` (kg/ha) and `market_moisture` (percent of water of mass and mean). Ground, mass and mean are null
        together where one of them is unknown, and `diagnostics` state the reason.

    Raises:
        ValueError: A layer is no harvest, or its columns have no known meaning.
        TypeError: An item that is neither a layer nor a table.
        ImportError: A table needs pyarrow; ``pip install 'headland[geo]'`` installs it.

    >>> means = headland.field_means(client.job_data.read_all(job_type="yield", year=2025)).to_pandas()
    """
    is_one = isinstance(layers, Layer) or (is_table(layers) and not isinstance(layers, LayerReader))
    several = cast("Iterable[TableLike] | Jobs", [layers] if is_one else layers)
    return Layer(_core.field_means(given(parts_of(several))))
