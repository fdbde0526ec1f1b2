"""Check the types of the modules that changed since the last check, and of all modules that import them.

Arguments: the file that keeps the modules of the last check, and the files that are newer than it.
"""

import subprocess
import sys
from pathlib import Path

from grimp import build_graph

CHECK = [".venv/bin/basedpyright", "--level", "error"]


def find_modules() -> dict[str, str]:
    """Return the file of each module that has types to check."""
    files = [path.as_posix() for path in sorted(Path("app").rglob("*.py")) if "migrations" not in path.parts]
    return {path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): path for path in files}


def choose(modules: dict[str, str], changed: set[str]) -> list[str]:
    """Return the files of changed modules, and of the modules that import one of them, however indirectly."""
    graph = build_graph("app")
    names = {name for name, path in modules.items() if path in changed}
    importing = {each for name in names for each in graph.find_downstream_modules(name)}
    return [path for name, path in modules.items() if name in names | importing]


def main(kept: Path, *newer: str) -> int:
    """Check all modules where the settings are newer or a module is gone; return the exit code of the check."""
    modules = find_modules()
    before = kept.read_text().split() if kept.exists() else []
    settings = [path for path in newer if not path.startswith("app")]
    is_partial = before and not settings and not set(before) - modules.keys()
    chosen = choose(modules, set(newer)) if is_partial else []
    code = 0 if is_partial and not chosen else subprocess.call([*CHECK, *chosen])
    if code == 0:
        kept.parent.mkdir(exist_ok=True)
        kept.write_text("\n".join(modules))
    return code


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))
