"""Joins words to a command that can be copied into the shell of the system."""

from __future__ import annotations

import shlex
import sys


def joined(*words: str) -> str:
    """Return words as one text, quoted where a shell would split or change them.

    Both shells of Windows know double quotes. Single quotes are part of the word in one of them.
    """
    if sys.platform != "win32":
        return shlex.join(words)
    import subprocess

    return subprocess.list2cmdline(words)
