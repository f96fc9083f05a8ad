"""One job of a report: its layer, its cleaned map, its target and applied rates, and its diagnostics."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from dataclasses import field as attribute
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from headland.agronomy.rates import compare_rates
from headland.display import quantities
from headland.errors import HeadlandError

from .bounding_boxes import Box, box_of
from .formats import KINDS, mean_text
from .measured_totals import Amount, Measured, measure, numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from headland._core import Cleaned as CoreCleaned
    from headland.agronomy.rates import RateComparison
    from headland.layer.layer import Layer

__all__ = ["CleanedRows", "Job", "Logged", "add_diagnostics", "add_layer", "add_texts", "kind_text"]

AGREEMENT = 1e-6
"""The relative difference up to which a total equals the known one."""

MAX_SAME = 3
"""Maximum number of diagnostics of one code that are written out for a job; the others are counted."""


class CleanedRows(Protocol):
    """A cleaned job, whose class imports the report that it saves."""

    _core: CoreCleaned

    @property
    def layer(self) -> Layer:
        """The cleaned rows."""

    @property
    def report(self) -> Layer:
        """The effect of each step."""


class Logged(NamedTuple):
    """A column as the file has it, and the canonical columns that read it."""

    name: str
    type: str
    unit: str
    canonical: str


@dataclass
class Job:
    """One job and its results."""

    id: str
    name: str
    sub_type: str
    field: str
    source: str | None = None
    """The archive, if it names the job."""
    entry: Mapping[str, Any] = attribute(default_factory=dict)
    """The job as the service lists it."""
    number: int = 0
    """The number in the ids of its row and its map."""
    page: str = ""
    """The file name of its page, if another page links to it."""
    rows: int = 0
    layer: Layer | None = None
    """The layer until it is drawn, harmonised if possible."""
    measured: Measured | None = None
    cleaned: CleanedRows | None = None
    """The cleaned job until it is drawn."""
    sentence: str = ""
    """What was logged, what is left out and why, and the mean of the rest; or why nothing was cleaned."""
    cleaned_mean: str = ""
    """The mean of the rows that are used, of a harvest with its moisture."""
    comparison: RateComparison | None = None
    """Target and applied until they are drawn."""
    rates: str = ""
    """How much ground got the rate that was asked for."""
    rates_svg: str = ""
    products: list[str] = attribute(default_factory=list)
    """What the service reports of the products, in sentences."""
    known: Amount | None = None
    """A total that is known otherwise, such as that of a generated job."""
    known_area: float | None = None
    """The area in square metres that is known otherwise."""
    has_known_rows: bool = False
    columns: list[Logged] = attribute(default_factory=list)
    warnings: list[str] = attribute(default_factory=list)
    remarks: list[str] = attribute(default_factory=list)
    origin: list[str] = attribute(default_factory=list)
    """Where the job comes from, beside its name and its rows."""
    problem: str | None = None
    files: list[str] = attribute(default_factory=list)
    """Files beside the page."""
    svg: str = ""
    note: str = ""
    """What the map shows, as a sentence."""
    unit: str = ""
    """The unit of the map."""
    scale: tuple[float, float] | None = None
    """The values of the first and the last colour, if other maps have them too."""

    @property
    def bounds(self) -> Box | None:
        """The box around the layer in degrees, until it is drawn."""
        return None if self.layer is None else box_of(self.layer)

    @property
    def is_mapped(self) -> bool:
        """Whether the page has a map of the job."""
        return bool(self.svg)

    def release(self) -> None:
        """Release the maps after the page is written: an index needs only the row."""
        self.svg, self.rates_svg = self.svg[:1], ""

    @property
    def year(self) -> int | None:
        """The year of the work."""
        if self.measured is not None and self.measured.start is not None:
            return self.measured.start.year
        year = self.entry.get("year")
        return year if isinstance(year, int) else None

    @property
    def title(self) -> str:
        """The title of the map."""
        item = None if self.measured is None else self.measured.item
        place = self.name if self.source else f"{self.field} {self.year or ''}".strip()
        return f"{place}: {item.split(',')[0]}" if item else place

    @property
    def card(self) -> tuple[bool, str, str]:
        """The card of the job, in the order of the page: archives first."""
        return self.source is None, self.field, self.source or ""

    @property
    def difference(self) -> float | None:
        """The difference of the measured from the known total in percent."""
        total = None if self.measured is None else self.measured.total
        if total is None or self.known is None or total.unit != self.known.unit:
            return None
        return (total.value / self.known.value - 1.0) * 100.0

    @property
    def area_difference(self) -> float | None:
        """The difference of the measured from the known area in percent."""
        area = None if self.measured is None else self.measured.area
        return None if area is None or self.known_area is None else (area / self.known_area - 1.0) * 100.0

    @property
    def agrees(self) -> bool | None:
        """Whether rows and measured total equal the known ones; None if there is nothing to compare."""
        difference = self.difference
        return None if difference is None else abs(difference) <= AGREEMENT * 100.0 and self.has_known_rows


def kind_text(job: Job) -> str:
    """Return the kind of a job, or its type in the service."""
    kind = None if job.measured is None else job.measured.kind
    return KINDS.get(kind or "", job.sub_type or "Other")


def add_layer(
    job: Job,
    layer: Layer,
    clean: Callable[[Layer], CleanedRows],
    market_moisture: float | Mapping[str, float] | None = None,
) -> None:
    """Measure, clean and compare the layer of a job; what fails is a sentence of the job.

    Args:
        job: The job, which gets the results.
        layer: Its layer as read.
        clean: Cleans a harmonised layer.
        market_moisture: Percent of water at which the grain is sold, by crop if there are several.
    """
    job.rows = len(layer)
    job.layer, found = measure(layer, job.entry, market_moisture)
    job.measured = found
    job.columns = logged(layer, job.layer)
    add_diagnostics(job, job.layer)
    if found.error is None:
        try:
            job.cleaned = clean(job.layer)
        except (HeadlandError, ValueError) as error:
            job.sentence = f"Not cleaned: {error}"
        else:
            job.sentence = str(job.cleaned)
            job.cleaned_mean = cleaned_mean(job.cleaned)
            add_diagnostics(job, job.cleaned.layer)
        if found.kind != "yield":
            compare(job, job.layer)
            if job.comparison is not None:
                add_diagnostics(job, job.comparison.layer)
    texts = [*job.warnings, *job.remarks]
    doubts = (text for text in (found.error, *found.doubts) if text)
    add_texts(job.warnings, [text for text in doubts if not any(each.endswith(text) for each in texts)])


def add_diagnostics(job: Job, layer: Layer) -> None:
    """Add the diagnostics of a layer, each message once."""
    for is_remark, texts in ((True, job.remarks), (False, job.warnings)):
        said = dict.fromkeys(
            (each.severity, each.code, each.message)
            for each in layer.diagnostics
            if (each.severity == "info") == is_remark
        )
        add_texts(texts, said_of([*said]))


def add_texts(texts: list[str], more: list[str]) -> None:
    """Add texts that are not there yet."""
    texts += [text for text in more if text not in texts]


def said_of(diagnostics: list[tuple[str, str, str]]) -> list[str]:
    """Return the messages of distinct diagnostics; of many of one code, some and the number of the others."""
    codes: dict[str, list[str]] = defaultdict(list)
    for severity, code, message in diagnostics:
        codes[code].append(f"{severity} {code}: {message}")
    texts = []
    for code, same in codes.items():
        texts += same[:MAX_SAME]
        texts += [f"{len(same) - MAX_SAME:,} more of {code}"] if len(same) > MAX_SAME else []
    return texts


def cleaned_mean(cleaned: CleanedRows) -> str:
    """Return the mean of the used rows, that of a harvest with its moisture; empty if it is unknown."""
    report, core = cleaned.report, cleaned._core  # noqa: SLF001 - an object of this package
    column, kind = ("yield_without", "yield") if core.is_harvest else ("rate_without", None)
    unit = report.units.get(column, "unknown")
    mean = report.values(column)[-1] if column in report.columns else None
    if mean is None or unit in ("", "unknown") or (core.is_harvest and unit != "kg/ha"):
        return ""
    text = mean_text(Amount(mean, unit), kind) or ""
    return f"{text} {quantities.at_moisture(core.dry_basis)}" if core.is_harvest else text


def compare(job: Job, layer: Layer) -> None:
    """Compare target and applied, if a target was logged."""
    if "target_rate" not in layer.columns or not numbers(layer, "target_rate"):
        return
    try:
        job.comparison = compare_rates(layer)
    except (HeadlandError, ValueError) as error:
        job.rates = f"Target and applied were not compared: {error}"
    else:
        job.rates = str(job.comparison)


def logged(layer: Layer, canonical: Layer) -> list[Logged]:
    """Return the columns as read, and the canonical column of each."""
    readers: dict[str, list[str]] = {}
    for entry in canonical.provenance:
        for source in str(entry["source"]).split(", "):
            readers.setdefault(source.removesuffix("_original"), []).append(str(entry["column"]))
    units = layer.units
    return [
        Logged(column.name, column.type, units.get(column.name, ""), ", ".join(readers.get(column.name, [])))
        for column in layer.describe()
    ]
