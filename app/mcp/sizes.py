"""Cuts long results, which would fill the context of an assistant."""

from collections.abc import Awaitable, Callable

import orjson

from app.mcp.catalogue import CompiledTool
from app.operations.json_schema import Json

MAX_BYTES = 25_000
LIMIT = "limit"
"""The variable with the size of a page."""

OFFSET = "offset"

MARGIN = 0.9

Page = Callable[[int], Awaitable[Json]]
"""Returns the result again with a smaller page."""


async def fit(tool: CompiledTool, result: Json, page: Page) -> tuple[Json, str | None]:
    """Return a result of at most `MAX_BYTES`, and a sentence about the part that is missing.

    A list with pages is read again with a smaller one, so that its cursor is that of the last item shown. A result
    without a list, or with one item, stays as it is.
    """
    name, total = _list_of(result), result.get("total_count")
    size = len(orjson.dumps(result))
    if name is None or size <= MAX_BYTES:
        return result, None
    length = len(result[name])
    while size > MAX_BYTES and len(result[name]) > 1:
        fewer = max(int(len(result[name]) * MAX_BYTES / size * MARGIN), 1)
        is_paged = tool.operation.reads_only and LIMIT in tool.operation.variables
        result = await page(fewer) if is_paged else {**result, name: result[name][:fewer]}
        size = len(orjson.dumps(result))
    more = _continuation(tool) if "page_info" in result else "Ask for less."
    shown, whole = len(result[name]), total if total is not None else length
    return result, f"Cut at {MAX_BYTES:,} bytes: {shown} of {whole} {name}. {more}"


def _list_of(result: Json) -> str | None:
    return next((name for name, value in result.items() if isinstance(value, list)), None)


def _continuation(tool: CompiledTool) -> str:
    """Return how to read on. An offset would skip texts after the cursor too."""
    without = ", without `offset`" if OFFSET in tool.operation.variables else ""
    return f"For the next ones call again with `after`: page_info.end_cursor{without}."
