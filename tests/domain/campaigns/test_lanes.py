"""Batches are accepted side by side; what happens between the reading of one and its commit is obeyed."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg
import pytest

from app.db.engine import Pool
from app.domain.billing import service as billing
from app.domain.campaigns import batches, enqueue, lanes, service
from app.domain.campaigns.runner import CampaignRunner
from app.domain.erasure import service as erasure
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages.models import Purpose
from app.domain.messages.requests import Send
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.campaigns.conftest import Accept, Act, Make, Run
from tests.factories.accounts import ACCOUNTS, USERS, add_user
from tests.factories.billing import LEDGER_ENTRIES, audit
from tests.factories.campaigns import CAMPAIGNS, add_people, audit_counts, reasons, states
from tests.factories.contacts import CONTACTS
from tests.factories.conversations import open_conversations
from tests.factories.messages import MESSAGES, OUTBOUND
from tests.factories.tables import ago
from tests.factories.traps import end_session, until_blocked
from tests.waiting import within

pytestmark = pytest.mark.anyio

FIRST = "+12022000000"
"""A phone of the first batch."""

Before = Callable[[Any, str, Callable[..., Awaitable[object]]], None]


@pytest.fixture(autouse=True)
async def campaign_id(pool: Pool, send: Make, accept: Accept, monkeypatch: pytest.MonkeyPatch) -> int:
    """Send a campaign of three batches, write its recipients, and return its id."""
    monkeypatch.setattr(batches, "BATCH", 2)
    monkeypatch.setattr(lanes, "SECONDS", 600.0)
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
def one_lane(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let batches be accepted one after the other."""
    monkeypatch.setattr(lanes, "LANES", 1)


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


End = Callable[[dict[str, int]], Awaitable[None]]


async def test_a_step_writes_two_batches_at_the_same_time(
    pool: Pool, accept: Accept, ending: End, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, both, begun = enqueue.write, asyncio.Event(), list[object]()

    async def written(*given: Any) -> None:
        begun.append(given)
        if len(begun) == lanes.LANES:
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


@pytest.mark.usefixtures("one_lane")
async def test_an_opt_out_after_a_batch_was_read_is_obeyed(
    pool: Pool, run: Run, text: Callable[..., Any], before: Before, ending: End
) -> None:
    before(enqueue, "write", lambda *_: text("STOP", FIRST))
    await run()

    assert await reasons(pool) == {FIRST: "opted_out"}
    assert await OUTBOUND.where(purpose="promotional", to_number=FIRST).count(pool) == 0
    await ending({"delivered": 5, "suppressed": 1})


@pytest.mark.usefixtures("one_lane")
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


@pytest.mark.usefixtures("one_lane")
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


@pytest.mark.usefixtures("one_lane")
async def test_batches_that_were_read_before_a_pause_are_not_written_after_it(
    accept: Accept, act: Act, campaign_id: int, before: Before, ending: End
) -> None:
    async def pause(*_: object) -> None:
        async with act() as unit:
            await service.pause(unit, campaign_id)

    before(lanes.Lanes, "_accept", pause)
    await accept(1)
    await ending({"queued": 6})
    async with act() as unit:
        await service.resume(unit, campaign_id)
    await accept(4)
    await ending({"claimed": 6})


@pytest.mark.usefixtures("one_lane")
async def test_a_pause_waits_for_the_batches_that_are_written(
    pool: Pool, accept: Accept, act: Act, campaign_id: int, before: Before, ending: End
) -> None:
    pauses: list[asyncio.Task[None]] = []

    async def pause() -> None:
        async with act() as unit:
            await service.pause(unit, campaign_id)

    async def begin(*_: object) -> None:
        pauses.append(asyncio.create_task(pause()))
        await until_blocked(pool)

    before(enqueue, "debit", begin)
    await accept(1)
    await within("the pause", pauses[0])
    await accept(2)

    await ending({"claimed": 2, "queued": 4})


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


async def test_a_batch_whose_connection_ends_is_accepted_once_and_the_other_is_kept(
    accept: Accept, before: Before, ending: End
) -> None:
    before(enqueue, "debit", end_session)
    with pytest.raises(asyncpg.PostgresConnectionError):
        await accept(1)
    await accept(4)

    await ending({"claimed": 6})


async def test_a_contact_that_is_erased_while_its_text_is_written_gets_none(
    pool: Pool, accept: Accept, act: Act, before: Before, ending: End
) -> None:
    erased = await CONTACTS.where(phone=FIRST).only(pool, "id")
    erasures: list[asyncio.Task[None]] = []

    async def erase() -> None:
        async with act() as unit:
            await erasure.erase(unit, erased)

    async def begin(*_: object) -> None:
        erasures.append(asyncio.create_task(erase()))
        await until_blocked(pool)

    before(enqueue, "lock_account", begin)
    await accept(1)
    await within("the erasure", erasures[0])
    await accept(4)

    assert await MESSAGES.where(to_number=FIRST).count(pool) == 0
    await ending({"claimed": 5, "suppressed": 1})
