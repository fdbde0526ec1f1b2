"""Batches are accepted side by side; what happens between the reading of one and its commit is obeyed."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.billing import service as billing
from app.domain.campaigns import concurrency, enqueue, service
from app.domain.campaigns.concurrency import StepBatches
from app.domain.campaigns.runner import CampaignRunner
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages.models import Purpose
from app.domain.messages.requests import Send
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.campaigns.concurrency.conftest import FIRST, Before, End
from tests.domain.campaigns.conftest import Accept, Act, Make, Run
from tests.factories.accounts import ACCOUNTS, USERS, add_user
from tests.factories.billing import LEDGER_ENTRIES
from tests.factories.campaigns import CAMPAIGNS, reasons
from tests.factories.messages import MESSAGES, OUTBOUND
from tests.factories.tables import ago
from tests.factories.traps import until_blocked
from tests.waiting import within

pytestmark = pytest.mark.anyio


async def test_a_step_writes_two_batches_at_the_same_time(
    pool: Pool, accept: Accept, ending: End, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, both, begun = enqueue.write, asyncio.Event(), list[object]()

    async def written(*given: Any) -> None:
        begun.append(given)
        if len(begun) == concurrency.AT_ONCE:
            both.set()
        await within("the other batch", both.wait())
        await write(*given)

    monkeypatch.setattr(enqueue, "write", written)
    await accept(1)

    assert sorted(await LEDGER_ENTRIES.where(type="debit").read(pool, "balance_after")) == list(range(994, 1000))
    assert await ACCOUNTS.only(pool, "balance") == 994
    await ending({"claimed": 6})


async def test_only_as_many_batches_are_accepted_as_there_is_room_for(
    accept: Accept, ending: End, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(enqueue, "WINDOW", 5)
    await accept(1)
    await ending({"claimed": 4, "queued": 2})
    await accept(1)
    await ending({"claimed": 5, "queued": 1})


@pytest.mark.usefixtures("one_at_a_time")
async def test_an_opt_out_after_a_batch_was_read_is_obeyed(
    pool: Pool, run: Run, text: Callable[..., Any], before: Before, ending: End
) -> None:
    before(enqueue, "write", lambda *_: text("STOP", FIRST))
    await run()

    assert await reasons(pool) == {FIRST: "opted_out"}
    assert await OUTBOUND.where(purpose="promotional", to_number=FIRST).count(pool) == 0
    await ending({"delivered": 5, "suppressed": 1})


@pytest.mark.usefixtures("one_at_a_time")
async def test_a_text_that_another_sends_after_a_batch_was_read_counts_toward_the_cap(
    services: Services, pool: Pool, account: Opened, accept: Accept, before: Before, ending: End
) -> None:
    other = Send(FIRST, "Sale", consent_attested=True, purpose=Purpose.promotional)
    actor = Actor(account.account_id, frozenset(), "key:7")
    before(enqueue, "write", lambda *_: services.acceptor.accept(actor, other))
    await accept(4)

    assert await reasons(pool) == {FIRST: "frequency_cap"}
    assert await OUTBOUND.where(to_number=FIRST).read(pool, "actor") == ["key:7"]
    await ending({"claimed": 5, "suppressed": 1})


@pytest.mark.usefixtures("one_at_a_time")
async def test_texts_of_two_campaigns_at_the_same_time_count_toward_the_cap(
    pool: Pool,
    send: Make,
    accept: Accept,
    act: Act,
    campaign_id: int,
    *,
    runner: CampaignRunner,
    before: Before,
    ending: End,
) -> None:
    async with act() as unit:
        await service.pause(unit, campaign_id)
    await send()
    await accept(1)
    async with act() as unit:
        await service.resume(unit, campaign_id)
    before(enqueue, "write", lambda *_: runner.run())
    await accept(6)

    assert await reasons(pool) == dict.fromkeys((f"+1202200000{number}" for number in range(6)), "frequency_cap")
    await ending({"claimed": 6, "suppressed": 6})


async def test_another_text_of_the_account_does_not_wait_for_a_batch_that_is_written(
    services: Services, account: Opened, accept: Accept, before: Before, ending: End
) -> None:
    other = Send("+12025550143", "Your code is 1234", purpose=Purpose.transactional, consent_attested=True)
    actor = Actor(account.account_id, frozenset(), "key:7")
    before(enqueue, "lock_account", lambda *_: services.acceptor.accept(actor, other))

    await within("the batches", asyncio.create_task(accept(4)))

    await ending({"claimed": 6})


@pytest.mark.usefixtures("one_at_a_time")
async def test_batches_that_were_read_before_a_pause_are_not_written_after_it(
    accept: Accept, act: Act, campaign_id: int, before: Before, ending: End
) -> None:
    async def pause(*_: object) -> None:
        async with act() as unit:
            await service.pause(unit, campaign_id)

    before(concurrency.ConcurrentAcceptance, "_accept", pause)
    await accept(1)
    await ending({"queued": 6})
    async with act() as unit:
        await service.resume(unit, campaign_id)
    await accept(4)
    await ending({"claimed": 6})


@pytest.mark.usefixtures("one_at_a_time")
async def test_a_pause_waits_for_the_batches_that_are_written(
    pool: Pool,
    accept: Accept,
    act: Act,
    *,
    campaign_id: int,
    before: Before,
    ending: End,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pauses: list[asyncio.Task[None]] = []
    read = StepBatches.read

    async def read_no_more(*_: object) -> None:
        """Read no batch that may be written before the pause goes on."""

    async def pause() -> None:
        async with act() as unit:
            await service.pause(unit, campaign_id)

    async def begin(*_: object) -> None:
        monkeypatch.setattr(StepBatches, "read", read_no_more)
        pauses.append(asyncio.create_task(pause()))
        await until_blocked(pool)

    before(enqueue, "debit", begin)
    await accept(1)
    await within("the pause", pauses[0])
    monkeypatch.setattr(StepBatches, "read", read)
    await accept(2)

    await ending({"claimed": 2, "queued": 4})


@pytest.mark.usefixtures("one_at_a_time")
async def test_a_batch_whose_sender_ended_while_it_was_written_is_not_accepted(
    services: Services, pool: Pool, account: Opened, accept: Accept, before: Before, ending: End
) -> None:
    ann = await add_user(services, account.account_id, "ann@example.com")
    await CAMPAIGNS.change(pool, actor=f"user:{ann}")
    before(enqueue, "lock_account", lambda *_: USERS.where(id=ann).change(pool, removed_at=ago()))
    await accept(2)

    assert await CAMPAIGNS.only(pool, "status", "reason") == ("paused", "credential_ended")
    assert await MESSAGES.count(pool) == 0
    await ending({"queued": 6})


@pytest.mark.usefixtures("one_at_a_time")
async def test_a_batch_of_an_account_that_was_suspended_while_it_was_written_is_not_accepted(
    pool: Pool, accept: Accept, before: Before, ending: End
) -> None:
    before(enqueue, "lock_account", lambda *_: ACCOUNTS.change(pool, status="suspended"))
    await accept(2)

    assert await CAMPAIGNS.only(pool, "status", "reason") == ("paused", "account")
    await ending({"queued": 6})


async def test_batches_side_by_side_take_no_more_credits_than_there_are(
    pool: Pool, accept: Accept, act: Act, ending: End
) -> None:
    async with act() as unit:
        await billing.grant(unit, -997, "taken")
    await accept(4)

    assert await ACCOUNTS.only(pool, "balance") == 0
    assert await CAMPAIGNS.only(pool, "status", "reason") == ("paused", "insufficient_credits")
    await ending({"claimed": 3, "queued": 3})
