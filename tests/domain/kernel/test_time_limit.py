"""Many calls with one time limit."""

import asyncio
from typing import cast

import pytest

from app.domain.kernel.time_limit import TimeLimit
from tests.waiting import within

pytestmark = pytest.mark.anyio


async def test_a_call_in_time_returns_its_result() -> None:
    assert await TimeLimit(60).run(asyncio.sleep(0, "done")) == "done"


async def test_a_call_that_takes_too_long_is_canceled() -> None:
    stuck = asyncio.get_running_loop().create_future()

    with pytest.raises(TimeoutError):
        await TimeLimit(0.01).run(stuck)

    assert stuck.cancelled()


async def test_each_call_has_the_whole_time() -> None:
    limit, loop = TimeLimit(0.05), asyncio.get_running_loop()

    async def wait() -> float:
        begun = loop.time()
        with pytest.raises(TimeoutError):
            await limit.run(within("the limit", loop.create_future()))
        return loop.time() - begun

    first = asyncio.create_task(wait())
    await asyncio.sleep(0.03)
    second = asyncio.create_task(wait())

    assert min(await first, await second) >= 0.049
    assert min(await asyncio.gather(wait(), wait())) >= 0.049


async def test_the_cancellation_of_a_caller_is_no_timeout() -> None:
    calling = asyncio.create_task(TimeLimit(60).run(within("the test", asyncio.get_running_loop().create_future())))
    await asyncio.sleep(0)

    calling.cancel()

    with pytest.raises(asyncio.CancelledError):
        await calling


async def test_a_caller_whose_call_took_too_long_can_be_limited_again() -> None:
    limit = TimeLimit(0.01)
    for _ in range(2):
        with pytest.raises(TimeoutError):
            await limit.run(within("the limit", asyncio.get_running_loop().create_future()))

    assert _current().cancelling() == 0


async def test_a_caller_that_is_canceled_when_its_time_is_over_is_canceled() -> None:
    async def cancel_too() -> None:
        try:
            await within("the limit", asyncio.get_running_loop().create_future())
        finally:
            _current().cancel()

    calling = asyncio.create_task(TimeLimit(0.01).run(cancel_too()))

    with pytest.raises(asyncio.CancelledError):
        await calling


def _current() -> asyncio.Task[object]:
    return cast("asyncio.Task[object]", asyncio.current_task())
