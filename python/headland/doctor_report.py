"""What the doctor found, step by step: for people, programs and notebooks."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from headland.escaping import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from headland import _core


class Finding(NamedTuple):
    """One thing that was looked at."""

    name: str
    """The step: settings, address, name, connection, TLS, service, clock, signature, access key, list call, limiter."""
    ok: bool
    """Whether calls get past this step."""
    seen: str
    """What was seen."""
    next_step: str | None
    """What to do about it; also where calls get past, but something should be put right."""

    def __str__(self) -> str:
        """Give a line, and one more with the next step."""
        lines = [f"{_label(self):<4}  {self.name:<10}  {self.seen}"]
        if self.next_step is not None:
            lines.append(f"{'':18}next: {self.next_step}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Checkup:
    """All findings, in the order of the steps; the last one is the reason where calls do not go through."""

    findings: tuple[Finding, ...]
    """The steps that made sense."""
    calls: int
    """How many calls were made for it."""
    error: Exception | None
    """The exception that a call would have ended with; ``None`` where calls go through."""

    @property
    def ok(self) -> bool:
        """Whether calls go through."""
        return self.error is None

    def __str__(self) -> str:
        """Give the findings, a line each, and what they come to."""
        return "\n".join([*map(str, self.findings), self._summary()])

    def _repr_html_(self) -> str:
        """Show a table in a notebook."""
        rows = "".join(
            f"<tr><td>{_label(each)}</td><th>{escape(each.name)}</th><td>{escape(each.seen)}</td>"
            f"<td>{escape(each.next_step or '')}</td></tr>"
            for each in self.findings
        )
        head = "<tr><th></th><th>step</th><th>seen</th><th>next step</th></tr>"
        return f"<table>{head}{rows}</table><p>{escape(self._summary())}</p>"

    def _summary(self) -> str:
        calls = "1 call was made" if self.calls == 1 else f"{self.calls} calls were made"
        return f"calls go through ({calls})" if self.ok else f"calls fail at: {self.findings[-1].name} ({calls})"


def run_doctor(
    core: _core.Client, source: str = "given to this client", report: Callable[[Finding], object] = lambda _: None
) -> Checkup:
    """Find out why the calls of a client fail; `source` says where its settings are from."""
    findings = []

    def add(name: str, ok: bool, seen: str, next_step: str | None) -> None:
        findings.append(Finding(name, ok, printable(seen), None if next_step is None else printable(next_step)))
        report(findings[-1])

    calls, error = core.diagnose(source, add)
    return Checkup(tuple(findings), calls, error)


def _label(finding: Finding) -> str:
    if not finding.ok:
        return "FAIL"
    return "ok" if finding.next_step is None else "note"
