"""``python -m headland`` and the ``headland`` command."""

import sys

from headland.cli import main

if __name__ == "__main__":
    sys.exit(main())

__all__ = ["main"]
