"""SQL names a table in the package of its area only: other areas compose statements from fragments that it exports."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from app.bootstrap import METADATA
from app.db.base import Base

DOMAIN = Path(__file__).parents[2] / "app" / "domain"
OWNERS = {table.name: each.class_.__module__ for each in Base.registry.mappers for table in each.tables}
TABLE = re.compile(rf"\b(?:{'|'.join(METADATA.tables)})\b")
STATEMENT = re.compile(r"\b(?:SELECT|FROM|JOIN|INTO|UPDATE|DELETE)\b")
REGISTERS = frozenset({"Area", "Part", "Table", "table"})
"""Calls whose first argument is the name of a table."""

LEFT = {
    "accounts/credentials.py": 8,  # OAuth grants and clients that credentials depend on
    "erasure/export.py": 25,  # the register of what is exported
    "erasure/retention.py": 1,
    "erasure/tables.py": 40,  # the register of what is erased
    "webhooks/reactions.py": 1,
}
"""How many times SQL names a table of another area. The numbers only shrink; a foreign key is no SQL."""


def statements(tree: ast.AST) -> Iterator[str]:
    """Walk over the texts of a module that are SQL, or the name of a table in a register."""
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant()):
                continue
            case ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=str(text)), *_]) if name in REGISTERS:
                yield text
            case _:
                yield from filter(STATEMENT.search, texts(node))


def texts(node: ast.AST) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Constant) and isinstance(child.value, str):
            yield child.value


def foreign(path: Path) -> list[str]:
    """Return the tables of other areas that the SQL of a module names."""
    area = f"app.domain.{path.relative_to(DOMAIN).parts[0]}."
    named = [name for text in statements(ast.parse(path.read_text())) for name in TABLE.findall(text)]
    return [name for name in named if not OWNERS[name].startswith(area)]


def test_sql_of_an_area_names_no_table_of_another_area():
    found = {str(path.relative_to(DOMAIN)): len(foreign(path)) for path in DOMAIN.rglob("*.py")}

    assert {name: count for name, count in found.items() if count} == LEFT
