"""The blocks of shell commands of the README and the documents, and the way in which the tests run each."""

import shutil
from pathlib import Path

from tests.e2e.processes import ROOT, Example, examples

SHELL = "bash"
"""The shell in which the tests run the blocks; tests/e2e/test_document_shells.py proves that others do the same."""
SHELLS = [shell for shell in ("bash", "zsh") if shutil.which(shell)]
PAGES = [path for path in (*ROOT.glob("*.md"), *sorted((ROOT / "docs").glob("*.md"))) if examples(path.read_text())]
TRIALS = ("smpp.md", "telnyx.md", "twilio.md")
"""Pages whose examples connect the first account to a simulated carrier."""

REFUSED = "refused"
"""Marks a block whose last answer is a refusal."""
TERMINAL = "terminal"
"""Marks a block that runs in a terminal of its own until its reader stops it."""
ELSEWHERE = {
    "apart": "tests/e2e/test_apart.py runs them, with databases that several processes use",
    "code": "tests/e2e/test_document_blocks.py runs it, with a code that a browser has received",
    "https": "tests/e2e/test_document_starts.py runs it, with a certificate",
    "make": "tests/e2e/test_document_starts.py runs it, in a folder of its own",
    "reference": "tests/rest/test_reference.py runs it, with records that have its ids",
    "restore": "tests/e2e/test_backup.py runs it, on an empty data folder",
}
"""Marks of blocks that another test runs."""


def runnable(page: Path) -> list[Example]:
    """Return the blocks of a page that run against the service of the tests."""
    return [block for block in examples(page.read_text()) if block.mark not in ELSEWHERE]


def blocks_of(name: str, mark: str) -> list[str]:
    """Return the commands of the blocks of a page with a mark."""
    return [block.commands for block in examples((ROOT / name).read_text()) if block.mark == mark]
