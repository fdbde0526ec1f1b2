"""Each shell gives the programs of the documents the same arguments: the other tests run the examples in one shell."""

from pathlib import Path

import pytest

from tests.e2e.pages import PAGES, SHELLS
from tests.e2e.processes import examples
from tests.e2e.stand_ins import ANSWER, Effects, run

BETWEEN = "\necho; echo ----\n"
NEEDS_ZSH = pytest.mark.skipif("zsh" not in SHELLS, reason="zsh is not installed; .ci/run installs it")


def run_in_each(script: str, folder: Path) -> list[Effects]:
    """Return the effects of a script in each shell."""
    return [run(shell, script, folder) for shell in SHELLS]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_shell_runs_the_programs_of_a_page_as_bash_does(tmp_path: Path, page: Path) -> None:
    blocks = [block.commands for block in examples(page.read_text())]

    first, *others = run_in_each(BETWEEN.join(blocks), tmp_path / "reader")

    assert (first.done[0], first.done[2]) == (0, "")
    assert others == [first] * len(others)


@NEEDS_ZSH
@pytest.mark.parametrize(
    "block",
    [
        "curl http://127.0.0.1/contacts?search=0143",
        "curl http://127.0.0.1/contacts[1]",
        "curl $URL/contacts",
        "messaging contact list | while read -r line; do curl $line; done",
        'messaging contact note "$(echo "one\\ntwo")"',
        'echo "one\\ntwo" | messaging contact import',
        'echo "one\\ntwo" > people.csv',
        'echo "one\\ntwo"',
        "texts=(Hi Bye); messaging contact note ${texts[1]}",
        "messaging contact list =curl",
        "path=curl; curl",
    ],
)
def test_a_block_that_zsh_reads_otherwise_is_found(tmp_path: Path, block: str) -> None:
    bash, zsh = run_in_each(block, tmp_path / "reader")

    assert bash != zsh


@NEEDS_ZSH
def test_the_record_of_a_call_has_its_arguments_its_input_and_its_variables(tmp_path: Path) -> None:
    block = 'export KEY=one; id=$(printf "a\\nb" | curl -s "$URL?x=[1]"); messaging show "$id" > shown.txt'

    bash, zsh = run_in_each(block, tmp_path / "reader")

    assert bash == zsh
    curl, messaging = bash.calls
    programs = tmp_path / "reader" / "work" / ".venv" / "bin"
    assert curl.startswith(f"{[f'{programs}/curl', '-s', f'{ANSWER}?x=[1]']} < {b'a' + chr(10).encode() + b'b'} in ")
    assert "'KEY': 'one'" in curl
    assert messaging.startswith(f"{[f'{programs}/messaging', 'show', ANSWER]} < b'' in ")
    assert list(bash.files.values()) == [f"{ANSWER}\n"]
