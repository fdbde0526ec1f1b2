"""The shell commands of the documents: their marks, their form, and those that need more than a running service."""

import asyncio
import json
import re
import subprocess
from pathlib import Path

import httpx2
import pytest

from tests.e2e.commands import complete
from tests.e2e.conftest import Served
from tests.e2e.pages import ELSEWHERE, PAGES, REFUSED, SHELL, TERMINAL, blocks_of
from tests.e2e.processes import ROOT, examples
from tests.oauth.applications import AUTHORIZE, REDIRECT, query_of
from tests.oauth.browsing import Browsing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_of_a_page_is_run_or_bears_a_mark_that_says_by_which_test(page: Path) -> None:
    marks = {example.mark for example in examples(page.read_text())}

    assert marks <= {"", REFUSED, TERMINAL, *ELSEWHERE}


def test_every_mark_of_blocks_that_another_test_runs_is_on_a_page() -> None:
    marks = {example.mark for page in PAGES for example in examples(page.read_text())}

    assert ELSEWHERE.keys() <= marks
    assert [test for test in ELSEWHERE.values() if not (ROOT / test.split()[0]).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_block_has_a_comment_because_zsh_passes_a_pasted_comment_to_the_command(page: Path) -> None:
    lines = [line for block in examples(page.read_text()) for line in block.commands.splitlines()]

    assert [line for line in lines if re.search(r"(^|\s)#", line)] == []


def test_every_shell_block_is_named_sh() -> None:
    opened = [line for page in PAGES for line in re.findall(r"^ *```(\w+)", page.read_text(), re.M)]

    assert set(opened) & {"bash", "console", "shell", "zsh"} == set()


async def receive(served: Served) -> dict[str, str]:
    """Let the owner of a new account allow its client; return what a browser and the client then have."""
    demo = complete(("demo", "--redirect-uri", REDIRECT, "--json"), served.folder, served.environment())
    opened = json.loads(demo.stdout)
    asked = {"client_id": opened["client_id"], "redirect_uri": REDIRECT, "response_type": "code", "state": "1"}
    async with httpx2.AsyncClient(base_url=served.url, timeout=30) as client:
        browsing = Browsing(client)
        form = await browsing.form(f"{AUTHORIZE}?{httpx2.QueryParams(asked)}")
        allowed = await browsing.send(form, email=opened["email"], password=opened["password"], decision="allow")
    names = ("client_id", "client_secret")
    return {"CODE": query_of(allowed)["code"]} | {name.upper(): opened[name] for name in names}


def test_the_code_that_a_browser_received_is_exchanged_for_tokens(served: Served) -> None:
    [block] = blocks_of("docs/oauth.md", "code")
    env = served.environment() | asyncio.run(receive(served))

    done = subprocess.run([SHELL, "-e", "-c", block], env=env, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["token_type"] == "Bearer"
