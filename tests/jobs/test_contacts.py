"""Holds that nobody decided on."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from structlog.testing import capture_logs

from app.db.engine import Pool
from app.domain.carriers.carrier import InboundMessage
from app.domain.contacts import opt_outs, queries
from app.domain.contacts import service as contacts
from app.domain.conversations import review
from app.domain.kernel.unit_of_work import Actor, open_unit
from app.domain.onboarding.service import Opened
from app.jobs.job import Job
from app.jobs.sweeps import sweep
from app.services import Services
from tests.factories.clocks import Later
from tests.factories.contacts import CONSENTS, CONTACTS, SUPPRESSIONS
from tests.factories.conversations import CONVERSATIONS
from tests.factories.events import event_names
from tests.factories.traps import writes_refused

TO, OTHER = "+12025550143", "+12025550144"


def job(services: Services, hours: float) -> Job:
    of = services.database, Later(timedelta(hours=hours)), services.notify
    return sweep("holds", opt_outs.FIND_OVERDUE_HOLDS, review.expire, *of)


async def hold(services: Services, account: Opened, *phones: str) -> None:
    actor = Actor(account.account_id, frozenset())
    async with open_unit(services.database.sessions, actor, services.clock, services.notify) as unit:
        for phone in phones:
            await opt_outs.hold(unit, await contacts.find_or_create(unit, phone, "inbound_sms"))


async def holds(pool: Pool) -> list[tuple[str, bool, str]]:
    held = await CONTACTS.read(pool, "phone", "held_until", "status")
    return [(phone, until is not None, status) for phone, until, status in held]


async def test_an_undecided_hold_becomes_an_opt_out_after_24_hours(services: Services, account: Opened) -> None:
    pool = services.database.pool
    await hold(services, account, TO)

    late = job(services, 24.01)
    was_due, ran, still_due = await late.due(), await late.run(), await late.due()

    assert (was_due, ran, still_due) == (True, True, False)
    assert await holds(pool) == [(TO, False, "opted_out")]
    [suppression] = await SUPPRESSIONS.read(pool, "phone", "reason")
    [recorded] = await CONSENTS.read(pool, "phone", "kind", "method")
    assert tuple(suppression) == (TO, "review_expired")
    assert recorded == (TO, "revoked_other", "review_expired")
    assert await event_names(pool, "new_opt_out") == ["new_opt_out"]
    assert not await late.run()


async def test_a_hold_stands_for_24_hours(services: Services, account: Opened) -> None:
    await hold(services, account, TO)

    early = job(services, 23.99)

    assert (await early.due(), await early.run()) == (False, False)
    assert await holds(services.database.pool) == [(TO, True, "active")]


async def test_a_hold_that_was_decided_on_does_not_expire(services: Services, account: Opened) -> None:
    pool = services.database.pool
    await hold(services, account, TO, OTHER)
    actor = Actor(account.account_id, frozenset())
    async with open_unit(services.database.sessions, actor, services.clock, services.notify) as unit:
        for contact_id in await CONTACTS.where(phone=TO).read(pool, "id"):
            await opt_outs.release_hold(unit, contact_id, opted_out=False)

    await job(services, 25).run()

    assert await holds(pool) == [(TO, False, "active"), (OTHER, False, "opted_out")]


async def test_the_holds_of_all_accounts_expire_once_in_many_workers(
    services: Services, account: Opened, new_account: Callable[..., Any]
) -> None:
    pool = services.database.pool
    other = await new_account()
    await hold(services, account, TO, OTHER)
    await hold(services, other, TO)
    late = job(services, 25)

    await asyncio.gather(*(late.run() for _ in range(4)))

    assert [status for _, _, status in await holds(pool)] == ["opted_out"] * 3
    owners = await SUPPRESSIONS.read(pool, "account_id", "phone")
    assert sorted(owners) == sorted([(account.account_id, TO), (account.account_id, OTHER), (other.account_id, TO)])
    assert await CONSENTS.count(pool) == 3
    assert await event_names(pool, "new_opt_out") == ["new_opt_out"] * 3


async def test_a_hold_on_a_locked_contact_does_not_keep_the_worker_running(services: Services, account: Opened) -> None:
    await hold(services, account, TO)
    late, actor = job(services, 25), Actor(account.account_id, frozenset())

    async with open_unit(services.database.sessions, actor, services.clock, services.notify) as unit:
        await queries.find_by_phone(unit, TO, lock=True)

        assert (await late.due(), await late.run()) == (True, False)


async def test_an_expired_hold_clears_the_opt_out_flag_of_its_conversation(services: Services, account: Opened) -> None:
    text = InboundMessage("in-1", TO, account.phone_number, "STOP what time is the showing")
    await services.inbox.receive("sandbox", text)
    assert await CONVERSATIONS.only(services, "possible_opt_out") is True

    await job(services, 25).run()

    assert await CONVERSATIONS.only(services, "possible_opt_out") is False


async def test_an_account_whose_holds_cannot_be_ended_holds_up_no_other(
    services: Services, new_account: Callable[..., Any]
) -> None:
    pool = services.database.pool
    first, second = await new_account(), await new_account()
    for account in (first, second):
        await hold(services, account, TO)
    stuck = f"account_id <> {first.account_id} OR held_until IS NOT NULL"

    async with writes_refused(pool, "contacts", unless=stuck):
        with capture_logs() as logs:
            await job(services, 24.01).run()

    assert await holds(pool) == [(TO, True, "active"), (TO, False, "opted_out")]
    assert [(each["event"], each["account_id"]) for each in logs] == [("sweep_failed", first.account_id)]
