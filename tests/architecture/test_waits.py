"""Every wait in a test has a bound, and says what it waited for when it ends."""

import ast
import re
from collections.abc import Iterator

from tests.architecture.sources import TESTS, files_of_tests

HELPERS = {TESTS / "waiting.py", TESTS / "bounds.py"}
ENDLESS = {"communicate", "get", "join", "readline", "recv", "wait", "wait_closed"}
"""Methods that, awaited without an argument, wait for another task, process or peer."""

SUSPECT = re.compile(
    rf"\b(?:{'|'.join(sorted(ENDLESS))})\s*\((?:\s|#.*)*\)|\basyncio\s*\.\s*(?:wait|Future)\b|^\s*while\b", re.M
)
"""The text of every wait that may lack a bound: the files without it are not parsed, which takes seconds."""


def waits_of(text: str) -> Iterator[tuple[int, str]]:
    """Walk over the waits of a file without a bound."""
    if SUSPECT.search(text):
        yield from waits(ast.parse(text))


def waits(node: ast.AST, bounded: bool = False) -> Iterator[tuple[int, str]]:
    """Walk over the waits without a bound; what stands within `asyncio.timeout` has one."""
    if isinstance(node, ast.AsyncWith):
        bounded = bounded or any("timeout(" in ast.unparse(item.context_expr) for item in node.items)
    if isinstance(node, ast.Await) and not bounded and is_endless(node.value):
        yield node.lineno, ast.unparse(node)
    if isinstance(node, ast.While) and any(map(sleeps, ast.walk(node))):
        yield node.lineno, f"while {ast.unparse(node.test)}"
    for child in ast.iter_child_nodes(node):
        yield from waits(child, bounded)


def is_endless(awaited: ast.expr) -> bool:
    if not isinstance(awaited, ast.Call) or not isinstance(awaited.func, ast.Attribute):
        return False
    name, words = awaited.func.attr, {each.arg for each in awaited.keywords}
    if ast.unparse(awaited.func) == "asyncio.wait":
        return "timeout" not in words
    return ast.unparse(awaited.func) == "asyncio.Future" or (name in ENDLESS and not awaited.args and not words)


def sleeps(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "sleep"


def test_every_wait_of_a_test_is_bounded_and_named():
    found = [
        f"{path.relative_to(TESTS)}:{line} {text}"
        for path, source in files_of_tests().items()
        if path not in HELPERS
        for line, text in waits_of(source)
    ]

    assert found == [], "Wait with `within` or `until` of tests/waiting.py."


def test_a_wait_without_a_bound_is_found():
    source = "async def f():\n    await gate.wait()\n    while not done:\n        await asyncio.sleep(1)\n"
    bounded = "async def f():\n    async with asyncio.timeout(1):\n        await gate.wait()\n"

    assert list(waits_of(source)) == [(2, "await gate.wait()"), (3, "while not done")]
    assert list(waits_of(bounded)) == []
