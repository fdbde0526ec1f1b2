"""A campaign of three batches of two, and functions that interfere with their acceptance."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.campaigns import batches, concurrency
from tests.domain.campaigns.conftest import Accept, Make
from tests.factories.accounts import ACCOUNTS
from tests.factories.billing import audit
from tests.factories.campaigns import add_people, audit_counts, states
from tests.factories.conversations import open_conversations
from tests.factories.messages import OUTBOUND

FIRST = "+12022000000"
"""A phone of the first batch."""

LIMITS = {name: getattr(concurrency, name) for name in ("MOST_SECONDS", "PATIENCE", "SETTINGS")}
Before = Callable[[Any, str, Callable[..., Awaitable[object]]], None]
End = Callable[[dict[str, int]], Awaitable[None]]


@pytest.fixture(autouse=True)
async def campaign_id(pool: Pool, send: Make, accept: Accept, monkeypatch: pytest.MonkeyPatch) -> int:
    """Send a campaign of three batches, write its recipients, and return its id."""
    monkeypatch.setattr(batches, "BATCH", 2)
    for name in ("SECONDS", "MOST_SECONDS", "POOL_SECONDS"):
        monkeypatch.setattr(concurrency, name, 600.0)
    monkeypatch.setattr(concurrency, "PATIENCE", "20s")
    monkeypatch.setattr(concurrency, "SETTINGS", [])
    await ACCOUNTS.change(pool, weekly_cap=1)
    await add_people(pool, 6)
    await open_conversations(pool)
    campaign = await send()
    await accept(1)
    return campaign.id


@pytest.fixture
def before(monkeypatch: pytest.MonkeyPatch) -> Before:
    """Provide a function that lets something happen once, before the next call of a function."""

    def before(module: Any, name: str, act: Callable[..., Awaitable[object]]) -> None:
        call = getattr(module, name)

        async def called(*given: Any) -> Any:
            monkeypatch.setattr(module, name, call)
            await act(*given)
            return await call(*given)

        monkeypatch.setattr(module, name, called)

    return before


@pytest.fixture
def gives_way(campaign_id: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let batches wait only as long as in production."""
    for name, value in LIMITS.items():
        monkeypatch.setattr(concurrency, name, value)


@pytest.fixture
def one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let batches be accepted one after the other."""
    monkeypatch.setattr(concurrency, "AT_ONCE", 1)


@pytest.fixture
def ending(pool: Pool) -> Callable[[dict[str, int]], Awaitable[None]]:
    """Provide a function that checks the states, and that each text was accepted and debited once."""

    async def ending(expected: dict[str, int]) -> None:
        texted = await OUTBOUND.where(purpose="promotional").read(pool, "to_number")
        assert await states(pool) == expected
        assert len(texted) == len(set(texted))
        await audit(pool)
        await audit_counts(pool)

    return ending
