"""The shell commands of the documents that no test runs: their reasons, their syntax, and the commands they name."""

import re
import shlex
import subprocess
from pathlib import Path

import httpx2
import pytest

from tests.e2e.conftest import Served
from tests.e2e.pages import ELSEWHERE, NOT_RUN, PAGES, REFUSED, SHELLS, TERMINAL, exempt
from tests.e2e.processes import ROOT, Example, examples

EXEMPT = [pytest.param(block, id=f"{page.name}-{number}") for number, (page, block) in enumerate(exempt())]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_of_a_page_is_run_or_bears_a_mark_that_says_by_which_test(page: Path) -> None:
    marks = {example.mark for example in examples(page.read_text())}

    assert marks <= {"", REFUSED, TERMINAL, *ELSEWHERE}


def test_every_reason_for_not_running_a_block_belongs_to_one_block() -> None:
    found = [
        sum(page.name == name and block.commands.startswith(begin) for page, block in exempt())
        for name, begin in NOT_RUN
    ]

    assert found == [1] * len(NOT_RUN)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_block_has_a_comment_because_zsh_passes_a_pasted_comment_to_the_command(page: Path) -> None:
    lines = [line for block in examples(page.read_text()) for line in block.commands.splitlines()]

    assert [line for line in lines if re.search(r"(^|\s)#", line)] == []


def test_every_shell_block_is_named_sh() -> None:
    opened = [line for page in PAGES for line in re.findall(r"^ *```(\w+)", page.read_text(), re.M)]

    assert set(opened) & {"bash", "console", "shell", "zsh"} == set()


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("block", EXEMPT)
def test_a_block_that_is_not_run_is_parsed_by_each_shell(shell: str, block: Example) -> None:
    done = subprocess.run([shell, "-n", "-c", block.commands], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_every_target_of_make_in_a_block_that_is_not_run_exists() -> None:
    targets = [target for words in commands("make") for target in words[1:]]

    assert targets == ["serve"]
    assert set(targets) <= set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M))


def test_every_address_of_curl_in_a_block_that_is_not_run_is_a_route(served: Served) -> None:
    paths = [re.sub(r"^https://[^/]+", "", words[1]) for words in commands("curl")]

    assert paths == ["/automation/oauth/token"]
    assert [httpx2.post(f"{served.url}{path}").status_code for path in paths] == [400]


def commands(program: str) -> list[list[str]]:
    """Return the words of the calls of a program in blocks that no test runs."""
    lines = [line for _, block in exempt() for line in re.sub(r"\\\n", " ", block.commands).splitlines()]
    return [words for line in lines if (words := shlex.split(line))[:1] == [program]]
