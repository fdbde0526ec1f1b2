"""Waits with a timeout, whose errors name the condition."""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

T = TypeVar("T")

PATIENCE_SECONDS = 30.0
"""The timeout of expected events; busy machines are slow."""

EVERY_SECONDS = 0.01


async def within(what: str, awaitable: Awaitable[T], seconds: float = PATIENCE_SECONDS) -> T:
    """Await a result and return it; fail after the timeout, with the name `what`."""
    scope = asyncio.timeout(seconds)
    try:
        async with scope:
            return await awaitable
    except TimeoutError as error:
        if scope.expired():
            raise AssertionError(_late(what, seconds)) from error
        raise


async def until(condition: Callable[[], Any], seconds: float = PATIENCE_SECONDS, every: float = EVERY_SECONDS) -> Any:
    """Evaluate a condition, sync or async, until it is true; return its value."""
    deadline = time.monotonic() + seconds
    while not (answer := await _value(condition())):
        assert time.monotonic() < deadline, _late(_source(condition), seconds)
        await asyncio.sleep(every)
    return answer


def block_until(condition: Callable[[], T], seconds: float = PATIENCE_SECONDS, every: float = EVERY_SECONDS) -> T:
    """Evaluate a condition until it is true, blocking the thread; return its value."""
    deadline = time.monotonic() + seconds
    while not (answer := condition()):
        assert time.monotonic() < deadline, _late(_source(condition), seconds)
        time.sleep(every)
    return answer


async def never() -> None:
    """Wait for cancellation, like a peer that does not answer."""
    await asyncio.sleep(3600)


async def _value(answer: Any) -> Any:
    return await answer if inspect.isawaitable(answer) else answer


def _source(condition: Callable[[], Any]) -> str:
    """Return the source lines of a condition."""
    try:
        return " ".join(inspect.getsource(condition).split())
    except (OSError, TypeError):
        return repr(condition)


def _late(what: str, seconds: float) -> str:
    return f"Waited {seconds:.0f} s for {what}"
