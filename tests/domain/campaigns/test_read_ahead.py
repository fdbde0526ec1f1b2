"""A batch is read while the one before it is written; what happens between its reading and its writing is obeyed."""

from collections.abc import Callable
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.campaigns import batches, service
from app.domain.campaigns.runner import CampaignRunner
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages.models import Purpose
from app.domain.messages.requests import Send
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.campaigns.conftest import Accept, Act, Make, Run
from tests.factories.accounts import ACCOUNTS
from tests.factories.billing import audit
from tests.factories.campaigns import add_people, audit_counts, reasons, states
from tests.factories.conversations import open_conversations
from tests.factories.messages import OUTBOUND

pytestmark = pytest.mark.anyio

FOURTH = "+12022000003"
"""A phone of the second batch."""


@pytest.fixture
async def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the numbers of recipients of the batches that are read under the lock of the account."""
    found: list[int] = []
    read = batches.read

    async def counted(*given: Any) -> batches.Batch:
        batch = await read(*given)
        if len(given) == 5:
            found.append(len(batch.texts))
        return batch

    monkeypatch.setattr(batches, "read", counted)
    return found


@pytest.fixture(autouse=True)
async def begun(pool: Pool, send: Make, accept: Accept, reads: list[int], monkeypatch: pytest.MonkeyPatch) -> int:
    """Write the first of three batches, and read the second; return the id of the campaign."""
    for name, value in (("BATCH", 2), ("PATIENCE", 60.0), ("FRESH_SECONDS", 600.0)):
        monkeypatch.setattr(batches, name, value)
    await ACCOUNTS.change(pool, weekly_cap=1)
    await add_people(pool, 6)
    await open_conversations(pool)
    campaign = await send()
    await accept(2)
    assert await states(pool) == {"claimed": 2, "queued": 4}
    return campaign.id


async def test_the_batches_after_the_first_are_read_ahead(pool: Pool, accept: Accept, reads: list[int]) -> None:
    await accept(2)

    assert await states(pool) == {"claimed": 6}
    assert reads == [2]
    assert len(set(await OUTBOUND.read(pool, "to_number"))) == 6
    await audit(pool)
    await audit_counts(pool)


async def test_an_opt_out_after_a_batch_was_read_is_obeyed(pool: Pool, run: Run, text: Callable[..., Any]) -> None:
    await text("STOP", FOURTH)
    await run()

    assert await states(pool) == {"delivered": 5, "suppressed": 1}
    assert await reasons(pool) == {FOURTH: "opted_out"}
    assert await OUTBOUND.where(purpose="promotional", to_number=FOURTH).count(pool) == 0
    await audit(pool)
    await audit_counts(pool)


async def test_a_text_that_another_sends_after_a_batch_was_read_counts_toward_the_cap(
    services: Services, pool: Pool, account: Opened, accept: Accept, reads: list[int]
) -> None:
    other = Send(FOURTH, "Sale", consent_attested=True, purpose=Purpose.promotional)
    await services.acceptor.accept(Actor(account.account_id, frozenset(), "key:7"), other)
    await accept(2)

    assert await states(pool) == {"claimed": 5, "suppressed": 1}
    assert await reasons(pool) == {FOURTH: "frequency_cap"}
    assert await OUTBOUND.where(to_number=FOURTH).read(pool, "actor") == ["key:7"]
    assert reads == [2, 2]
    await audit(pool)
    await audit_counts(pool)


async def test_a_batch_that_was_read_before_a_pause_is_written_after_it_at_most_once(
    pool: Pool, accept: Accept, act: Act, begun: int
) -> None:
    async with act() as unit:
        await service.pause(unit, begun)
    await accept(2)
    paused = await states(pool)
    async with act() as unit:
        await service.resume(unit, begun)
    await accept(3)

    assert paused == {"claimed": 2, "queued": 4}
    assert await states(pool) == {"claimed": 6}
    assert await OUTBOUND.count(pool) == 6
    await audit(pool)
    await audit_counts(pool)


class Killed(BaseException):
    """The worker dies before its commit."""


async def test_a_batch_after_one_that_was_rolled_back_is_read_again(
    pool: Pool, accept: Accept, runner: CampaignRunner, reads: list[int]
) -> None:
    with pytest.raises(Killed):
        await kill(runner)
    await accept(1)
    texted = await OUTBOUND.read(pool, "to_number")
    await accept(1)

    assert texted == [f"+1202200000{number}" for number in range(4)]
    assert reads == [2, 2]
    assert await states(pool) == {"claimed": 6}
    assert await OUTBOUND.read(pool, "to_number") == [f"+1202200000{number}" for number in range(6)]
    await audit(pool)
    await audit_counts(pool)


async def kill(runner: CampaignRunner) -> None:
    """Have the worker die at the end of the transaction of its next step."""
    async with runner._due() as (connection, campaign):
        assert campaign
        await runner._step(connection, campaign)
        raise Killed
