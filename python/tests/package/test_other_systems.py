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
    import os, pkgutil, signal, stat, sys
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
    shutil._use_fd_functions = False
    # Python opens files there so that none is moved, replaced or removed before it is closed.
    def refuse_open_files(name):
        change = getattr(os, name)
        def changed(*paths, **named):
            for path in paths:
                try:
                    meant = os.stat(path, dir_fd=named.get("dir_fd"), follow_symlinks=False)
                except OSError:
                    continue
                for number in os.listdir("/proc/self/fd"):
                    try:
                        found = os.fstat(int(number))
                    except OSError:
                        continue
                    if (found.st_dev, found.st_ino) == (meant.st_dev, meant.st_ino) and stat.S_ISREG(meant.st_mode):
                        raise PermissionError(13, f"{path} is open in another place")
            return change(*paths, **named)
        setattr(os, name, changed)
    for name in ("remove", "rename", "replace", "unlink"):
        refuse_open_files(name)
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


DOWNLOAD_AND_READ = """
    from pathlib import Path
    import headland as hl
    from headland.cli import main
    folder = Path(sys.argv[1])
    farm, work, season = (str(folder / name) for name in ("farm", "my work", "season"))
    with hl.Sandbox.demo() as service, service.client() as client:
        job = client.job_data.list().first()
        for overwrite in (False, True):
            client.job_data.download(job["id"], to=folder / "job.zip", overwrite=overwrite)
        with open(folder / "copy.zip", "wb") as copy:
            client.job_data.download(job["id"], to=copy)
        layer = client.job_data.read(job["id"])
        mirror = hl.Mirror(farm, client, locations=False, ids=[job["id"]])
        for _ in range(2):
            layer.plot().save(folder / "job.svg")
            layer.write_parquet(folder / "job.parquet")
            layer.write_geojson(folder / "job.geojson")
            for ending in (".parquet", ".geojson"):
                assert main(["read", str(folder / "job.zip"), str(folder / "copy.zip"), "--to", season + ending]) == 0
            mirror.sync()
            mirror.publish(folder / "shared")
            assert main(["report", "--from", farm, "--to", work, "--quiet"]) == 0
"""
WORDS = """
    import headland as hl
    try:
        hl.Client.from_profile("my farm", sys.argv[1])
    except hl.ConfigurationError as error:
        print(error)
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


@pytest.mark.skipif(sys.platform != "linux", reason="lists the open files of a process")
def test_files_are_closed_before_they_are_replaced_or_removed(tmp_path: Path) -> None:
    run_without_unix(DOWNLOAD_AND_READ, str(tmp_path))
    assert not [path for path in tmp_path.rglob("*.part") if path.parent.name != "farm"]


def test_printed_commands_have_quotes_that_every_shell_of_windows_knows(tmp_path: Path) -> None:
    assert '`headland login --profile "my farm"` writes it' in run_without_unix(WORDS, str(tmp_path / "none.toml"))


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
