"""Texts whose callers wait for the carrier, from numbers with a pace."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages import pacing, synchronous
from app.domain.messages.acceptor import Send
from app.domain.messages.errors import NumberBusy
from app.domain.messages.handoff import Handoff
from app.domain.messages.models import Purpose
from app.domain.messages.synchronous import Taken
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.messages.handing import hand_over
from tests.factories.messages import MESSAGES, TOKEN_BUCKETS, add_backlog, states
from tests.factories.tables import ago


@pytest.fixture
def pace(act: Callable[[], Any], account: Opened) -> Callable[..., Any]:
    """Give a function that sets the pace of the account's number."""

    async def pace(parts_per_second: float | None) -> None:
        async with act() as unit:
            await pacing.set_pace(unit, account.phone_number_id, parts_per_second)

    return pace


@pytest.fixture
def send_now(services: Services, handoff: Handoff, actor: Actor) -> Callable[..., Any]:
    """Give a function that sends a text and waits for the carrier."""

    async def send_now(body: str = "Hello", **wishes: Any) -> Taken:
        wish = Send("+12025550143", body, consent_attested=True, **wishes)
        return await synchronous.send(services.acceptor, handoff, actor, wish)

    return send_now


async def test_a_caller_waits_for_the_pace_of_the_number(
    send_now: Callable[..., Any], pace: Callable[..., Any], pool: Pool
) -> None:
    await pace(2)
    begun = ago()

    await asyncio.gather(*(send_now() for _ in range(3)))

    assert await states(pool) == [("sent", None)] * 3
    assert max(await MESSAGES.read(pool, "sent_at")) - begun >= timedelta(seconds=0.9)


async def test_a_text_that_would_wait_longer_than_five_seconds_is_refused_before_its_debit(
    send_now: Callable[..., Any], pace: Callable[..., Any], services: Services, account: Opened, pool: Pool
) -> None:
    await pace(0.01)
    await send_now()

    with pytest.raises(NumberBusy) as refused:
        await send_now("later")

    assert 70 < int(str(refused.value.facts["seconds"])) <= 100
    assert await MESSAGES.read(pool, "body") == ["Hello"]


async def test_a_faster_pace_shortens_the_wait_after_earlier_texts(
    send_now: Callable[..., Any], pace: Callable[..., Any], pool: Pool
) -> None:
    await pace(0.01)
    await send_now("slow")

    await pace(0.02)
    with pytest.raises(NumberBusy) as refused:
        await send_now("later")
    await pace(None)
    await send_now("fast")

    assert 20 < int(str(refused.value.facts["seconds"])) <= 50
    assert sorted(await MESSAGES.read(pool, "body")) == ["fast", "slow"]


async def test_texts_that_wait_leave_once_the_pace_is_lifted(
    send: Callable[..., Any], send_now: Callable[..., Any], pace: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    await pace(0.01)
    await send_now()
    await send()

    await hand_over(handoff)
    before = await states(pool)
    await pace(None)
    await hand_over(handoff)

    assert (before, await states(pool)) == ([("sent", None), ("pending", None)], [("sent", None)] * 2)


async def test_texts_of_less_urgent_lanes_do_not_delay_a_caller(
    send: Callable[..., Any], send_now: Callable[..., Any], pace: Callable[..., Any], pool: Pool
) -> None:
    await pace(1)
    for _ in range(9):
        await send(body="promotion", purpose=Purpose.promotional)

    await send_now("code")

    assert await MESSAGES.where(body="code").read(pool, "status") == ["sent"]


async def test_texts_of_the_same_lane_that_wait_go_first(
    send: Callable[..., Any], send_now: Callable[..., Any], pace: Callable[..., Any]
) -> None:
    await pace(1)
    for _ in range(9):
        await send(body="code")

    with pytest.raises(NumberBusy) as refused:
        await send_now("another code")

    assert refused.value.facts == {"seconds": 9}


@pytest.mark.parametrize(("parts_per_second", "seconds"), [(0.5, 2000), (1000, 6)])
async def test_a_long_backlog_is_read_as_far_as_a_refusal_needs(
    send_now: Callable[..., Any],
    pace: Callable[..., Any],
    pool: Pool,
    account: Opened,
    parts_per_second: float,
    seconds: int,
) -> None:
    await pace(parts_per_second)
    await add_backlog(pool, account.account_id, account.phone_number, 7000)

    with pytest.raises(NumberBusy) as refused:
        await send_now()

    assert refused.value.facts == {"seconds": seconds}


async def test_a_repeated_key_gets_its_answer_while_the_number_is_busy(
    send_now: Callable[..., Any], pace: Callable[..., Any]
) -> None:
    await pace(0.1)
    first = await send_now(idempotency_key="once")

    again = await send_now(idempotency_key="once")

    assert again == replace(first, replayed=True)


async def test_a_number_without_a_pace_has_no_token_bucket(send_now: Callable[..., Any], pool: Pool) -> None:
    await send_now()

    assert await TOKEN_BUCKETS.count(pool) == 0
