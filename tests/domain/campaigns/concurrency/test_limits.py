"""Batches side by side give way to others, and leave nothing half done."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import asyncpg
import pytest

from app.db.engine import Pool, connect
from app.domain.campaigns import enqueue, service
from app.domain.campaigns.runner import CampaignRunner
from app.domain.carriers import queries as carriers
from app.domain.erasure import service as erasure
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages import connections
from app.domain.messages.models import Purpose
from app.domain.messages.requests import Send
from app.domain.numbers import service as numbers
from app.domain.onboarding.service import Opened
from app.services import Services
from app.settings import Settings
from tests.domain.campaigns.concurrency.conftest import FIRST, Before, End
from tests.domain.campaigns.conftest import Accept, Act
from tests.factories.accounts import ACCOUNTS
from tests.factories.billing import audit
from tests.factories.campaigns import CAMPAIGNS, audit_counts
from tests.factories.carriers import add_connection
from tests.factories.contacts import CONTACTS
from tests.factories.messages import MESSAGES, OUTGOING
from tests.factories.traps import end_session, until_blocked
from tests.waiting import within

pytestmark = pytest.mark.anyio


async def test_a_batch_whose_connection_ends_is_accepted_once_and_the_other_is_kept(
    accept: Accept, before: Before, ending: End
) -> None:
    before(enqueue, "debit", end_session)
    with pytest.raises(asyncpg.PostgresConnectionError):
        await accept(1)
    await accept(4)

    await ending({"claimed": 6})


@pytest.mark.usefixtures("gives_way")
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


@pytest.mark.usefixtures("gives_way", "one_at_a_time")
@pytest.mark.parametrize("what", ["stop", "cancel", "erase", "send"])
async def test_a_slow_batch_gives_way_to_what_waits_for_its_rows(
    services: Services,
    pool: Pool,
    accept: Accept,
    act: Act,
    account: Opened,
    text: Callable[..., Any],
    *,
    campaign_id: int,
    monkeypatch: pytest.MonkeyPatch,
    what: str,
) -> None:
    contact_id = await CONTACTS.where(phone=FIRST).only(pool, "id")
    write, others = enqueue.write, list[asyncio.Task[None]]()

    async def change() -> None:
        if what == "stop":
            await text("STOP", FIRST)
        elif what == "send":
            code = Send(FIRST, "Your code is 1234", purpose=Purpose.transactional, consent_attested=True)
            await services.acceptor.accept(Actor(account.account_id, frozenset(), "key:7"), code)
        else:
            async with act() as unit:
                await (service.cancel(unit, campaign_id) if what == "cancel" else erasure.erase(unit, contact_id))

    async def written(*given: Any) -> None:
        monkeypatch.setattr(enqueue, "write", write)
        await write(*given)
        others.append(asyncio.create_task(change()))
        await until_blocked(pool)
        await asyncio.sleep(0.95)  # PostgreSQL looks for a deadlock after a second

    monkeypatch.setattr(enqueue, "write", written)
    await accept(1)
    await within("the other", others[0])

    await audit(pool)
    await audit_counts(pool)


@pytest.mark.usefixtures("one_at_a_time")
async def test_texts_of_a_number_that_was_moved_while_they_were_written_leave_through_its_new_connection(
    services: Services, pool: Pool, accept: Accept, act: Act, account: Opened, *, before: Before, ending: End
) -> None:
    await add_connection(pool, "second")
    services.connections.expire()

    async def move(*_: object) -> None:
        async with act() as unit:
            new = await carriers.get_any(unit, "second")
            await connections.move_number(unit, services.carriers, account.phone_number_id, new, is_vouched=True)

    before(enqueue, "lock_account", move)
    await accept(4)

    assert await OUTGOING.read(pool, "carrier") == ["second"] * 6
    await ending({"claimed": 6})


@pytest.mark.usefixtures("one_at_a_time")
async def test_texts_of_a_number_that_was_released_while_they_were_written_are_not_accepted(
    pool: Pool, accept: Accept, act: Act, account: Opened, before: Before, ending: End
) -> None:
    async def release(*_: object) -> None:
        async with act() as unit:
            await connections.release_number(unit, account.phone_number_id)

    before(enqueue, "lock_account", release)
    await accept(2)

    assert await ACCOUNTS.only(pool, "balance") == 1000
    assert await CAMPAIGNS.only(pool, "status", "reason") == ("paused", "no_sending_number")
    await ending({"queued": 6})


@pytest.mark.usefixtures("one_at_a_time")
async def test_no_text_is_accepted_from_a_number_that_was_paused_after_its_batch_was_read(
    accept: Accept, act: Act, account: Opened, before: Before, ending: End
) -> None:
    async def pause(*_: object) -> None:
        async with act() as unit:
            await numbers.set_paused(unit, account.phone_number_id, paused=True)

    before(enqueue, "write", pause)
    await accept(2)

    await ending({"queued": 6})


async def test_a_process_with_the_fewest_connections_accepts_one_batch_at_a_time(
    settings: Settings, pool: Pool, runner: CampaignRunner, ending: End
) -> None:
    database = await connect(settings.database_url, 2)
    await within("the step", asyncio.create_task(replace(runner, database=database).run()))
    await database.close()

    await ending({"claimed": 2, "queued": 4})


async def test_the_handoff_is_notified_of_the_texts_of_one_at_a_time_when_the_other_fails(
    runner: CampaignRunner, ending: End, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, notified, begun = enqueue.write, list[str](), list[object]()

    async def written(*given: Any) -> None:
        begun.append(given)
        if len(begun) == 1:
            raise KeyError("bug")
        await write(*given)

    monkeypatch.setattr(enqueue, "write", written)
    with pytest.raises(KeyError):
        await replace(runner, notify=notified.append).run()

    assert notified == ["messages", "events"]
    await ending({"claimed": 2, "queued": 4})
