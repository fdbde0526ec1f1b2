"""Every shell command of the README and the documents, word for word, in each shell that is installed."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.e2e.commands import complete
from tests.e2e.conftest import Served
from tests.e2e.processes import ROOT, Example, examples

SHELLS = [shell for shell in ("bash", "zsh") if shutil.which(shell)]
PAGES = [path for path in (*ROOT.glob("*.md"), *sorted((ROOT / "docs").glob("*.md"))) if examples(path.read_text())]
NOT_RUN = {
    "start": "starts the service, or the tests themselves: the fixture of this module has started it",
    "production": "needs a domain with a certificate, servers of one's own or an application",
    "endless": "a stream that ends when its reader goes; test_serve.py reads one",
    "reference": "its ids stand for the reader's own: tests/rest/test_reference.py runs each with ids that exist",
    "restore": "replaces the database that the other examples use",
}
REFUSED = "refused"
"""Marks a block whose last answer is a refusal."""


def account_of(served: Served) -> dict[str, str]:
    """Open an account; return the environment of a terminal in which its exports were pasted."""
    opened = json.loads(complete(("demo", "--json"), served.folder, served.environment()).stdout)
    own = {"URL": served.url, "KEY": opened["svc_key"], "NUMBER": opened["phone_number"]}
    environment = served.environment()
    return environment | own | {"PATH": f"{served.folder}/.venv/bin:{environment['PATH']}"}


def runnable(page: Path) -> list[Example]:
    """Return the blocks of a page that run against the service."""
    return [block for block in examples(page.read_text()) if block.mark not in NOT_RUN]


def script_of(blocks: list[Example]) -> str:
    """Return a script that runs blocks one after the other, with a line between what they print."""
    return "\necho; echo ----\n".join(block.commands for block in blocks)


@pytest.mark.parametrize("page", [page for page in PAGES if runnable(page)], ids=lambda page: page.name)
@pytest.mark.parametrize("shell", SHELLS)
def test_every_example_of_a_page_runs(served: Served, shell: str, page: Path) -> None:
    blocks = runnable(page)

    done = subprocess.run(
        [shell, "-e", "-c", script_of(blocks)],
        cwd=served.folder,
        env=account_of(served),
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    said = done.stdout.split("\n----\n")
    refused = ['"success":false' in each or '"errors":' in each for each in said]
    assert refused == [block.mark == REFUSED for block in blocks], done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_example_that_is_not_run_bears_a_mark_that_says_why(page: Path) -> None:
    marks = {example.mark for example in examples(page.read_text())}

    assert marks <= {"", REFUSED, *NOT_RUN}
