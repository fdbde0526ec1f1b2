"""Units of work of several accounts, their recorded events, and a clock that tests set."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from app.domain.accounts.scopes import ALL
from app.domain.kernel.clock import Clock
from app.domain.kernel.unit_of_work import Actor, UnitOfWork
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.conftest import unit_of
from tests.factories.events import EVENTS

UnitFor = Callable[[Opened], AbstractAsyncContextManager[UnitOfWork]]
"""Opens a unit of work of an account, committed at the end of its block."""

Act = Callable[..., Awaitable[Any]]
"""Runs a verb with its arguments in a unit of work; returns its result."""

Recorded = Callable[[], Awaitable[list[tuple[str, dict[str, Any]]]]]
"""Returns the names and payloads of all events that were committed, in order."""

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@dataclass
class SetClock(Clock):
    """A clock that returns the time to which it was set."""

    at: datetime = NOON

    def now(self) -> datetime:
        return self.at


@pytest.fixture
def unit_for(services: Services) -> UnitFor:
    """Provide a function that opens units of work."""
    return lambda account: unit_of(services, Actor(account.account_id, frozenset(), "test"))


@pytest.fixture
def perform(unit_for: UnitFor, account: Opened) -> Act:
    """Provide a function that runs a verb in a unit of the account's, with every scope."""

    async def run(verb: Callable[..., Awaitable[Any]], *arguments: Any, **named: Any) -> Any:
        async with unit_for(account) as unit:
            unit.actor = replace(unit.actor, scopes=ALL)
            return await verb(unit, *arguments, **named)

    return run


@pytest.fixture
def recorded(services: Services) -> Recorded:
    """Provide a function that reads the recorded events."""

    async def read() -> list[tuple[str, dict[str, Any]]]:
        rows = await EVENTS.read(services, "name", "payload")
        return [(row["name"], row["payload"]) for row in rows]

    return read
