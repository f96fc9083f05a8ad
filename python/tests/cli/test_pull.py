"""The command ``pull`` in a script and a terminal: its output, its ends, one account and several."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import struct
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from commands import headland

import headland as hl
from headland.cli import output
from headland.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

JOBS = 12
FILES = 24
"""The files of the jobs, and the newest upload of each grain cart."""
SECRETS = ("api_key", "shared_secret", "access_key", "dispatch_token")


@pytest.fixture
def farm_service() -> Iterator[hl.Sandbox]:
    with hl.Sandbox(small_jobs=JOBS, rate_limits=(), conversion_time=0.2) as running:
        yield running


def environment(service: hl.Sandbox, **others: str) -> dict[str, str]:
    keys = {f"HEADLAND_{name.upper()}": str(value) for name, value in service.credentials.items()}
    return {**os.environ, "HEADLAND_RATE_LIMITS": "", **keys, **others}


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "headland", "pull", *map(str, words)]


def pull(service: hl.Sandbox, *words: object, **others: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a script does: without a terminal."""
    done = headland("pull", *words, service=service, **others)
    said = done.stdout + done.stderr
    assert not any(service.credentials[name] in said for name in SECRETS)  # type: ignore[literal-required]
    return done


def in_terminal(words: list[str], keys: dict[str, str], *, interrupt: str | None = None) -> tuple[int, str]:
    """Run a command in a terminal of 100 columns; Ctrl-C is sent once this text is on the screen."""
    fcntl, pty, termios = (pytest.importorskip(name) for name in ("fcntl", "pty", "termios"))
    process, terminal = pty.fork()
    if process == 0:
        os.execve(words[0], words, {**keys, "TERM": "xterm"})
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    screen = b""
    while True:
        try:
            some = os.read(terminal, 4096)
        except OSError:
            break
        screen += some
        if not some:
            break
        if interrupt is not None and re.search(interrupt, screen.decode(errors="replace")):
            os.write(terminal, b"\x03")
            interrupt = None
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), screen.decode()


def profiles(service: hl.Sandbox, home: Path, **access_keys: str) -> dict[str, str]:
    """Write a profile for each access key, and return the environment that finds them."""
    file = home / ".config" / "headland" / "profiles.toml"
    file.parent.mkdir(parents=True)
    tables = []
    for name, key in access_keys.items():
        keys = {each: service.credentials[each] for each in ("base_url", "api_key", "shared_secret")}
        lines = [f"[{name}]", *(f'{each} = "{value}"' for each, value in {**keys, "access_key": key}.items())]
        tables.append("\n".join([*lines, 'rate_limits = ""', ""]))
    file.write_text("\n".join(tables), encoding="utf-8")
    file.chmod(0o600)
    return {"HOME": str(home)}


def jobs_here(folder: Path) -> int:
    return hl.Mirror(folder).status().jobs.get("stored", 0)


def test_script_gets_only_the_plan_and_the_summary(farm_service: hl.Sandbox, tmp_path: Path) -> None:
    farm = tmp_path / "farm"
    planned = pull(farm_service, "--to", farm, "--plan", "--no-locations")
    assert planned.returncode == 0, planned.stderr
    head, *lines = planned.stdout.splitlines()
    assert " calls, " in head
    assert [line.split()[0] for line in lines] == ["purpose", "lists", "details", "asked", "collected", "records"]
    assert not (farm / "dataset").exists()

    first = subprocess.run(
        command("--to", farm, "--no-locations"),
        check=False,
        capture_output=True,
        text=True,
        timeout=100,
        env=environment(farm_service),
    )
    assert (first.returncode, first.stderr) == (0, "")
    plan, summary, *rest = first.stdout.splitlines()
    assert " calls, " in plan
    assert " new, 0 changed, 0 gone" in summary
    assert str(farm / "dataset") in rest[0]
    assert "SELECT * FROM field_means" in rest[1]
    assert "to_geopandas()" in rest[2]
    assert jobs_here(farm) == JOBS

    again = pull(farm_service, "--to", farm, "--no-locations", "--quiet")
    assert again.stdout.splitlines()[0].startswith("0 new, 0 changed, 0 gone; "), "quiet leaves the plan out"
    farm_service.change_job(farm_service.add_job())
    third = pull(farm_service, "--to", farm, "--no-locations", "--quiet")
    assert third.stdout.startswith("1 new, ")


def test_programs_get_json(farm_service: hl.Sandbox, tmp_path: Path) -> None:
    farm = tmp_path / "farm"
    for words, keys in (
        (("--plan",), {"plan"}),
        ((), {"plan", "outcome", "status"}),
        (("--status",), {"status"}),
        (("--verify", "--deep"), {"verification"}),
    ):
        done = pull(farm_service, "--to", farm, "--no-locations", "--json", *words)
        assert (done.returncode, done.stderr) == (0, "")
        (line,) = done.stdout.splitlines()
        result = json.loads(line)
        assert result.keys() == {"profile", "folder", *keys}
        assert result["folder"] == str(farm)
    status = json.loads(pull(farm_service, "--to", farm, "--status", "--json").stdout)["status"]
    assert status["jobs"] == {"stored": JOBS}
    assert status["relisted_at"].endswith("Z")
    assert {each["job_type"] for each in status["dataset"]} >= {"Yield"}
    assert status["calls"]["files"]["ever"] >= JOBS


def test_status_and_verify_describe_the_folder(farm_service: hl.Sandbox, tmp_path: Path) -> None:
    farm = tmp_path / "farm"
    assert pull(farm_service, "--to", farm, "--no-locations").returncode == 0
    calls = len(farm_service.requests)
    status = pull(farm_service, "--to", farm, "--status")
    assert status.stdout.startswith(str(farm))
    assert "everything known" in status.stdout
    assert pull(farm_service, "--to", farm, "--verify").returncode == 0
    archive = next(farm.glob("archives/*/*.zip"))
    archive.chmod(0o600)
    archive.write_bytes(b"x")
    broken = pull(farm_service, "--to", farm, "--verify")
    assert broken.returncode == 11
    assert archive.stem in broken.stdout
    assert "next pull" in broken.stderr
    assert len(farm_service.requests) == calls, "neither makes a call"
    assert pull(farm_service, "--to", farm, "--no-locations").returncode == 0
    assert pull(farm_service, "--to", farm, "--verify").returncode == 0


@pytest.mark.parametrize(
    ("code", "error", "words"),
    [
        (2, "ConfigurationError", ("--status",)),
        (2, "ConfigurationError", ("--verify",)),
        (2, "ValueError", ("--relist", "soon")),
        (2, "ValueError", ("--deep",)),
        (2, "ValueError", ("--profile", "a", "a")),
        (2, "ValueError", ("--profile", "a", "../b")),
        (12, "ConfigurationError", ("--profile", "unknown")),
    ],
)
def test_each_error_has_the_exit_code_of_its_kind(
    service: hl.Sandbox, tmp_path: Path, code: int, error: str, words: tuple[str, ...]
) -> None:
    plain = pull(service, "--to", tmp_path / "farm", *words)
    assert (plain.returncode, plain.stdout) == (code, "")
    assert plain.stderr.startswith(f"headland: {error}: ")
    result = pull(service, "--to", tmp_path / "farm", "--json", *words)
    assert json.loads(result.stderr)["error"] == error


def test_an_empty_text_is_no_folder(service: hl.Sandbox) -> None:
    for words in (("--to", ""), ("--to=", "--status")):
        done = pull(service, *words)
        assert done.returncode == 2
        assert "expected a folder, got an empty string" in done.stderr
    assert service.requests == []


def test_text_that_is_no_path_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ((), ("--status",)):
        assert main(["pull", "--to", "farm\0", *words]) == 2
        assert r"'farm\x00' contains a null character" in capsys.readouterr().err


def test_a_wrong_base_address_is_named(service: hl.Sandbox, tmp_path: Path) -> None:
    wrong = f"{service.base_url}/v9"
    done = pull(service, "--to", tmp_path / "farm", HEADLAND_BASE_URL=wrong)
    assert done.returncode == 4
    assert done.stderr.startswith("headland: NotFound: there is nothing at `/jobdata`: ")
    assert f"the base URL `{wrong}` of `base_url` may be wrong" in done.stderr


@pytest.mark.parametrize("package", ["tqdm", "none"])
def test_terminal_shows_progress_and_is_clean_afterwards(
    farm_service: hl.Sandbox, tmp_path: Path, package: str
) -> None:
    words = command("--to", tmp_path / "farm", "--no-locations")
    if package == "none":
        without = (
            "import sys; sys.modules['tqdm'] = None; import headland.cli; sys.exit(headland.cli.main(sys.argv[1:]))"
        )
        words = [sys.executable, "-c", without, *words[3:]]
    code, screen = in_terminal(words, environment(farm_service, HEADLAND_RATE_LIMITS="15/1"))
    assert code == 0
    assert "reading the lists" in screen
    assert "calls left, " in screen
    assert f"/{FILES} files, " in screen
    assert "limit until " in screen
    assert ("█" in screen) == (package == "tqdm")
    shown = [part.removeprefix("\x1b[K") for part in screen.replace("\n", "\r").split("\r")]
    assert max(len(part) for part in shown if "files, " in part) <= 100
    # The final screen shows the output of a script, with each line at the start of its own.
    lines = [line.split("\r")[-1].removeprefix("\x1b[K") for line in screen.replace("\r\n", "\n").split("\n")]
    assert [line for line in lines if " new, 0 changed" in line]
    assert not [line for line in lines if "calls left" in line]


def test_quiet_is_quiet_in_a_terminal_too(farm_service: hl.Sandbox, tmp_path: Path) -> None:
    words = command("--to", tmp_path / "farm", "--no-locations", "--quiet")
    code, screen = in_terminal(words, environment(farm_service))
    assert code == 0
    assert " new, 0 changed" in screen.splitlines()[0]
    assert "\x1b" not in screen


@pytest.mark.parametrize("where", ["terminal", "pipe"])
def test_ctrl_c_states_how_to_resume_and_nothing_is_requested_twice(
    farm_service: hl.Sandbox, tmp_path: Path, where: str
) -> None:
    farm, keys = tmp_path / "farm", environment(farm_service, HEADLAND_RATE_LIMITS="4/1")
    words = command("--to", farm, "--no-locations")
    if where == "terminal":
        code, said = in_terminal(words, keys, interrupt=rf" [4-9]/{FILES} files")
    else:
        process = subprocess.Popen(words, env=keys, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 60
        while len([*farm.glob("archives/*/*")]) < 3:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        said = "".join(process.communicate(timeout=30))
        code = process.returncode
    assert code == 130
    assert "run the same command again to resume" in said.splitlines()[-1]
    assert "Traceback" not in said
    assert len([*farm.glob("archives/*/*")]) >= 3
    assert pull(farm_service, "--to", farm, "--no-locations").returncode == 0
    assert jobs_here(farm) == JOBS
    calls = [(each.path, each.query) for each in farm_service.requests]
    once = [call for call in calls if "format=" not in call[1]]
    assert len({*once}) >= len(once) - 1, "no list and no detail was asked for twice, but for what was on its way"
    carts = [path for path, _ in calls if path.startswith("/graincart/")]
    assert len(carts) <= FILES - JOBS + 1


def test_accounts_have_their_own_folders_and_one_failure_stops_no_other(
    farm_service: hl.Sandbox, tmp_path: Path
) -> None:
    keys = profiles(
        farm_service,
        tmp_path,
        north=farm_service.credentials["access_key"],
        south=farm_service.read_only_access_key,
        lost=farm_service.revoked_access_key,
        neighbour=farm_service.other_access_key,
    )
    farms = tmp_path / "farms"
    done = pull(farm_service, "--to", farms, "--no-locations", "--profile", "north", "lost", "south", **keys)
    assert done.returncode == 3, done.stderr
    assert done.stderr.startswith("headland: lost: AuthenticationError: ")
    refused, advice = done.stderr.splitlines()
    assert refused.startswith("headland: lost: AuthenticationError: ")
    assert advice.startswith("  next: `headland doctor --profile lost`")
    for name in ("north", "south"):
        assert jobs_here(farms / name) == JOBS
        assert [line for line in done.stdout.splitlines() if line.startswith(f"{name}: ") and " new, " in line]
    result = pull(farm_service, "--to", farms, "--no-locations", "--json", "--profile", "north", "lost", **keys)
    assert json.loads(result.stderr)["profile"] == "lost"
    assert json.loads(result.stdout)["profile"] == "north"
    status = pull(farm_service, "--to", farms, "--status", "--json")
    assert {json.loads(line)["folder"] for line in status.stdout.splitlines()} >= {
        str(farms / "north"),
        str(farms / "south"),
    }
    made = len(farm_service.requests)
    one = pull(farm_service, "--to", farms, "--profile", "north", **keys)
    assert one.returncode == 2
    assert f"`{farms / 'north'}`, `{farms / 'south'}`" in one.stderr
    assert f"run `headland pull --to {farms / 'north'} --profile north`" in one.stderr
    assert f"for all, run `headland pull --to {farms} --profile lost north south`" in one.stderr
    unnamed = pull(farm_service, "--to", farms)
    assert unnamed.returncode == 2
    assert f"run `headland pull --to {farms / 'lost'}`" in unnamed.stderr
    for flags in (["--status", "--json"], ["--verify", "--deep"], ["--plan", "--no-locations", "--relist", "2d"]):
        looked = pull(farm_service, "--to", farms, "--profile", "north", *flags, **keys)
        assert looked.returncode == 2
        assert f"run `headland pull --to {farms / 'north'} --profile north {' '.join(flags)}`" in looked.stderr
    unknown = pull(farm_service, "--to", farms, "--profile", "unknown", "--status", **keys)
    assert "none belongs to the profile [unknown]; for all, " in unknown.stderr
    assert f"--to {farms / 'unknown'}" not in unknown.stderr
    assert len(farm_service.requests) == made, "none of them makes a call"
    assert pull(farm_service, "--to", farms / "north", "--profile", "north", "--status", **keys).returncode == 0
    mixed = pull(farm_service, "--to", farms / "north", "--profile", "north", "south", **keys)
    assert mixed.returncode == 2
    assert "another folder" in mixed.stderr
    same = pull(farm_service, "--to", farms / "north", "--no-locations", "--profile", "south", **keys)
    assert same.returncode == 0, "another key of the account lists the same jobs"
    other = pull(farm_service, "--to", farms / "north", "--profile", "neighbour", **keys)
    assert other.returncode == 2
    assert "another account" in other.stderr


def test_lines_of_accounts_are_not_interleaved(monkeypatch: pytest.MonkeyPatch) -> None:
    class Out(io.StringIO):
        def write(self, text: str) -> int:
            assert output.LINE.locked(), "no other thread writes meanwhile"
            written.append(text)
            return len(text)

    written: list[str] = []
    monkeypatch.setattr(sys, "stdout", Out())
    output.print_text("north: 12 calls")
    assert written == ["north: 12 calls\n"]
