"""Results of a diagnosis, step by step, as text, data and HTML."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from headland.display.escaping import printable
from headland.display.tables import table_html

if TYPE_CHECKING:
    from collections.abc import Callable

    from headland import _core


class Finding(NamedTuple):
    """The result of one step."""

    name: str
    """The step: settings, address, name, connection, TLS, service, clock, signature, access key, list call, limiter."""
    ok: bool
    """Whether calls pass this step."""
    seen: str
    """The observation."""
    next_step: str | None
    """The next step; also present if calls pass this step but something should be corrected."""

    def __str__(self) -> str:
        """Return a line, and another one with the next step."""
        lines = [f"{_label(self):<4}  {self.name:<10}  {self.seen}"]
        if self.next_step is not None:
            lines.append(f"{'':18}next: {self.next_step}")
        return "\n".join(lines)


@dataclass(frozen=True, repr=False)
class Checkup:
    """All findings in the order of the steps; if calls fail, the last one is the reason."""

    findings: tuple[Finding, ...]
    """The results of the steps that were run."""
    calls: int
    """Number of calls made for the diagnosis."""
    error: Exception | None
    """The exception that a call would have raised; ``None`` if calls succeed."""

    @property
    def ok(self) -> bool:
        """Whether calls succeed."""
        return self.error is None

    def __str__(self) -> str:
        """Return the findings, one per line, and a summary."""
        return "\n".join([*map(str, self.findings), self._summary()])

    def __repr__(self) -> str:
        """Return the same as ``print`` shows."""
        return str(self)

    def _repr_html_(self) -> str:
        """Return an HTML table for notebooks."""
        rows = ((_label(each), each.name, each.seen, each.next_step) for each in self.findings)
        table = table_html(("", "step", "seen", "next step"), rows)
        return f"{table}<p>{escape(self._summary())}</p>"

    def _summary(self) -> str:
        calls = "1 call was made" if self.calls == 1 else f"{self.calls} calls were made"
        return f"calls succeed ({calls})" if self.ok else f"calls fail at: {self.findings[-1].name} ({calls})"


def run_doctor(
    core: _core.Client, source: str = "given to this client", report: Callable[[Finding], object] = lambda _: None
) -> Checkup:
    """Diagnose the failing calls of a client; `source` names the origin of its settings."""
    findings: list[Finding] = []

    def add(name: str, ok: bool, seen: str, next_step: str | None) -> None:
        findings.append(Finding(name, ok, printable(seen), None if next_step is None else printable(next_step)))
        report(findings[-1])

    calls, error = core.diagnose(source, add)
    return Checkup(tuple(findings), calls, error)


def _label(finding: Finding) -> str:
    if not finding.ok:
        return "FAIL"
    return "ok" if finding.next_step is None else "note"
