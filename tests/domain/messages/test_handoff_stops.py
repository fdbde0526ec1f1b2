"""Texts that must not be handed off any more, and what a carrier knows of opt-outs."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.carriers.carrier import FailureCode, Rejected
from app.domain.consent.service import Evidence
from app.domain.contacts import opt_outs
from app.domain.contacts import service as contacts
from app.domain.messages import outgoing
from app.domain.messages.handoff import Handoff
from app.domain.messages.models import Purpose
from app.domain.onboarding.service import Opened
from tests.domain.messages.handing import OPTED_OUT, TO, Absorbed, after, hand_over, through
from tests.factories.billing import audit, entries
from tests.factories.contacts import CONSENTS, SUPPRESSIONS, id_of_contact
from tests.factories.events import event_names
from tests.factories.messages import OUTGOING, SANDBOX_MESSAGES, calls, states
from tests.factories.numbers import PHONE_NUMBERS
from tests.factories.traps import VisitedPool
from tests.waiting import within


async def opt_out(act: Callable[..., Any], contact_id: int) -> None:
    async with act() as unit:
        await opt_outs.record_opt_out(unit, contact_id, Evidence("mail", "Please stop."))


async def disturb_not(act: Callable[..., Any], contact_id: int) -> None:
    async with act() as unit:
        await contacts.update(unit, contact_id, {"dnd_sms": True})


async def hold(act: Callable[..., Any], contact_id: int) -> None:
    async with act() as unit:
        await opt_outs.hold(unit, await contacts.find_or_create(unit, TO, ""))


@pytest.mark.parametrize(
    ("stop", "code"),
    [(opt_out, "contact_opted_out"), (disturb_not, "contact_dnd"), (hold, "contact_held")],
    ids=["opted out", "do not disturb", "held"],
)
async def test_a_text_that_was_stopped_since_it_was_accepted_is_refunded_and_never_reaches_the_carrier(
    send: Callable[..., Any],
    act: Callable[..., Any],
    handoff: Handoff,
    pool: Pool,
    stop: Callable[..., Any],
    code: str,
) -> None:
    await send()
    await send("+12025550144", "To another")
    await stop(act, await id_of_contact(pool, TO))

    await hand_over(handoff)

    assert await states(pool) == [("failed", code), ("sent", None)]
    assert await calls(pool) == [("To another", 1)]
    assert await entries(pool) == [("debit", -1, 999), ("debit", -1, 998), ("refund", 1, 999)]
    assert await event_names(pool, "message_failed") == ["message_failed"]
    await audit(pool)


async def release(pool: Pool, _: Opened) -> None:
    await PHONE_NUMBERS.change(pool, status="released")


async def move(pool: Pool, other: Opened) -> None:
    await PHONE_NUMBERS.where(account_id=other.account_id).delete(pool)
    await PHONE_NUMBERS.change(pool, account_id=other.account_id)


@pytest.mark.parametrize("lose", [release, move], ids=["released", "moved to another account"])
async def test_a_text_whose_number_the_account_has_lost_is_refunded_and_leaves_from_no_number(
    send: Callable[..., Any],
    text: Callable[..., Any],
    handoff: Handoff,
    pool: Pool,
    new_account: Callable[..., Any],
    lose: Callable[..., Any],
) -> None:
    await send("+12025550144")
    await text("HELP")
    await lose(pool, await new_account())

    await hand_over(handoff)

    failed = await states(pool)
    assert failed[0] == ("failed", "number_released")
    assert [state for state in failed if state[0] not in ("failed", "received")] == []
    assert await calls(pool) == []
    assert await entries(pool) == [("debit", -1, 999), ("refund", 1, 1000)]
    await audit(pool)


async def test_a_hold_lets_the_answer_of_a_person_through(
    send: Callable[..., Any], act: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    await send(purpose=Purpose.conversational)
    await hold(act, 0)

    await hand_over(handoff)

    assert await states(pool) == [("sent", None)]


async def test_a_text_to_a_phone_that_its_contact_no_longer_has_is_stopped_by_that_phones_opt_out(
    send: Callable[..., Any], act: Callable[..., Any], text: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    await send()
    async with act() as unit:
        await contacts.update(unit, await id_of_contact(pool), {"phone": "+12025550144"})
    await text("STOP", sender=TO)

    await hand_over(handoff)

    assert ("failed", "contact_opted_out") in await states(pool)
    assert [body for body, _ in await calls(pool) if body == "Hello"] == []
    await audit(pool)


async def test_a_text_in_the_carriers_hands_at_a_stop_is_not_tried_again(
    send: Callable[..., Any], text: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    await send()
    carrier = Absorbed(pool)
    calling = asyncio.create_task(hand_over(through(handoff, carrier)))
    await within("the carrier to be asked", carrier.asked.wait())
    await text("STOP")
    before = (await states(pool))[0]

    carrier.answer.set_result(Rejected(FailureCode.rate_limited, retryable=True))
    await calling
    await hand_over(after(handoff, seconds=3))

    assert before == ("pending", None)
    assert (await states(pool))[0] == ("failed", "contact_opted_out")
    assert await SANDBOX_MESSAGES.where(body="Hello").count(pool) == 0
    await audit(pool)


async def test_a_text_whose_claim_lapsed_before_its_call_is_left_to_the_next_holder(
    send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    await send()

    async def lapse(statement: str, is_done: bool) -> None:
        if statement == outgoing.KEEP_FROM_OPTING_OUT and not is_done:
            await OUTGOING.age(pool, "claimed_until", seconds=1)

    visited: Any = VisitedPool(pool, lapse)
    late = replace(handoff, database=replace(handoff.database, pool=visited))
    await hand_over(late)

    assert await states(pool) == [("pending", None)]
    assert await calls(pool) == []


async def test_an_opt_out_that_only_the_carrier_knew_stops_all_that_follows(
    send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    await send(OPTED_OUT)
    await send(OPTED_OUT, "Again")
    one_by_one = replace(handoff, pace=replace(handoff.pace, window=1))

    await hand_over(one_by_one)
    await hand_over(one_by_one)

    assert await states(pool) == [("failed", "opted_out"), ("failed", "contact_opted_out")]
    assert await calls(pool) == [("Hello", 1)]
    assert await SUPPRESSIONS.read(pool, "phone", "reason") == [(OPTED_OUT, "carrier")]
    assert await CONSENTS.last(pool, "kind", "method") == ("revoked_other", "carrier")
    assert await event_names(pool, "new_opt_out") == ["new_opt_out"]
    await audit(pool)
