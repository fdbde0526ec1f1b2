"""Tests spell no SQL: their rows are made and read in `tests/factories`."""

import ast
from collections import Counter
from collections.abc import Iterator

from tests.architecture.sources import TESTS, files_of_tests

SQL_UNDER_TEST = ("chaos", "db", "factories")
"""Folders that may spell any statement: what they test is the database, or they are the factories."""

STATEMENTS = frozenset({"execute", "executemany", "fetch", "fetchrow", "fetchval"})
NO_DATABASES = frozenset({"_file", "documents", "reader", "route"})
"""Names of objects whose methods are only named so: a file of a test's own, a reader, a request of a browser."""

LEFT = {
    "cli/conftest.py": 1,  # the command line has a database of its own
    "conftest.py": 2,  # makes the databases
    "shared.py": 3,  # empties them
    "domain/billing/test_money_machine.py": 2,  # empties the database between examples
    "domain/contacts/test_contact_pages.py": 4,  # what PostgreSQL plans for a list
    "domain/kernel/test_idempotency.py": 1,
    "domain/kernel/test_unit_of_work.py": 2,  # statements are what a unit runs
    "domain/messages/test_acceptor_contention.py": 1,
    "domain/webhooks/faults.py": 2,  # passes the statements of the service on
    "domain/webhooks/test_webhooks_figures.py": 1,
    "e2e/test_kill.py": 1,
    "embedded/probes.py": 1,
    "graphql/test_filters_of_logs.py": 4,
    "graphql/test_http_answers.py": 2,  # a trigger that refuses to commit
    "graphql/test_identity.py": 1,  # counts the statements of the service
    "oauth/test_oauth_tokens.py": 1,
    "rest/test_openapi_conformance.py": 1,
}
"""The number of statements in other places. The numbers may only decrease; give a reason for one that stays."""


def statements(text: str) -> Iterator[ast.Call]:
    tree = ast.parse(text) if any(f".{name}(" in text for name in STATEMENTS) else ast.Module([], [])
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and is_statement(node.func):
            yield node


def is_statement(method: ast.Attribute) -> bool:
    """Return whether a method runs a statement: by its name, and by the last name of the object it belongs to."""
    match method.value:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return method.attr in STATEMENTS and name not in NO_DATABASES
        case _:
            return method.attr in STATEMENTS


def test_statements_are_spelled_in_the_factories_and_where_the_sql_is_under_test():
    found = Counter[str]()
    for path, text in files_of_tests().items():
        name = path.relative_to(TESTS)
        if name.parts[0] not in SQL_UNDER_TEST:
            found[str(name)] += sum(1 for _ in statements(text))

    assert dict(+found) == LEFT
