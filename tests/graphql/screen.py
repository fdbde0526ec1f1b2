"""The TypeScript sample of a front end in Node: its actions and its displayed state."""

import asyncio
import shutil
import subprocess
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from tests.node import BUILD, NODE, install
from tests.waiting import within

ROOT = Path(__file__).parents[2]
SOURCES = Path(__file__).with_name("typescript")
COMPILED = {"NODE_COMPILE_CACHE": str(BUILD / "compiled")}
LONGEST_LINE = 2**22


def build(root: Path) -> Path:
    """Copy the sample with its packages and the types generated from the contract."""
    sample = root / SOURCES.relative_to(ROOT)
    packages = install(SOURCES) / "node_modules"
    shutil.copytree(SOURCES, sample, ignore=shutil.ignore_patterns("node_modules", "graphql-env.ts"))
    shutil.copy(ROOT / "schema.graphql", root)
    (sample / "node_modules").symlink_to(packages)
    run(sample, "gql.tada/bin/cli.js", "generate-output")
    return sample


def run(sample: Path, program: str, *arguments: str) -> str:
    """Run a program of the sample's packages; return its output."""
    command = [NODE, sample / "node_modules" / program, *arguments]
    done = subprocess.run(command, cwd=sample, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@dataclass
class Screen:
    """A screen of the sample. `shown` has all displayed states in order, each with the name of its part."""

    node: Process
    shown: list[tuple[str, Any]] = field(default_factory=list)

    async def do(self, command: str) -> Any:
        """Run an action; return its result."""
        assert self.node.stdin
        self.node.stdin.write(f"{command}\n".encode())
        while await self._read() != "done":
            pass
        return self.last("done")

    async def until(self, part: str, holds: Callable[[Any], Any]) -> Any:
        """Wait until a condition holds for the state of a part; return the state."""
        while not self.states(part) or not holds(self.last(part)):
            await self._read()
        return self.last(part)

    def states(self, part: str) -> list[Any]:
        """Return the displayed states of a part, in order."""
        return [state for name, state in self.shown if name == part]

    def last(self, part: str) -> Any:
        """Return the present state of a part."""
        return self.states(part)[-1]

    async def _read(self) -> str:
        """Read the next displayed state; return its part."""
        assert self.node.stdout
        line = await within("what the screen shows", self.node.stdout.readline())
        assert line, "The screen has ended."
        [shown] = orjson.loads(line).items()
        self.shown.append(shown)
        return shown[0]


@asynccontextmanager
async def looking_at(sample: Path, url: str, key: str) -> AsyncGenerator[Screen]:
    """Open a screen."""
    node = await asyncio.create_subprocess_exec(
        NODE, sample / "screen.ts", url, key, env=COMPILED, limit=LONGEST_LINE, stdin=PIPE, stdout=PIPE, stderr=PIPE
    )
    try:
        yield Screen(node)
    finally:
        _, complaints = await within("the end of the screen", node.communicate(b""))
    assert complaints == b"", complaints.decode()
