"""Sends with an idempotency key."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.consent.errors import ContactOptedOut
from app.domain.kernel.idempotency import IdempotencyKeyReused, OwnKey
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages.acceptor import SendAcceptor
from app.domain.messages.requests import Acceptance
from app.services import Services
from tests.domain.messages.sends import hello, verdicts
from tests.factories.billing import audit, entries
from tests.factories.messages import states


async def test_an_internal_key_is_answered_even_if_the_text_has_changed(send: Callable[..., Any], pool: Pool) -> None:
    first = await send(body="Hi Ann", idempotency_key=OwnKey("step", 1, 1))
    again = await send(body="Hi Anna", idempotency_key=OwnKey("step", 1, 1))

    assert (again.message_id, again.replayed) == (first.message_id, True)
    assert await entries(pool) == [("debit", -1, 999)]


async def test_a_send_with_a_key_that_was_answered_is_answered_again_by_any_process(
    services: Services, actor: Actor, pool: Pool
) -> None:
    first = await services.acceptor.accept(actor, hello(idempotency_key="order-1"))
    await services.acceptor.accept(actor, hello())
    restarted = SendAcceptor(pool, services.clock, services.notify, services.connections)

    again = await restarted.accept(actor, hello(idempotency_key="order-1"))

    assert again == Acceptance(first.message_id, 1, "pending", 999, replayed=True)
    assert len(await states(pool)) == 2
    await audit(pool)


async def test_a_repeated_key_is_answered_even_if_the_send_would_be_refused_now(
    services: Services, actor: Actor, text: Callable[..., Any]
) -> None:
    first = await services.acceptor.accept(actor, hello(idempotency_key="order-1"))
    await text("STOP")

    again = await services.acceptor.accept(actor, hello(idempotency_key="order-1"))

    assert (again.message_id, again.replayed) == (first.message_id, True)


async def test_one_key_many_times_at_once_in_two_processes_sends_once(
    services: Services, actor: Actor, pool: Pool
) -> None:
    acceptors = [services.acceptor, SendAcceptor(pool, services.clock, services.notify, services.connections)] * 4

    answers = await asyncio.gather(
        *(acceptor.accept(actor, hello(idempotency_key="order-1")) for acceptor in acceptors)
    )

    assert len({answer.message_id for answer in answers}) == 1
    assert sorted(answer.replayed for answer in answers) == [False] + [True] * 7
    assert await entries(pool) == [("debit", -1, 999)]


async def test_a_key_of_another_account_is_another_key(
    services: Services, actor: Actor, new_account: Callable[..., Any]
) -> None:
    other = await new_account()
    senders = [actor, Actor(other.account_id, frozenset())]

    answers = await asyncio.gather(
        *(services.acceptor.accept(sender, hello(idempotency_key="order-1")) for sender in senders)
    )

    assert [answer.replayed for answer in answers] == [False, False]
    assert answers[0].message_id != answers[1].message_id


async def test_a_key_used_for_another_request_is_refused(services: Services, actor: Actor, pool: Pool) -> None:
    answers = await verdicts(
        services.acceptor.accept(actor, hello(idempotency_key="order-1")),
        services.acceptor.accept(actor, hello(body="Goodbye", idempotency_key="order-1")),
    )

    assert [type(answer) for answer in answers] == [Acceptance, IdempotencyKeyReused]
    assert await entries(pool) == [("debit", -1, 999)]


async def test_a_refused_send_leaves_its_key_free(
    services: Services, actor: Actor, text: Callable[..., Any], pool: Pool
) -> None:
    await text("STOP")
    with pytest.raises(ContactOptedOut):
        await services.acceptor.accept(actor, hello(idempotency_key="order-1"))
    await text("START")

    accepted = await services.acceptor.accept(actor, hello(idempotency_key="order-1"))

    assert not accepted.replayed
    assert await entries(pool) == [("debit", -1, 999)]


async def test_the_key_of_a_text_that_is_sent_at_once_is_not_answered_by_another_operation(
    services: Services, actor: Actor, pool: Pool
) -> None:
    await services.acceptor.accept(actor, hello(idempotency_key="order-1"))

    with pytest.raises(IdempotencyKeyReused):
        await services.acceptor.accept(actor, hello(idempotency_key="order-1", claim=timedelta(seconds=30)))

    assert await entries(pool) == [("debit", -1, 999)]
