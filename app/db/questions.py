"""Answers questions that are asked at the same time by one statement."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

_PARAMETER = re.compile(r"\$(\d+)")


class _Question(NamedTuple):
    statement: str
    arguments: Sequence[Any]
    answer: asyncio.Future[Any]


class Questions:
    """Combines the questions of one turn of the event loop: statements that select one value, without side effects.

    If the combined statement fails, each question is asked alone. `fetch_row` and `fetch_value` run a statement.
    """

    def __init__(self, fetch_row: Callable[..., Awaitable[Any]], fetch_value: Callable[..., Awaitable[Any]]) -> None:
        self._fetch_row = fetch_row
        self._fetch_value = fetch_value
        self._asked: list[_Question] = []
        self._answering: set[asyncio.Task[None]] = set()

    async def ask(self, statement: str, *arguments: Any) -> Any:
        """Return the value that a statement selects."""
        loop = asyncio.get_running_loop()
        question = _Question(statement, arguments, loop.create_future())
        if not self._asked:
            loop.call_soon(self._start)
        self._asked.append(question)
        return await question.answer

    def _start(self) -> None:
        asked = self._asked
        self._asked = []
        task = asyncio.get_running_loop().create_task(self._answer(asked))
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    async def _answer(self, asked: Sequence[_Question]) -> None:
        if len(asked) == 1:
            await _answer_one(asked[0], partial(self._fetch_value, asked[0].statement, *asked[0].arguments))
            return
        shapes = tuple((each.statement, len(each.arguments)) for each in asked)
        try:
            row = await self._fetch_row(_combine(shapes), *(value for each in asked for value in each.arguments))
        except Exception:
            await asyncio.gather(*(self._answer([each]) for each in asked))
            return
        for each, value in zip(asked, row, strict=True):
            if not each.answer.done():
                each.answer.set_result(value)


async def _answer_one(question: _Question, fetch: Callable[[], Awaitable[Any]]) -> None:
    try:
        value = await fetch()
    except Exception as cause:
        if not question.answer.done():
            question.answer.set_exception(cause)
        return
    if not question.answer.done():
        question.answer.set_result(value)


@cache
def _combine(shapes: tuple[tuple[str, int], ...]) -> str:
    """Return the statement that selects the value of each statement, given with its number of parameters."""
    values: list[str] = []
    before = 0
    for statement, count in shapes:
        values.append(f"({_PARAMETER.sub(lambda found, by=before: f'${int(found[1]) + by}', statement)})")
        before += count
    return f"SELECT {', '.join(values)}"
