"""Folders of the checkout, and the data next to it that some tests compare with."""

from __future__ import annotations

import os
from pathlib import Path

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parents[1]
DOCS = ROOT / "python" / "docs"

CORPUS = Path(os.environ.get("HEADLAND_CORPUS", ROOT.parent / "shared" / "corpus"))
"""Real files, which are not part of the project (`tests/data/README.md`)."""

SPECIFICATION = Path(os.environ.get("HEADLAND_SPEC", ROOT.parent / "shared" / "spec" / "service.md"))
