"""Flushes of counts, of which some fail and some take long."""

import asyncio
from typing import Any

from app.domain.kernel.delayed_flush import DelayedFlush
from tests.waiting import until, within


async def test_a_flush_that_fails_is_reported_and_the_rest_is_flushed_at_the_close() -> None:
    reported: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context["exception"]))
    error = ValueError()
    failing = [error]
    flushed: list[str] = []

    async def flush() -> None:
        if failing:
            raise failing.pop()
        flushed.append("the rest")

    later = DelayedFlush(flush, 0)
    later.plan()
    await until(lambda: not failing)
    await later.close()

    assert reported == [error]
    assert flushed == ["the rest"]


async def test_the_close_waits_for_each_flush_that_runs() -> None:
    may_end = [asyncio.Event() for _ in range(3)]
    begun, ended = list[int](), list[int]()

    async def flush() -> None:
        number = len(begun)
        begun.append(number)
        await within("the leave to end", may_end[number].wait())
        ended.append(number)

    later = DelayedFlush(flush, 0)
    later.plan()
    await until(lambda: begun == [0])
    later.plan()
    await until(lambda: begun == [0, 1])
    may_end[1].set()
    may_end[2].set()
    asyncio.get_running_loop().call_later(0.05, may_end[0].set)
    await later.close()

    assert ended == [1, 0, 2]
