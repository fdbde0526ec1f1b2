"""Statements of SQLAlchemy that only read, run by asyncpg itself.

SQLAlchemy begins a transaction before the first statement of a connection, and makes a cursor and a result for each:
two more round trips a request, and 0.3 ms of processor a statement.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import BindParameter, Dialect, Select
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.sql.cache_key import CacheKey
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.types import TypeEngine
from sqlalchemy.util import LRUCache

MAX_QUERIES = 500
"""The number of compiled queries that are kept, as many as SQLAlchemy keeps."""

NUMERIC = 1700
"""The OID of numeric; only the conversions of numbers with a fraction depend on the type that PostgreSQL returns."""

Convert = Callable[[Any], Any]


class CompiledQuery(NamedTuple):
    """A compiled SELECT, the names of its parameters in their order, and the conversions of values that need one.

    Those of parameters are kept by name, those of results by the place of the column.
    """

    compiled: SQLCompiler
    names: Sequence[str]
    of_parameters: Mapping[str, Convert]
    of_results: Mapping[int, Convert]

    def arguments(self, parameters: Mapping[str, Any] | None, own: Sequence[BindParameter[Any]]) -> list[Any]:
        """Return the values of the parameters: those given by name, and those that stand in a statement."""
        values = self.compiled.construct_params(parameters, extracted_parameters=own)
        converts = self.of_parameters
        return [converts[name](values[name]) if name in converts else values[name] for name in self.names]

    def convert(self, rows: Sequence[Sequence[Any]]) -> Sequence[Sequence[Any]]:
        """Return rows with the values of SQLAlchemy's types."""
        if not self.of_results:
            return rows
        changed = [list(row) for row in rows]
        for place, convert in self.of_results.items():
            for row in changed:
                row[place] = convert(row[place])
        return changed


_COMPILED: LRUCache[Any, CompiledQuery | None] = LRUCache(MAX_QUERIES)


async def fetch(
    connection: AsyncConnection, statement: Select[*tuple[Any, ...]], parameters: Mapping[str, Any] | None = None
) -> Sequence[Sequence[Any]]:
    """Return the rows of a statement that locks nothing: in the connection's transaction if it has begun, else alone.

    One whose text depends on its values, such as the number of those of an `IN`, is run by SQLAlchemy.
    """
    # Compiling anew takes up to 3 ms.
    key = statement._generate_cache_key()  # noqa: SLF001 - SQLAlchemy has no public name for the key of its own cache
    query = _compiled_of(statement, key, connection.dialect) if key else None
    if key is None or query is None:
        return (await connection.execute(statement, parameters)).all()
    sql, arguments = query.compiled.string, query.arguments(parameters, key.bindparams)
    running = connection.sync_connection
    assert running
    running.dispatch.before_cursor_execute(running, None, sql, arguments, None, False)
    driver: Any = running.connection.driver_connection
    return query.convert(await driver.fetch(sql, *arguments))


def _compiled_of(statement: Select[*tuple[Any, ...]], key: CacheKey, dialect: Dialect) -> CompiledQuery | None:
    if key.key not in _COMPILED:
        _COMPILED[key.key] = _compile(statement, key, dialect)
    return _COMPILED[key.key]


def _compile(statement: Select[*tuple[Any, ...]], key: CacheKey, dialect: Dialect) -> CompiledQuery | None:
    compiled = statement.compile(dialect=dialect, cache_key=key)
    assert isinstance(compiled, SQLCompiler)
    if compiled.literal_execute_params or compiled.post_compile_params:
        return None
    of_parameters = {name: _impl(each.type, dialect).bind_processor(dialect) for name, each in compiled.binds.items()}
    of_results = [
        _impl(each["type"], dialect).result_processor(dialect, NUMERIC) for each in statement.column_descriptions
    ]
    return CompiledQuery(
        compiled,
        compiled.positiontup or (),
        {name: convert for name, convert in of_parameters.items() if convert},
        {place: convert for place, convert in enumerate(of_results) if convert},
    )


def _impl(kind: TypeEngine[Any], dialect: Dialect) -> TypeEngine[Any]:
    return kind.dialect_impl(dialect)
