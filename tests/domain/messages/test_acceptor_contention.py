"""Accepting sends while others hold what they need: only those wait that must."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from sqlalchemy import select

from app.db.engine import Pool
from app.domain.accounts.models import Account
from app.domain.kernel import idempotency
from app.domain.kernel.errors import Unavailable
from app.domain.kernel.idempotency import IdempotencyKeyReused
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages.requests import Send
from app.domain.messages.sending import acceptance
from app.services import Services
from tests.factories.accounts import ACCOUNTS
from tests.factories.billing import audit, balance_of, entries
from tests.factories.messages import states
from tests.factories.traps import locked, until_blocked

TO = "+12025550143"


def hello(**wishes: Any) -> Send:
    return Send(TO, "Hello", consent_attested=True, **wishes)


@asynccontextmanager
async def held(pool: Pool, account_id: int) -> AsyncGenerator[None]:
    """Hold an account's row, as an erasure does."""
    async with locked(pool, ACCOUNTS.where(id=account_id), "FOR NO KEY UPDATE"):
        yield


async def test_sends_of_an_account_that_is_held_wait_and_those_of_others_do_not(
    services: Services, actor: Actor, new_account: Callable[..., Any], pool: Pool
) -> None:
    other = Actor((await new_account()).account_id, frozenset())

    async with held(pool, actor.account_id):
        waiting = [asyncio.create_task(services.acceptor.accept(actor, hello())) for _ in range(3)]
        served = [await services.acceptor.accept(other, hello()) for _ in range(3)]
        waiting += [asyncio.create_task(services.acceptor.accept(actor, hello())) for _ in range(3)]
        served += [await services.acceptor.accept(other, hello()) for _ in range(3)]
        were_done = [each.done() for each in waiting]
    accepted = await asyncio.gather(*waiting)

    assert [each.credits_remaining for each in served] == [999, 998, 997, 996, 995, 994]
    assert were_done == [False] * 6
    assert sorted(each.credits_remaining for each in accepted) == [994, 995, 996, 997, 998, 999]
    assert actor.account_id not in services.acceptor._queues
    await audit(pool)


async def test_sends_that_wait_leave_connections_to_those_that_do_not(
    services: Services, actor: Actor, new_account: Callable[..., Any], pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acceptance, "LONG_PATIENCE", "60s")
    others = [(await new_account()).account_id for _ in range(services.settings.database_pool)]

    async with services.database.sessions.begin() as session:
        await session.execute(select(Account.id).where(Account.id.in_(others)).with_for_update(key_share=True))
        waiting = [asyncio.create_task(services.acceptor.accept(Actor(id, frozenset()), hello())) for id in others]
        await until_blocked(pool, len(others) // 2)
        async with asyncio.timeout(30):
            accepted = await services.acceptor.accept(actor, hello())
        were_done = [each.done() for each in waiting]
    await asyncio.gather(*waiting)

    assert (accepted.credits_remaining, were_done) == (999, [False] * len(others))
    await audit(pool)


async def test_a_send_whose_account_stays_held_is_refused_and_may_be_sent_again(
    services: Services, actor: Actor, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acceptance, "LONG_PATIENCE", "50ms")

    async with held(pool, actor.account_id):
        with pytest.raises(Unavailable):
            await services.acceptor.accept(actor, hello(idempotency_key="order-1"))
    accepted = await services.acceptor.accept(actor, hello(idempotency_key="order-1"))

    assert (accepted.credits_remaining, accepted.replayed) == (999, False)
    assert await entries(pool) == [("debit", -1, 999)]


async def test_closing_waits_for_sends_whose_account_is_held(services: Services, actor: Actor, pool: Pool) -> None:
    async with held(pool, actor.account_id):
        waiting = asyncio.create_task(services.acceptor.accept(actor, hello()))
        await until_blocked(pool)
        closing = asyncio.create_task(services.acceptor.close())
        await asyncio.sleep(0)
    await closing

    assert (await waiting).credits_remaining == 999


async def test_a_key_that_another_request_is_using_holds_up_the_sends_of_its_account_alone(
    services: Services, actor: Actor, act: Callable[..., Any], new_account: Callable[..., Any], pool: Pool
) -> None:
    other = Actor((await new_account()).account_id, frozenset())

    async def paint() -> dict[str, Any]:
        return {"painted": 1}

    async with act() as unit:
        await idempotency.once(unit, "order-1", idempotency.fingerprint("paint"), paint)
        waiting = asyncio.create_task(services.acceptor.accept(actor, hello(idempotency_key="order-1")))
        beside = await asyncio.gather(*(services.acceptor.accept(other, hello()) for _ in range(3)))
        was_done = waiting.done()

    with pytest.raises(IdempotencyKeyReused):
        await waiting
    assert ([each.credits_remaining for each in beside], was_done) == ([999, 998, 997], False)
    assert await balance_of(pool, actor.account_id) == 1000
    assert len(await states(pool)) == 3
    await audit(pool)


async def test_a_key_whose_request_is_given_up_is_free_for_the_send_that_waited(
    services: Services, actor: Actor, act: Callable[..., Any], pool: Pool
) -> None:
    async def paint() -> dict[str, Any]:
        return {"painted": 1}

    async with act() as unit:
        await idempotency.once(unit, "order-1", idempotency.fingerprint("paint"), paint)
        waiting = asyncio.create_task(services.acceptor.accept(actor, hello(idempotency_key="order-1")))
        await until_blocked(pool)
        await unit.close(commit=False)

    assert (await waiting).replayed is False
    assert await entries(pool) == [("debit", -1, 999)]
