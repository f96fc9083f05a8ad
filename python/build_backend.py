"""The build backend of the package: maturin, with the paths of the building machine left out of the extension.

Panic messages name source files. Cargo compiles them under the absolute path of its registry, and only a flag of rustc
for all crates replaces that path (`trim-paths` of Cargo is not stable yet).
"""

import os
from pathlib import Path

from maturin import *  # noqa: F403  -- the hooks of PEP 517 and PEP 660

_SEPARATOR = "\x1f"


def _rustflags() -> str:
    """Add the replaced paths to the flags that the environment has, as CARGO_ENCODED_RUSTFLAGS separates them."""
    encoded = os.environ.get("CARGO_ENCODED_RUSTFLAGS")
    flags = encoded.split(_SEPARATOR) if encoded else os.environ.get("RUSTFLAGS", "").split()
    cargo = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
    project = Path(__file__).resolve().parent.parent
    # The flags must not depend on what cargo has fetched: other flags compile every crate anew.
    flags += [f"--remap-path-prefix={path}={name}" for path, name in [(cargo, "cargo"), (project, "headland")]]
    return _SEPARATOR.join(flags)


os.environ["CARGO_ENCODED_RUSTFLAGS"] = _rustflags()
