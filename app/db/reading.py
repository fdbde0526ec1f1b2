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

MAX_TEXTS = 500
"""The number of statements whose texts are kept, as many as SQLAlchemy keeps."""

NUMERIC = 1700
"""The OID of numeric; only the conversions of numbers with a fraction depend on the type that PostgreSQL returns."""

Convert = Callable[[Any], Any]


class Text(NamedTuple):
    """The text of a statement, the names of its parameters in their order, and the conversions of values.

    `bind` has those of parameters, by name; `show` those of columns, by place.
    """

    compiled: SQLCompiler
    names: Sequence[str]
    bind: Mapping[str, Convert]
    show: Mapping[int, Convert]

    def arguments(self, parameters: Mapping[str, Any] | None, own: Sequence[BindParameter[Any]]) -> list[Any]:
        """Return the values of the parameters: those given by name, and those that stand in a statement."""
        values = self.compiled.construct_params(parameters, extracted_parameters=own)
        return [self.bind[name](values[name]) if name in self.bind else values[name] for name in self.names]

    def shown(self, rows: Sequence[Sequence[Any]]) -> Sequence[Sequence[Any]]:
        """Return rows with the values of SQLAlchemy's types."""
        if not self.show:
            return rows
        changed = [list(row) for row in rows]
        for place, convert in self.show.items():
            for row in changed:
                row[place] = convert(row[place])
        return changed


_TEXTS: LRUCache[Any, Text | None] = LRUCache(MAX_TEXTS)


async def fetch(
    connection: AsyncConnection, statement: Select[*tuple[Any, ...]], parameters: Mapping[str, Any] | None = None
) -> Sequence[Sequence[Any]]:
    """Return the rows of a statement that locks nothing: in the connection's transaction if it has begun, else alone.

    One whose text depends on its values, such as the number of those of an `IN`, is run by SQLAlchemy.
    """
    key = statement._generate_cache_key()  # pyright: ignore[reportPrivateUsage] - compiling takes up to 3 ms
    text = _text_of(statement, key, connection.dialect) if key else None
    if key is None or text is None:
        return (await connection.execute(statement, parameters)).all()
    arguments = text.arguments(parameters, key.bindparams)
    running = connection.sync_connection
    assert running
    running.dispatch.before_cursor_execute(running, None, text.compiled.string, arguments, None, False)
    driver: Any = running.connection.driver_connection
    return text.shown(await driver.fetch(text.compiled.string, *arguments))


def _text_of(statement: Select[*tuple[Any, ...]], key: CacheKey, dialect: Dialect) -> Text | None:
    if key.key not in _TEXTS:
        _TEXTS[key.key] = _compile(statement, key, dialect)
    return _TEXTS[key.key]


def _compile(statement: Select[*tuple[Any, ...]], key: CacheKey, dialect: Dialect) -> Text | None:
    compiled = statement.compile(dialect=dialect, cache_key=key)
    assert isinstance(compiled, SQLCompiler)
    if compiled.literal_execute_params or compiled.post_compile_params:
        return None
    bound = {name: _impl(each.type, dialect).bind_processor(dialect) for name, each in compiled.binds.items()}
    shown = [_impl(each["type"], dialect).result_processor(dialect, NUMERIC) for each in statement.column_descriptions]
    return Text(
        compiled,
        compiled.positiontup or (),
        {name: convert for name, convert in bound.items() if convert},
        {place: convert for place, convert in enumerate(shown) if convert},
    )


def _impl(kind: TypeEngine[Any], dialect: Dialect) -> TypeEngine[Any]:
    return kind.dialect_impl(dialect)
