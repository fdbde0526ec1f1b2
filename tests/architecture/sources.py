"""The sources of the service, read and parsed once for all rules."""

import ast
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """A file of `app`."""

    name: str
    text: str
    tree: ast.Module

    @property
    def lines(self) -> int:
        """Count the lines of the file."""
        return self.text.count("\n")

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """List every node: each walk over all modules takes most of a second."""
        return list(ast.walk(self.tree))

    @cached_property
    def functions(self) -> list[tuple[str, Function]]:
        """List every function, however deep, with the place it stands at."""
        return [(f"{self.name}:{node.lineno} {node.name}", node) for node in self.nodes if isinstance(node, Function)]


@cache
def modules() -> list[Module]:
    """Return the files of `app` except the migrations."""
    return [read(path) for path in sorted((ROOT / "app").rglob("*.py")) if "migrations" not in path.parts]


def read(path: Path) -> Module:
    """Read a file."""
    text = path.read_text()
    return Module(str(path.relative_to(ROOT)), text, ast.parse(text))


@cache
def files_of_tests() -> dict[Path, str]:
    """Return the texts of the files of tests by their paths."""
    return {path: path.read_text() for path in sorted(TESTS.rglob("*.py"))}
