"""The layers of several jobs, and the jobs that have none."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, SupportsIndex

from headland import _core, errors
from headland.agronomy.concat import Part, concat
from headland.agronomy.harmonize import harmonize
from headland.display.tables import Listing
from headland.layer.layer import Layer
from headland.suggestions import Suggesting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import geopandas as gpd
    import pandas as pd


class JobLayer(NamedTuple):
    """A job and its layer.

    >>> job, layer = jobs[0]
    >>> jobs[0].layer
    """

    job: dict[str, Any]
    """What the list and the detail state of the job."""
    layer: Layer
    """The layer of its archive."""


class FailedJob(NamedTuple):
    """A job without a layer: the job as listed and why."""

    job: dict[str, Any]
    """The job as in ``client.job_data.list()``."""
    error: Exception
    """Why there is no layer."""


class FailedJobs(Listing[FailedJob]):
    """The jobs that have no layer, shown as a table."""

    __slots__ = ()

    def _title(self) -> str:
        return f"{len(self):,} failed job{'' if len(self) == 1 else 's'}"

    def _columns(self) -> dict[str, Callable[[FailedJob], object]]:
        return {
            "id": lambda failed: failed.job.get("id") or failed.job.get("source"),
            "name": lambda failed: failed.job.get("name"),
            "kind": lambda failed: failed.job.get("sub_type") or failed.job.get("job_type"),
            "reason": lambda failed: failed.error,
        }


class _Pairs(Listing[tuple[int, dict[str, Any], "Layer"]]):
    """The jobs that have a layer, with their positions, shown as a table."""

    __slots__ = ()

    def _title(self) -> str:
        return f"{len(self):,} layer{'' if len(self) == 1 else 's'}"

    def _columns(self) -> dict[str, Callable[[tuple[int, dict[str, Any], Layer]], object]]:
        # An archive has no id, its path has its name, and its columns show its kind.
        is_archive = any("source" in job for _, job, _ in self)
        names = ("source",) if is_archive else ("id", "name")
        return {
            "index": lambda each: each[0],
            **{name: _stated(name) for name in names},
            "kind": lambda each: each[1].get("sub_type") or each[1].get("job_type") or kind_of(each[2]),
            "start": lambda each: _day(each[1].get("start_date")),
            "records": lambda each: len(each[2]),
        }


class JobLayers(Suggesting):
    """The layers of several jobs: iterate over pairs of job and layer, or concatenate them.

    >>> jobs = client.job_data.read_all(job_type="yield", year=2025)
    >>> table = jobs.concat()
    """

    _instead: ClassVar = {
        "plot": "`jobs.concat().plot(column)` draws all rows, and `job, layer = jobs[0]` has the layer of a job"
    }
    _table = "jobs.concat()"
    _table_class = Layer

    def __init__(self, pairs: Sequence[tuple[dict[str, Any], Layer]], failed: Sequence[FailedJob]) -> None:
        self._pairs = [JobLayer(*pair) for pair in pairs]
        self.failed = FailedJobs(failed)
        """The jobs that have no layer, with the reason of each."""

    def __iter__(self) -> Iterator[JobLayer]:
        """Iterate over pairs of job and layer, in the order of the list of jobs."""
        return iter(self._pairs)

    def __getitem__(self, index: SupportsIndex) -> JobLayer:
        """Return a pair of job and layer by its position.

        >>> job, layer = jobs[0]
        >>> jobs[0].layer.describe()
        """
        if isinstance(index, str):
            raise TypeError(
                "`jobs` takes a position, got a text: `job, layer = jobs[0]`; `read_all(name=...)` selects by name"
            )
        return self._pairs[index]

    def __len__(self) -> int:
        """Return the number of layers."""
        return len(self._pairs)

    def __repr__(self) -> str:
        """Return the jobs with their index as a table of text, and the failed jobs with their reasons."""
        return "\n".join([repr(self._listed()), *([repr(self.failed)] if self.failed else [])])

    def _repr_html_(self) -> str:
        """Return the same as HTML tables; all texts are escaped."""
        return self._listed()._repr_html_() + (self.failed._repr_html_() if self.failed else "")

    def _listed(self) -> _Pairs:
        return _Pairs((index, *pair) for index, pair in enumerate(self._pairs))

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

        Warns:
            HeadlandWarning: Archives of ``headland.read_many`` are outlines of fields, which have no rows here.

        >>> frame = client.job_data.read_all(job_type="yield", year=2025).concat().to_geopandas()
        """
        return concat(self, units=units, originals=originals, market_moisture=market_moisture)

    def to_geopandas(self) -> gpd.GeoDataFrame:
        """Return the rows of all jobs as one frame, in metric units: ``concat().to_geopandas()``."""
        return self.concat().to_geopandas()

    def to_pandas(self) -> pd.DataFrame:
        """Return the same rows without geometries: ``concat().to_pandas()``."""
        return self.concat().to_pandas()

    def _parts(self) -> list[Part]:
        """Return the harmonised layers with what their jobs state, as ``headland.concat`` takes them."""
        if not self._pairs and not self.failed:
            raise ValueError(
                "no job matches the filters of `read_all` or `read_many`: `client.job_data.list()` lists the jobs"
            )
        if not self._pairs:
            raise ValueError("no job has a layer; `failed` has the reason of each")
        pairs = [pair for pair in self if not _is_outline(pair)] or self._pairs
        if outlines := len(self) - len(pairs):
            first = next(filter(_is_outline, self)).job["source"]
            what = "the outline of a field is" if outlines == 1 else f"{outlines:,} outlines of fields are"
            errors.warn(f"{what} left out of the rows of jobs, such as that of `{first}`")
        parts = [
            Part(_harmonized(job, layer), job["id"], job.get("name"), job.get("field_name"), job.get("start_date"))
            for job, layer in pairs
        ]
        kinds = Counter(part.layer.metadata.get("headland:kind", "unknown") for part in parts)
        if len(kinds) > 1:
            counts = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
            raise ValueError(f'layers of several kinds are not one table ({counts}): read one, `job_type="yield"`')
        return parts


def kind_of(layer: Layer) -> str | None:
    """Return the kind of a layer; ``None`` if its columns do not show it."""
    try:
        return harmonize(layer).metadata.get("headland:kind")
    except ValueError:
        return None


def _is_outline(pair: JobLayer) -> bool:
    """Return whether a layer is the outline of a field; that of a job is the work of the job."""
    return "source" in pair.job and _core.boundary_table(pair.layer._core) is not None  # noqa: SLF001 - own


def _stated(name: str) -> Callable[[tuple[int, dict[str, Any], Layer]], object]:
    return lambda each: each[1].get(name)


def _day(time: Any) -> str:
    return f"{time:%Y-%m-%d}" if isinstance(time, dt.date) else ""


def _harmonized(job: dict[str, Any], layer: Layer) -> Layer:
    try:
        return harmonize(layer, job=job)
    except ValueError as error:
        about = f"`{job['source']}`" if "source" in job else f"job {job['id']}, `{job.get('name')}`"
        raise ValueError(f"{about}: {error}") from None
