"""Timeouts of asynchronous tests and fixtures, so that a run always ends, and of searches of the service."""

import asyncio
import signal
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import contextmanager
from functools import wraps
from inspect import isasyncgenfunction, iscoroutinefunction
from pathlib import Path
from typing import Any

import pytest
from hypothesis.errors import StopTest

from app.domain.campaigns import enqueue
from app.domain.erasure import accounts as account_erasure
from app.domain.kernel import paging
from app.domain.messages.receipts import application
from app.domain.messages.sending import acceptance
from app.domain.segments import members, previews
from tests.waiting import PATIENCE_SECONDS

TESTS = str(Path(__file__).parent)
EARLIER_SECONDS = 5.0
"""The time before pytest-timeout at which a coroutine is cancelled, which keeps the event loop intact."""

REPORT_SECONDS = 30.0
LOCK_TIMEOUTS = (
    (acceptance, "LONG_PATIENCE"),
    (account_erasure, "PATIENCE"),
    (application, "LOCK_TIMEOUT"),
    (enqueue, "PATIENCE"),
)
LIMIT = pytest.StashKey[float]()


class ExampleEnded(Exception):
    """The example of a property can't go on. Hypothesis raises its own exception again in place of any other.

    That one is no `Exception`, and would end the task in which all tests of the process run.
    """


def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> None:
    """Store the timeout of a test; pytest-timeout sets its own timer."""
    item.stash[LIMIT] = settings.timeout - EARLIER_SECONDS


@pytest.fixture(scope="session", autouse=True)
def patient_searches() -> Iterator[None]:
    """Let statements end that would be given up on a busy machine for an estimate or for another statement."""
    quick = (paging, "QUICK_SECONDS"), (members, "COUNT_SECONDS"), (previews, "SECONDS")
    with pytest.MonkeyPatch.context() as patch:
        for module, name in quick:
            patch.setattr(module, name, PATIENCE_SECONDS)
        yield


@pytest.fixture(scope="session", autouse=True)
def patient_statements() -> Iterator[None]:
    """Let statements wait for the locks that tests hold, however late a test releases them on a busy machine."""
    with pytest.MonkeyPatch.context() as patch:
        for module, name in LOCK_TIMEOUTS:
            patch.setattr(module, name, f"{PATIENCE_SECONDS:.0f}s")
        yield


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, Any, Any]:
    """Set the timeout of a coroutine test, and of the coroutine of a property."""
    limit, plain = pyfuncitem.stash.get(LIMIT, None), pyfuncitem.obj
    property = getattr(plain, "hypothesis", None)
    if property and iscoroutinefunction(property.inner_test):
        property.inner_test = _bounded_test(property.inner_test, limit)
    elif iscoroutinefunction(plain):
        pyfuncitem.obj = _bounded_test(plain, limit)
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_fixture_setup(fixturedef: Any, request: pytest.FixtureRequest) -> Generator[None, Any, Any]:
    """Set the timeout of the set-up and the teardown of an asynchronous fixture."""
    limit, plain = request.node.stash.get(LIMIT, 60 - EARLIER_SECONDS), fixturedef.func
    if isasyncgenfunction(plain):
        fixturedef.func = _bounded_generator(plain, limit)
    elif iscoroutinefunction(plain):
        fixturedef.func = _bounded(plain, limit)
    try:
        return (yield)
    finally:
        fixturedef.func = plain


def _bounded(function: Callable[..., Any], limit: float | None) -> Callable[..., Any]:
    @wraps(function)
    async def run(*args: Any, **kwargs: Any) -> Any:
        with _explained(function, limit):
            async with asyncio.timeout(limit):
                return await function(*args, **kwargs)

    return run


def _bounded_generator(function: Callable[..., Any], limit: float | None) -> Callable[..., Any]:
    @wraps(function)
    async def run(*args: Any, **kwargs: Any) -> AsyncGenerator[Any]:
        generator = function(*args, **kwargs)
        with _explained(function, limit):
            async with asyncio.timeout(limit):
                value = await anext(generator)
        yield value
        with _explained(function, limit):
            async with asyncio.timeout(limit):
                await anext(generator, None)

    return run


def _bounded_test(function: Callable[..., Any], limit: float | None) -> Callable[..., Any]:
    """Set the timeout of a test; restore the event loop's settings, and end the tasks that the test left."""
    bounded = _bounded(function, limit)

    @wraps(function)
    async def run(*args: Any, **kwargs: Any) -> None:
        loop, before = asyncio.get_running_loop(), asyncio.all_tasks()
        handler = loop.get_exception_handler()
        try:
            await bounded(*args, **kwargs)
        except StopTest as stop:
            raise ExampleEnded from stop
        finally:
            loop.set_exception_handler(handler)
            left = [task for task in asyncio.all_tasks() - before if _is_of_a_test(task)]
            for task in left:
                task.cancel("The test that started this task has ended.")
            if left:
                await asyncio.wait(left, timeout=EARLIER_SECONDS)

    return run


def _is_of_a_test(task: asyncio.Task[Any]) -> bool:
    code = getattr(task.get_coro(), "cr_code", None)
    return code is not None and code.co_filename.startswith(TESTS)


@contextmanager
def _explained(function: Callable[..., Any], limit: float | None) -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        if signal.getitimer(signal.ITIMER_REAL)[0]:  # pytest-timeout must not interrupt this report
            signal.setitimer(signal.ITIMER_REAL, REPORT_SECONDS)
        error.add_note(f"{function.__name__} has a limit of {limit} s; the traceback shows where it waited.")
        raise
