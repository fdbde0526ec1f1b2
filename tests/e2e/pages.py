"""The blocks of shell commands of the README and the documents, and the way in which the tests run each."""

import shutil
from pathlib import Path

from tests.e2e.processes import ROOT, Example, examples

SHELLS = [shell for shell in ("bash", "zsh") if shutil.which(shell)]
PAGES = [path for path in (*ROOT.glob("*.md"), *sorted((ROOT / "docs").glob("*.md"))) if examples(path.read_text())]
TRIALS = ("smpp.md", "telnyx.md", "twilio.md")
"""Pages whose last examples connect the first account to a simulated carrier."""

REFUSED = "refused"
"""Marks a block whose last answer is a refusal."""
TERMINAL = "terminal"
"""Marks a block that runs in a terminal of its own until its reader stops it."""
ELSEWHERE = {
    "reference": "tests/rest/test_reference.py runs it in each shell, with records that have its ids",
    "restore": "tests/e2e/test_backup.py runs it, on an empty data folder",
}
"""Marks of blocks that another test runs."""

NOT_RUN = {
    ("README.md", "make serve"): "installs the packages of registries into .venv; `.ci/run` runs `make install`",
    ("assistants.md", "claude mcp add"): "needs a program of Anthropic, and a public DNS name",
    ("carriers.md", "messaging carrier rotate twilio"): "needs an account at Twilio",
    ("oauth.md", "curl https://sms.example.com/"): "needs a public DNS name, and the code that a browser receives",
    ("operating.md", "messaging serve --tls-cert /etc/"): "needs root; test_https.py runs it with other paths",
    ("operating.md", "export DATABASE_URL"): "needs servers on other machines; test_apart.py runs these processes",
    ("smpp.md", "messaging carrier add smpp smsc --set host=smsc.example.com"): "needs an account at a carrier",
    ("telnyx.md", "messaging carrier add telnyx telnyx --env api_key"): "needs an account at Telnyx",
    ("twilio.md", "messaging carrier add twilio twilio --env account_sid"): "needs an account at Twilio",
}
"""The reason for each block that no test runs, by its page and the beginning of its commands."""


def is_exempt(page: Path, block: Example) -> bool:
    """Return whether no test runs a block."""
    return any(page.name == name and block.commands.startswith(begin) for name, begin in NOT_RUN)


def runnable(page: Path) -> list[Example]:
    """Return the blocks of a page that run against the service of the tests."""
    return [block for block in examples(page.read_text()) if block.mark not in ELSEWHERE and not is_exempt(page, block)]


def exempt() -> list[tuple[Path, Example]]:
    """Return the blocks that no test runs, with their pages."""
    return [(page, block) for page in PAGES for block in examples(page.read_text()) if is_exempt(page, block)]
