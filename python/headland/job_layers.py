"""The layers of several jobs, and the jobs that have none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, SupportsIndex

from headland.concat import Part, concat
from headland.harmonize import harmonize

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import geopandas as gpd

    from headland.layer import Layer


class FailedJob(NamedTuple):
    """A job without a layer: the job as listed and why."""

    job: dict[str, Any]
    """The job as in ``client.job_data.list()``."""
    error: Exception
    """Why there is no layer."""


class JobLayers:
    """The layers of several jobs: iterate over pairs of job and layer, or concatenate them.

    >>> jobs = client.job_data.read_all(sub_type="yield", year=2025)
    >>> table = jobs.concat()
    """

    def __init__(self, pairs: Sequence[tuple[dict[str, Any], Layer]], failed: Sequence[FailedJob]) -> None:
        self._pairs = list(pairs)
        self.failed = list(failed)
        """The jobs that have no layer, with the reason of each."""

    def __iter__(self) -> Iterator[tuple[dict[str, Any], Layer]]:
        """Iterate over pairs of job and layer, in the order of the list of jobs."""
        return iter(self._pairs)

    def __getitem__(self, index: SupportsIndex) -> tuple[dict[str, Any], Layer]:
        """Return a pair of job and layer by its position.

        >>> job, layer = jobs[0]
        """
        return self._pairs[index]

    def __len__(self) -> int:
        """Return the number of layers."""
        return len(self._pairs)

    def __repr__(self) -> str:
        """Return the numbers of layers and failures, with the reason of each failure."""
        lines = [f"<JobLayers {len(self)} layers, {len(self.failed)} failed>"]
        lines += [f"  {failed.job.get('name')}: {failed.error}" for failed in self.failed]
        return "\n".join(lines)

    def concat(
        self,
        *,
        units: Literal["metric"] | None = "metric",
        originals: bool = False,
        market_moisture: float | Mapping[str, float] | None = None,
    ) -> Layer:
        """Return one layer with the canonical columns of all jobs, as ``headland.concat``.

        Args:
            units: ``"metric"``, or ``None`` to keep the units of the sources, which have to agree.
            originals: Whether the original columns are kept.
            market_moisture: Percent of water at which the grain is sold, as in ``headland.harmonize``.

        Returns:
            The layer in WGS 84, whose rows have `source`, `job_id`, `job_name`, `field` and `start_date` too. `field`
            is stated by the row, the job or its archive, else it is that of a boundary or another job on the same
            ground; a diagnostic names the jobs for which it is null.

        Raises:
            ValueError: There is no layer, the jobs are of several kinds, coordinates have no way to WGS 84, or a column
                cannot have one unit.

        >>> frame = client.job_data.read_all(sub_type="yield", year=2025).concat().to_geopandas()
        """
        return concat(self, units=units, originals=originals, market_moisture=market_moisture)

    def to_geopandas(self) -> gpd.GeoDataFrame:
        """Return the rows of all jobs as one frame, in metric units: ``concat().to_geopandas()``."""
        return self.concat().to_geopandas()

    def _parts(self) -> list[Part]:
        """Return the harmonised layers with what their jobs state, as ``headland.concat`` takes them."""
        if not self._pairs:
            raise ValueError("no job has a layer; `failed` has the reason of each")
        return [
            Part(_harmonized(job, layer), job["id"], job.get("name"), job.get("field_name"), job.get("start_date"))
            for job, layer in self
        ]


def _harmonized(job: dict[str, Any], layer: Layer) -> Layer:
    try:
        return harmonize(layer, job=job)
    except ValueError as error:
        raise ValueError(f"job {job['id']}, `{job.get('name')}`: {error}") from None
