"""Every shell command of the README and the documents, word for word."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.e2e.backgrounds import alone, running
from tests.e2e.commands import complete
from tests.e2e.conftest import Served
from tests.e2e.pages import PAGES, REFUSED, SHELL, TERMINAL, TRIALS, runnable
from tests.e2e.processes import Example, until
from tests.node import install
from tests.smpp.smscs import SOURCES as SMSC

BETWEEN = "\n----\n"


def account_of(served: Served, page: Path) -> dict[str, str]:
    """Return the environment of a terminal in which the exports of an account were pasted.

    It is an account of the page's own, or for the trial of a carrier the first one, which that page names.
    """
    environment = served.environment()
    environment["PATH"] = f"{served.folder}/.venv/bin:{environment['PATH']}"
    if page.name in TRIALS:
        return environment
    opened = json.loads(complete(("demo", "--json"), served.folder, served.environment()).stdout)
    return environment | {"URL": served.url, "KEY": opened["svc_key"], "NUMBER": opened["phone_number"]}


def is_delivered(served: Served, key: str) -> bool:
    """Return whether the latest text of an account was delivered."""
    [latest] = served.ask("GET", "/sms/logs?limit=1", key)["data"]
    return latest["status"] == "delivered"


def script_of(blocks: list[Example]) -> str:
    """Return a script that runs blocks one after the other, with a line between what they print."""
    return "\necho; echo ----\n".join(block.commands for block in blocks)


def ask(served: Served, *arguments: str) -> str:
    """Return what a command prints."""
    done = complete(arguments, served.folder, served.environment())
    assert (done.returncode, done.stderr) == (0, ""), done
    return done.stdout


@contextmanager
def removing_connections(served: Served) -> Iterator[None]:
    """Release the numbers and remove the connections that a page has added to the first account."""
    yield
    added = [each["key"] for each in json.loads(ask(served, "carrier", "list", "--json")) if each["key"] != "sandbox"]
    for number in json.loads(ask(served, "number", "list", "1", "--json")):
        if number["carrier"] in added:
            ask(served, "number", "release", "1", str(number["id"]))
    for key in added:
        ask(served, "carrier", "remove", key)


@pytest.mark.parametrize("page", [page for page in PAGES if runnable(page)], ids=lambda page: page.name)
def test_every_example_of_a_page_runs(served: Served, page: Path) -> None:
    blocks, environment = runnable(page), account_of(served, page)
    with ExitStack() as stack:
        if page.name in TRIALS:
            install(SMSC)  # the terminal of a reader has the certificates of the machine; this one does not
            stack.enter_context(alone(page.name))
            stack.enter_context(removing_connections(served))
        for block in blocks:
            if block.mark == TERMINAL:
                stack.enter_context(running(SHELL, block.commands, served.folder, environment))
        asked = [block for block in blocks if block.mark != TERMINAL]

        done = subprocess.run(
            [SHELL, "-e", "-c", script_of(asked)],
            cwd=served.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if page.name in TRIALS and done.returncode == 0:
            until(lambda: is_delivered(served, environment["KEY"]))

    assert (done.returncode, done.stderr) == (0, "")
    said = done.stdout.split(BETWEEN)
    refused = ['"success":false' in each or '"errors":' in each for each in said]
    assert refused == [block.mark == REFUSED for block in asked], done.stdout
