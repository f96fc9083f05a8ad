"""Checks a wheel: tag, size, symbols, paths, bill of materials; and installs it into fresh environments."""

from __future__ import annotations

import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pefile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MAX_SIZE, MAX_SIZE_WINDOWS = 8_000_000, 9_000_000
"""Largest sizes of a wheel, in bytes."""

MAX_IMPORT = 0.15
"""Longest time of the import in seconds, the shortest of several."""

OLDEST, NEWEST = 11, 30
"""The range of minor versions of Python 3 to look for."""

SMOKE = Path(__file__).with_name("wheel_smoke.py")


def check(path: Path, own_folders: Sequence[Path]) -> list[str]:
    """Return what is wrong with a wheel; `own_folders` are folders of this machine that it must not name."""
    found = [*_check_content(path, own_folders)]
    tools = [["twine", "check", "--strict", str(path)], ["abi3audit", "--strict", str(path)]]
    if "linux" in path.name:
        tools.append(["auditwheel", "show", str(path)])
    for command in tools:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        print(done.stdout.strip())
        if done.returncode:
            found.append(f"`{command[0]}` fails: {done.stderr.strip()[-300:]}")
        elif command[0] == "auditwheel" and _platform(path) not in done.stdout:
            found.append(f"auditwheel does not find the wheel consistent with `{_platform(path)}`")
    print(f"{path.name}: {path.stat().st_size:,} bytes")
    return [f"{path.name}: {each}" for each in found]


def _platform(path: Path) -> str:
    """Return the last platform of the tag, which auditwheel names."""
    return path.stem.rpartition("-")[2].split(".")[0]


def _check_content(path: Path, own_folders: Sequence[Path]) -> Iterator[str]:
    limit = MAX_SIZE_WINDOWS if "win_" in path.name else MAX_SIZE
    if path.stat().st_size > limit:
        yield f"it has {path.stat().st_size:,} bytes, more than {limit:,}"
    if "-cp311-abi3-" not in path.name:
        yield "it is not for every Python from 3.11 on"
    marks = [f"{folder}{end}".encode() for folder in own_folders if len(folder.parts) > 1 for end in ("/", "\\")]
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        for name in names:
            content = wheel.read(name)
            yield from (f"`{name}` names `{mark.decode()}`" for mark in marks if mark in content)
            if name.endswith((".so", ".pyd")) and _has_symbols(content):
                yield f"`{name}` is not stripped"
            if name.endswith(".pyd"):
                # Those of the compiler begin so, and no system has them.
                yield from (f"`{name}` imports `{each}`" for each in _libraries(content) if each.startswith("lib"))
        for end in (".so" if "win_" not in path.name else ".pyd", "py.typed", "LICENSE-MIT", "LICENSE-APACHE"):
            if not any(name.endswith(end) for name in names):
                yield f"it has no `{end}`"
        materials = [name for name in names if "/sboms/" in name]
        components = [each for name in materials for each in json.loads(wheel.read(name)).get("components", [])]
    if not {"parquet", "rusqlite", "ring"} <= {each["name"] for each in components}:
        yield f"its bill of materials lists {len(components)} crates, and not all"
    if any("license" not in str(each) for each in components):
        yield "its bill of materials has crates without a licence"


def _libraries(content: bytes) -> set[str]:
    """Return the libraries that a PE file imports, in lower case."""
    with pefile.PE(data=content, fast_load=True) as opened:
        opened.parse_data_directories([pefile.DIRECTORY_ENTRY["IMAGE_DIRECTORY_ENTRY_IMPORT"]])
        return {each.dll.decode().lower() for each in opened.DIRECTORY_ENTRY_IMPORT}


def _has_symbols(content: bytes) -> bool:
    """Return whether an ELF or PE file has a table of symbols."""
    if not content.startswith(b"MZ"):
        return b".symtab" in content
    (header,) = struct.unpack_from("<I", content, 0x3C)
    (symbols,) = struct.unpack_from("<I", content, header + 16)
    return bool(symbols)


def pythons() -> dict[str, str]:
    """Return the interpreters of this machine by version, from the search path and from pyenv."""
    folders = sorted(Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv", "versions").glob("3.*/bin/python3"))
    named: Iterable[str | None] = (shutil.which(f"python3.{minor}") for minor in range(OLDEST, NEWEST))
    found: dict[str, str] = {}
    for path in [sys.executable, *map(str, folders), *named]:
        program = (
            "import sys, sysconfig; print(*sys.version_info[:2], sysconfig.get_config_var('Py_GIL_DISABLED') or 0)"
        )
        if path is None:
            continue
        done = subprocess.run([path, "-c", program], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            major, minor, is_free_threaded = map(int, done.stdout.split())
            if major == 3 and minor >= OLDEST and not is_free_threaded:
                found.setdefault(f"{major}.{minor}", path)
    return found


def install_and_try(path: Path, *, is_optimised: bool = True) -> list[str]:
    """Install a wheel into a fresh environment of each Python, without an index, and run the smoke tests there."""
    failures = []
    for version, python in pythons().items():
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([python, "-m", "venv", folder], check=True)
            own = next(each for end in ("bin/python", "Scripts/python.exe") if (each := Path(folder, end)).exists())
            before = _packages(own)
            install = [str(own), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]
            subprocess.run([*install, str(path)], check=True)
            added = _packages(own) - before
            # Without the variables of this machine, the working folder on the path, or a compiler.
            environment = {"PATH": str(own.parent), "HOME": folder, **_required_by_windows()}
            done = subprocess.run(
                [str(own), "-I", str(SMOKE)], cwd=folder, env=environment, capture_output=True, text=True, check=False
            )
            times = [float(match) for match in re.findall(r"import ([0-9.]+)", done.stdout)]
            print(f"Python {version}: installed {', '.join(sorted(added))}; {done.stdout.strip()}")
            if done.returncode:
                failures.append(f"Python {version}: the smoke tests fail: {done.stderr.strip()[-500:]}")
            elif is_optimised and min(times) > MAX_IMPORT:
                failures.append(f"Python {version}: the import takes {min(times):.3f} s, more than {MAX_IMPORT}")
            if added != {"headland"}:
                failures.append(f"Python {version}: installs {sorted(added)}")
    return [f"{path.name}: {each}" for each in failures]


def _packages(python: Path) -> set[str]:
    listed = subprocess.run(
        [str(python), "-m", "pip", "list", "--format", "json", "--disable-pip-version-check"],
        check=True,
        capture_output=True,
        text=True,
    )
    return {each["name"] for each in json.loads(listed.stdout)}


def _required_by_windows() -> dict[str, str]:
    return {name: os.environ[name] for name in ("SYSTEMROOT", "TEMP", "USERPROFILE") if name in os.environ}


if __name__ == "__main__":
    FAILURES = [
        each for name in sys.argv[1:] for each in (*check(Path(name), [Path.home()]), *install_and_try(Path(name)))
    ]
    print(*(f"FAILED: {failure}" for failure in FAILURES), sep="\n")
    sys.exit(len(FAILURES))
