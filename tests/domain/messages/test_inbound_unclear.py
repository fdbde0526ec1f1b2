"""Replies that need a person to read them."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.carriers.carrier import FailureCode
from app.domain.conversations import review
from app.domain.erasure import service as erasure
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages import outcome
from app.domain.messages.handoff import Handoff
from tests.domain.messages.handing import hand_over
from tests.domain.messages.replies import OTHER, STOPPED, TO, UNCLEAR, consents, contact, conversation, replies
from tests.factories.billing import audit
from tests.factories.clocks import Later
from tests.factories.contacts import CONSENTS, CONTACTS, HOLDS
from tests.factories.events import event_names, payloads
from tests.factories.messages import INBOUND, MESSAGES, calls, states


async def test_an_unclear_reply_is_held_and_flagged_for_a_person(text: Callable[..., Any], pool: Pool) -> None:
    await text(UNCLEAR)
    until = (await contact(pool))["held_until"]
    await text("QUIT asking")

    first = await MESSAGES.where(body=UNCLEAR).only(pool, "id")
    assert await HOLDS.read(pool, "phone", "text", "message_id", "held_until") == [(TO, UNCLEAR, first, until)]
    received = min(await MESSAGES.read(pool, "created_at"))
    assert timedelta(hours=23, minutes=59) < until - received < timedelta(hours=24, minutes=1)
    assert (await contact(pool))["held_until"] == until
    assert (await contact(pool))["status"] == "active"
    assert (await conversation(pool))["possible_opt_out"]
    assert (await consents(pool), await replies(pool), await event_names(pool, "new_opt_out")) == ([], [], [])


@pytest.mark.parametrize(("word", "status"), [("STOP", "opted_out"), ("START", "active")])
async def test_a_clear_word_settles_an_unclear_one(
    text: Callable[..., Any], pool: Pool, word: str, status: str
) -> None:
    await text(UNCLEAR)

    await text(word)

    assert ((await contact(pool))["held_until"], (await contact(pool))["status"]) == (None, status)
    assert await HOLDS.read(pool) == []
    assert not (await conversation(pool))["possible_opt_out"]


async def test_an_unclear_reply_of_a_contact_that_opted_out_changes_nothing(
    text: Callable[..., Any], pool: Pool
) -> None:
    await text("STOP")

    await text(UNCLEAR)

    assert ((await contact(pool))["held_until"], (await contact(pool))["status"]) == (None, "opted_out")
    assert not (await conversation(pool))["possible_opt_out"]


@pytest.mark.parametrize(
    ("end", "method"),
    [
        (lambda unit, held: review.decide(unit, held["conversation_id"], opted_out=True), "review"),
        (lambda unit, _: expire(unit), "review_expired"),
        (lambda unit, held: erasure.erase(unit, held["contact_id"]), "contact_deleted"),
        (lambda unit, held: review.update_contact(unit, held["contact_id"], {"phone": OTHER}), "phone_changed"),
    ],
    ids=["a decision", "the end of the hold", "the deletion of the contact", "another phone"],
)
async def test_an_unclear_reply_that_becomes_an_opt_out_is_kept_as_its_evidence(
    text: Callable[..., Any], act: Callable[..., Any], pool: Pool, end: Callable[..., Any], method: str
) -> None:
    for body in ("STOP by at noon?", UNCLEAR, "Hello?", "QUIT asking"):
        await text(body)
    await text(UNCLEAR, sender=OTHER)
    held = await MESSAGES.where(body=UNCLEAR, from_number=TO).only(pool)
    await CONTACTS.where(phone=OTHER).delete(pool)

    async with act() as unit:
        await end(unit, held)

    [recorded] = await CONSENTS.read(pool, "phone", "kind", "method", "text", "message_id")
    assert recorded == (TO, "revoked_other", method, UNCLEAR, held["id"])
    assert await HOLDS.where(phone=TO).read(pool) == []


async def expire(unit: UnitOfWork) -> None:
    unit.clock = Later(timedelta(hours=24, minutes=1))
    assert await review.expire(unit) == 1


async def test_an_opt_out_after_a_hold_that_was_lifted_has_the_later_reply_as_its_evidence(
    text: Callable[..., Any], act: Callable[..., Any], pool: Pool
) -> None:
    for opted_out in (False, True):
        await text(UNCLEAR)
        async with act() as unit:
            await review.decide(unit, (await conversation(pool))["id"], opted_out=opted_out)

    newest = await INBOUND.last(pool, "id")
    assert await CONSENTS.read(pool, "message_id") == [newest]


async def test_a_demand_beside_a_wrong_number_opts_out(text: Callable[..., Any], pool: Pool) -> None:
    await text("STOP you have the wrong number")

    assert ((await contact(pool))["status"], (await contact(pool))["dnd_sms"]) == ("opted_out", False)
    assert await replies(pool) == [STOPPED]
    assert await consents(pool) == [("opt_out", "keyword", "STOP you have the wrong number")]


async def test_an_opt_out_that_the_carrier_knew_of_settles_an_unclear_one(
    text: Callable[..., Any], send: Callable[..., Any], act: Callable[..., Any], pool: Pool
) -> None:
    id = (await send()).message_id
    await text(UNCLEAR)

    async with act() as unit:
        await outcome.fail(unit, id, FailureCode.opted_out)

    assert ((await contact(pool))["held_until"], (await contact(pool))["status"]) == (None, "opted_out")
    assert not (await conversation(pool))["possible_opt_out"]
    assert [changed["possible_opt_out"] for changed in await payloads(pool, "conversation_changed")] == [False]


async def test_a_wrong_number_is_disturbed_no_more(
    text: Callable[..., Any], send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    await send()

    await text("You have the wrong number")
    await hand_over(handoff)

    [changed] = await payloads(pool, "contact_dnd_changed")
    assert changed["dnd_sms"] is True
    assert ((await contact(pool))["dnd_sms"], (await contact(pool))["status"]) == (True, "active")
    assert (await contact(pool))["replies"] == 1
    assert (await conversation(pool))["wrong_number"]
    assert await states(pool) == [("failed", "contact_dnd")]
    assert await calls(pool) == []
    assert (await consents(pool), await replies(pool)) == ([], [])
    await audit(pool)
