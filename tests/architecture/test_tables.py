"""SQL names a table in the package of its owner only: others compose statements from fragments that it exports."""

import ast
import re
from collections.abc import Iterator

from app.bootstrap import METADATA
from app.db.base import Base
from tests.architecture.sources import Module, modules


def owner(module: str) -> str:
    """Return the package that owns the tables of a module: in the domain the area, whatever its parts."""
    package = module.rpartition(".")[0]
    return ".".join(package.split(".")[:3]) if package.startswith("app.domain.") else package


OWNERS = {table.name: owner(each.class_.__module__) for each in Base.registry.mappers for table in each.tables}
COLUMNS = {column.name for table in METADATA.tables.values() for column in table.c}
TABLE = re.compile(
    rf"\b(?:{'|'.join(METADATA.tables.keys() - COLUMNS)})\b"
    rf"|(?<=\b(?:FROM|JOIN|INTO)\s)(?:{'|'.join(METADATA.tables.keys() & COLUMNS)})\b"
)
"""The name of a table. One that a column bears as well is a table where it follows a keyword."""

STATEMENT = re.compile(r"\b(?:SELECT|FROM|JOIN|INTO|UPDATE|DELETE)\b")
JOINED_BATCH = re.compile(
    r"\bIN \(\s*SELECT(?:[^()]|\((?:[^()]|\([^()]*\))*\))*?\bLIMIT\b[^()]*\bFOR (?:NO KEY )?UPDATE", re.IGNORECASE
)
"""A locked batch as the inner part of a join: a nested loop reads it for each outer row, and locks others each time."""
REGISTERS = frozenset({"DeletedTable", "ExportedTable", "Table", "find_values", "table"})
"""Calls whose first argument is the name of a table."""


def statements(nodes: list[ast.AST]) -> Iterator[str]:
    """Walk over the texts of a module that are SQL, or the name of a table in a register."""
    prose = {node.value for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        match node:
            case ast.Constant(value=str(text)) if node not in prose and STATEMENT.search(text):
                yield text
            case ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=str(text)), *_]) if name in REGISTERS:
                yield text
            case _:
                continue


def foreign(module: Module) -> list[str]:
    """Return the tables of other packages that the SQL of a module names."""
    package = owner(module.name.removesuffix(".py").replace("/", "."))
    named = [name for text in statements(module.nodes) for name in TABLE.findall(text)]
    return [name for name in named if OWNERS[name] != package]


def test_sql_names_no_table_of_another_package():
    found = {module.name: foreign(module) for module in modules()}

    assert {name: tables for name, tables in found.items() if tables} == {}


def test_a_row_with_a_lease_counts_its_leases_in_a_column_of_that_name():
    counted = {table.name: "lease" in table.c for table in METADATA.tables.values() if "leased_until" in table.c}

    assert counted == {"crm_connections": True, "webhook_subscriptions": True}


def test_a_statement_that_locks_a_batch_names_its_rows_by_an_array():
    found = {module.name: JOINED_BATCH.findall(module.text) for module in modules()}

    assert {name: batches for name, batches in found.items() if batches} == {}
    assert JOINED_BATCH.search("DELETE FROM t WHERE id IN (SELECT id FROM t WHERE f(a) ORDER BY id LIMIT 5 FOR UPDATE)")
