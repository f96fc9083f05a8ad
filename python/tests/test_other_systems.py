"""Systems other than Linux: no path of the package needs what only Unix has, and outputs of any encoding."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest

from headland.cli.output import print_json, print_text

if TYPE_CHECKING:
    from pathlib import Path

WITHOUT_UNIX = """
    import os, pkgutil, signal, sys
    # Modules of the standard library decide at their import what the system has.
    import asyncio, concurrent.futures, getpass, http.server, importlib.metadata, json, logging, random, shutil
    import subprocess, tempfile, threading, urllib.request, webbrowser, zipfile, zoneinfo
    for name in ("fcntl", "grp", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty"):
        sys.modules[name] = None
    for name in (
        "chown", "fchmod", "fchown", "fork", "forkpty", "geteuid", "getgid", "getpgid", "getuid", "killpg", "lchown",
        "mkfifo", "mknod", "nice", "posix_fallocate", "pread", "pwrite", "register_at_fork", "sched_getaffinity",
        "setsid", "statvfs", "sysconf", "uname", "wait",
    ):
        delattr(os, name)
    for name in ("SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGUSR1", "SIGWINCH"):
        delattr(signal, name)
    for name in ("alarm", "pause", "pthread_kill", "pthread_sigmask", "setitimer", "sigwait"):
        delattr(signal, name)
    def refuse(*_, **__):
        raise PermissionError(1314, "a required privilege is not held by the client")
    os.chmod = os.kill = os.link = os.symlink = refuse
    opened = os.open
    def open_file(path, *arguments, **named):
        if os.path.isdir(path):
            refuse()
        return opened(path, *arguments, **named)
    os.open = open_file
    sys.platform = "win32"
"""
EVERY_MODULE = """
    import headland
    for module in pkgutil.walk_packages(headland.__path__, "headland."):
        if module.name not in ("headland.__main__", "headland.dask"):
            __import__(module.name)
    print(len([name for name in sys.modules if name.startswith("headland.")]))
"""
LOGIN_AND_PUBLISH = """
    from pathlib import Path
    import headland as hl
    from headland.cli import main
    from headland.mirror.folder_store import FolderStore
    os.umask(0)
    assert main(["login", "--no-check", "--profile", "farm", "--no-keyring"]) == 0
    hl.Client.from_profile("farm").close()
    store = FolderStore(Path(sys.argv[1]))
    with store.lock():
        store.put("a/table", b"12")
        assert store.copy("a/table", "b/table")
        assert store.sizes("") == {"a/table": 2, "b/table": 2}
"""


def run_without_unix(program: str, *arguments: str, text: str = "") -> str:
    command = [sys.executable, "-c", textwrap.dedent(WITHOUT_UNIX) + textwrap.dedent(program), *arguments]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def test_every_module_imports_without_what_only_unix_has() -> None:
    assert int(run_without_unix(EVERY_MODULE)) > 80


def test_login_and_publication_need_nothing_that_only_unix_has(tmp_path: Path) -> None:
    keys = "https://service.example\nkey\naccess\nc2VjcmV0\n"
    assert "farm" in run_without_unix(LOGIN_AND_PUBLISH, str(tmp_path / "shared"), text=keys)


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [("cp1252", "Pozna\\u0144, 5 °C"), ("ascii", "Pozna\\u0144, 5 \\xb0C"), ("utf-8", "Poznań, 5 °C")],
)
def test_output_in_the_encoding_of_a_code_page_is_complete(
    monkeypatch: pytest.MonkeyPatch, encoding: str, shown: str
) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding, newline=""))
    print_json({"name": "Poznań, 5 °C"})
    print_text("Poznań, 5 °C")
    document, text = written.getvalue().decode(encoding).splitlines()
    assert json.loads(document) == {"name": "Poznań, 5 °C"}
    assert text == shown
