"""The first start: it asks for the profile of the first account, in a terminal and nowhere else."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from app.cli.profile import ask_profile
from app.settings import Settings
from tests.cli.conftest import Run
from tests.e2e.processes import ROOT, environment

ASK = """
from app.cli.profile import ask_profile
from app.settings import Settings
settings = ask_profile(Settings(_env_file=None), lambda: {first_start})
names = ("company_name", "owner_email", "owner_first_name", "owner_last_name")
print("=", [getattr(settings, name) for name in names])
"""
BOUND_SECONDS = 60


def in_terminal(folder: Path, typed: str, first_start: bool = True, **settings: str) -> str:
    """Ask in a terminal of its own, where the answers are typed already; return what was written."""
    ours, theirs = os.openpty()
    env = environment(folder, PYTHONPATH=str(ROOT), **settings)
    os.write(ours, typed.encode())
    script = ASK.format(first_start=first_start)
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder, env=env
    ) as process:
        os.close(theirs)
        assert process.wait(BOUND_SECONDS) == 0
        written = b"".join(read_all(ours)).decode()
    os.close(ours)
    return written


def read_all(terminal: int) -> Iterator[bytes]:
    """Read what was written to a terminal that is closed on its other side."""
    with suppress(OSError):  # EIO, where nothing is left
        yield from iter(lambda: os.read(terminal, 65_536), b"")


def test_a_terminal_is_asked_for_company_and_owner(tmp_path: Path) -> None:
    written = in_terminal(tmp_path, "Blue Door\nnobody\nann@example.com\nAnn\n\n")

    assert "= ['Blue Door', 'ann@example.com', 'Ann', '']" in written
    assert "Error: 'nobody' is not an e-mail address, such as ann@example.com." in written


def test_a_terminal_is_not_asked_for_values_of_settings(tmp_path: Path) -> None:
    given = {"MESSAGING_COMPANY_NAME": "Blue Door", "MESSAGING_OWNER_EMAIL": "ann@example.com"}

    written = in_terminal(tmp_path, "Ann\nLee\n", **given)

    assert "= ['Blue Door', 'ann@example.com', 'Ann', 'Lee']" in written
    assert "Company name" not in written


def test_a_terminal_is_asked_at_the_first_start_alone(tmp_path: Path) -> None:
    written = in_terminal(tmp_path, "", first_start=False)

    assert written.splitlines()[-1] == "= [None, 'owner@example.com', None, None]"
    assert "Company name" not in written


def test_without_a_terminal_nothing_is_asked() -> None:
    def is_first_start() -> bool:
        pytest.fail("It looks whether this is the first start, and needs not.")

    settings = Settings(_env_file=None)

    assert ask_profile(settings, is_first_start) is settings


def test_a_service_is_not_started_for_an_owner_without_an_address(run: Run, tmp_path: Path) -> None:
    done = run("serve", "--owner-email", "nobody")

    assert done.code == 2
    assert "'nobody' is not an e-mail address, such as ann@example.com." in " ".join(
        done.complaint.replace("│", " ").split()
    )
    assert not (tmp_path / "data").exists()
