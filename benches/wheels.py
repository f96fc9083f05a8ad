"""Builds the release files of headland, and checks them: wheels of each target, and the source distribution.

Cross-compilation needs the targets of rustup and, for Windows, gcc-mingw-w64; zig comes from PyPI and links wheels of
Linux against the oldest C library that its dependencies allow. `make wheels` runs it in an environment of its own.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path
from unittest import mock

import wheel_checks
import zopfli.zlib

ROOT = Path(__file__).resolve().parents[1]

TARGETS = {
    "linux": ("x86_64-unknown-linux-gnu", "manylinux_2_17"),
    "linux-arm": ("aarch64-unknown-linux-gnu", "manylinux_2_17"),
    "musl": ("x86_64-unknown-linux-musl", "musllinux_1_2"),
    "windows": ("x86_64-pc-windows-gnu", ""),
    # zig has the system libraries of macOS but not its frameworks, so these need an SDK in SDKROOT.
    "macos": ("x86_64-apple-darwin", ""),
    "macos-arm": ("aarch64-apple-darwin", ""),
}
"""The target of Rust and the compatibility of a wheel, by name."""

NATIVE = {
    ("linux", "x86_64"): "linux",
    ("linux", "aarch64"): "linux-arm",
    ("win32", "AMD64"): "windows",
    ("darwin", "x86_64"): "macos",
    ("darwin", "arm64"): "macos-arm",
}
"""The wheel that a machine can run."""

DEFAULT = ("linux", "linux-arm", "musl", "windows", "sdist")

UNOPTIMISED = {"CARGO_PROFILE_RELEASE_OPT_LEVEL": "0", "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "16"}
"""Settings of cargo that compile in a fraction of the time, where only the sources and not the speed are checked."""


def main() -> int:
    """Build and check what the arguments name, and return the number of failures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=[*DEFAULT], metavar="NAME", help=", ".join([*TARGETS, "sdist"]))
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="the folder of the release files")
    parser.add_argument("--twice", action="store_true", help="compare wheels of two clones in different folders")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("SOURCE_DATE_EPOCH", _time_of_commit())
    failures: list[str] = []
    for name in given.names:
        try:
            if given.twice:
                _compare_clones(name)
            elif name == "sdist":
                failures += _source_distribution(given.out)
            else:
                failures += _wheel(name, given.out)
        except (subprocess.CalledProcessError, ValueError) as failed:
            failures.append(f"{name}: {failed}")
    print(*(f"FAILED: {failure}" for failure in failures), sep="\n")
    return len(failures)


def build(name: str, root: Path, out: Path) -> Path:
    """Build a wheel and return its path."""
    target, compatibility = TARGETS[name]
    options = ["--compatibility", compatibility] if compatibility else []
    if "linux" in target or ("apple" in target and sys.platform != "darwin"):
        options.append("--zig")
    _run(["rustup", "target", "add", target], root)
    command = ["maturin", "build", "--release", "--locked", "--target", target, "--out", str(out), *options]
    _run(command, root, {"CARGO_ENCODED_RUSTFLAGS": _rustflags(root), "CARGO_PROFILE_RELEASE_LTO": "fat"})
    path = max(out.glob("*.whl"), key=lambda path: path.stat().st_mtime)
    _repack(path, root)
    return path


class _Zopfli:
    """A compressor of `zipfile` whose streams are three percent smaller, and take a minute for a wheel."""

    def __init__(self, *_: object) -> None:
        self._content = bytearray()

    def compress(self, content: bytes) -> bytes:
        """Collect the content: the blocks of a stream are chosen at its end."""
        self._content += content
        return b""

    def flush(self) -> bytes:
        """Return the stream, without the header and the checksum of zlib, which zip files do not have."""
        return zopfli.zlib.compress(bytes(self._content), numiterations=5)[2:-4]


def _repack(path: Path, root: Path) -> None:
    """Compress a wheel well, without the folder of the checkout, which maturin writes into the bill of materials."""
    repacked = path.with_suffix(".repacked")
    # `zipfile` has no argument for a compressor.
    own = mock.patch("zipfile._get_compressor", new=_Zopfli)
    with zipfile.ZipFile(path) as wheel, zipfile.ZipFile(repacked, "w") as result, own:
        contents = {entry.filename: wheel.read(entry) for entry in wheel.infolist()}
        materials = [name for name in contents if "/sboms/" in name]
        (record,) = (name for name in contents if name.endswith(".dist-info/RECORD"))
        lines = contents[record].decode().splitlines()
        for name in materials:
            contents[name] = contents[name].replace(root.as_uri().encode(), b"file:///headland")
            digest = base64.urlsafe_b64encode(hashlib.sha256(contents[name]).digest()).decode().rstrip("=")
            lines = [line for line in lines if not line.startswith(f"{name},")]
            lines.append(f"{name},sha256={digest},{len(contents[name])}")
        contents[record] = "".join(f"{line}\n" for line in lines).encode()
        for entry in wheel.infolist():
            result.writestr(entry, contents[entry.filename], zipfile.ZIP_DEFLATED)
    repacked.replace(path)


def _wheel(name: str, out: Path) -> list[str]:
    path = build(name, ROOT, out)
    failures = wheel_checks.check(path, [ROOT, Path.home()])
    if name == NATIVE.get((sys.platform, platform.machine())):
        failures += wheel_checks.install_and_try(path)
    return failures


def _source_distribution(out: Path) -> list[str]:
    """Build the source distribution, and a wheel from it in a folder that is no checkout."""
    _run(["maturin", "sdist", "--out", str(out)], ROOT)
    path = max(out.glob("*.tar.gz"), key=lambda path: path.stat().st_mtime)
    _run(["twine", "check", "--strict", str(path)], ROOT)
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(path) as archive:
            archive.extractall(folder, filter="data")
        (source,) = Path(folder).iterdir()
        command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", folder, str(source)]
        _run(command, Path(folder), UNOPTIMISED)
        (wheel,) = Path(folder).glob("*.whl")
        return wheel_checks.install_and_try(wheel, is_optimised=False)


def _compare_clones(name: str) -> None:
    """Build a wheel in two clones in folders of different length, and compare all bytes."""
    with tempfile.TemporaryDirectory() as folder:
        wheels = []
        for place in ("a", "another/and longer"):
            clone = Path(folder, place, "headland")
            _run(["git", "clone", "--quiet", str(ROOT), str(clone)], Path(folder))
            wheels.append(build(name, clone, clone / "dist").read_bytes())
            shutil.rmtree(clone)
    if wheels[0] != wheels[1]:
        raise ValueError("the wheels of two clones differ")
    print(f"{name}: the wheels of two clones are equal, {len(wheels[0]):,} bytes")


def _time_of_commit() -> str:
    command = ["git", "log", "-1", "--format=%ct"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def _rustflags(root: Path) -> str:
    """Return the flags of the build backend of a checkout."""
    program = "import build_backend, os; print(os.environ['CARGO_ENCODED_RUSTFLAGS'], end='')"
    environment = {**os.environ, "PYTHONPATH": str(root / "python")}
    return subprocess.run(
        [sys.executable, "-c", program], env=environment, check=True, capture_output=True, text=True
    ).stdout


def _run(command: list[str], folder: Path, settings: dict[str, str] | None = None) -> None:
    print("+", *command, flush=True)
    subprocess.run(command, cwd=folder, env={**os.environ, **(settings or {})}, check=True)


if __name__ == "__main__":
    sys.exit(main())
