"""Entries of the provenance of harmonised columns."""

from __future__ import annotations


def provenance_entry(pairs: list[tuple[str, str]]) -> dict[str, str | float | None]:
    """Return an entry of `Layer.provenance`, with numbers as such."""
    entry: dict[str, str | float | None] = dict(pairs)
    for name in ("factor", "moisture_basis", "kg_per_bushel"):
        text = entry.get(name)
        if text not in (None, "unknown", "several"):
            entry[name] = float(text)
    if entry.get("unit") == "unknown":
        entry["factor"] = None
    return entry
