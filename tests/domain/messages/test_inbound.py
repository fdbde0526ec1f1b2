"""Taking in what people text to our numbers."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.carriers.carrier import InboundMessage
from app.domain.consent.errors import ContactHeld, ContactOptedOut
from app.domain.contacts import service as people
from app.domain.contacts.errors import ContactDnd
from app.domain.kernel.events import timestamp
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages.errors import ConsentNotAttested
from app.domain.messages.handoff import Handoff
from app.domain.messages.replies import Reply, reply
from app.domain.messages.requests import Send
from app.domain.messages.sending.acceptance import Acceptance
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.conftest import SetClock
from tests.domain.messages.handing import hand_over
from tests.domain.messages.replies import OTHER, STOPPED, TO, UNCLEAR, consents, contact, conversation, replies
from tests.factories.accounts import ACCOUNTS
from tests.factories.billing import audit, entries
from tests.factories.clocks import Later
from tests.factories.contacts import CONTACT_TOTALS, CONTACTS, SUPPRESSIONS
from tests.factories.conversations import CONVERSATIONS
from tests.factories.events import event_names, payloads
from tests.factories.messages import INBOUND, MESSAGES, OUTBOUND, UNMATCHED_CALLBACKS, calls, states
from tests.factories.traps import locked, until_blocked
from tests.waiting import within

STARTED = "Blue Door: you are subscribed again. Reply HELP for help, STOP to unsubscribe."
HELP = "Blue Door: for help contact Blue Door. Msg&data rates may apply. Reply STOP to unsubscribe."


async def may_be_texted(send: Callable[..., Any]) -> bool:
    [answer] = await asyncio.gather(send(), return_exceptions=True)
    return not isinstance(answer, Exception)


async def test_a_text_joins_the_conversation_that_a_send_opens_at_the_same_time(
    text: Callable[..., Any], account: Opened, pool: Pool, services: Services
) -> None:
    owner = {"account_id": account.account_id}
    contact_id = await CONTACTS.insert(services, phone=TO, **owner)
    async with pool.acquire() as connection, connection.transaction():
        id = await CONVERSATIONS.insert(connection, contact_id=contact_id, last_message_at=datetime.now(UTC), **owner)
        arriving = asyncio.create_task(text("Hello"))
        await until_blocked(pool)
    await within("the text", arriving)

    assert await CONVERSATIONS.read(pool, "id", "unread_count") == [(id, 1)]
    assert await event_names(pool, "new_conversation", "new_message") == ["new_message"]


async def test_a_text_is_kept_and_told_with_its_contact_and_conversation(
    text: Callable[..., Any], account: Opened, pool: Pool
) -> None:
    await text("Do you have a table for two tonight?")

    [message] = await MESSAGES.read(pool, "direction", "from_number", "to_number", "status", "credits", "segments")
    assert tuple(message) == ("inbound", TO, account.phone_number, "received", 0, 1)
    assert await event_names(pool, "new_contact", "new_conversation", "new_message", "new_opt_out") == [
        "new_contact",
        "new_conversation",
        "new_message",
    ]
    [new_message] = await payloads(pool, "new_message")
    assert (new_message["body"], new_message["contact_phone"]) == ("Do you have a table for two tonight?", TO)
    assert ((await contact(pool))["replies"], (await contact(pool))["source"]) == (1, "inbound_sms")
    assert (await conversation(pool))["unread_count"] == 1
    assert await replies(pool) == []


async def test_a_text_opens_its_conversation_again(text: Callable[..., Any], pool: Pool) -> None:
    await text("Hello")
    await CONVERSATIONS.change(pool, status="closed")

    await text("Are you there?")

    assert ((await conversation(pool))["status"], (await conversation(pool))["unread_count"]) == ("open", 2)
    assert await event_names(pool, "new_contact", "new_conversation") == ["new_contact", "new_conversation"]


async def test_a_text_that_the_carrier_brings_many_times_is_kept_once(text: Callable[..., Any], pool: Pool) -> None:
    await asyncio.gather(*(text("STOP", id="in-1") for _ in range(6)))
    await text("STOP", id="in-1")

    assert await event_names(pool, "new_message", "new_opt_out") == ["new_message", "new_opt_out"]
    assert await replies(pool) == [STOPPED]
    assert await consents(pool) == [("opt_out", "keyword", "STOP")]


async def test_a_text_that_is_brought_again_makes_no_second_contact_when_the_first_has_another_phone(
    text: Callable[..., Any], act: Callable[..., Any], pool: Pool
) -> None:
    await text("Hello", id="in-x")
    async with act() as unit:
        await people.update(unit, (await contact(pool))["id"], {"phone": OTHER})

    await text("Hello", id="in-x")

    assert await CONTACTS.read(pool, "phone") == [OTHER]
    assert await event_names(pool, "new_contact", "new_message") == ["new_contact", "new_message"]


@pytest.mark.parametrize("at", [datetime(2026, 11, 21, 11, 55, tzinfo=UTC), None])
async def test_the_log_and_the_event_say_the_same_of_when_a_text_was_sent(
    services: Services, account: Opened, pool: Pool, at: datetime | None
) -> None:
    noon = datetime(2026, 11, 21, 12, tzinfo=UTC)
    inbox = replace(services.inbox, clock=SetClock(noon))

    await inbox.receive("sandbox", InboundMessage("in-1", TO, account.phone_number, "Hello", at))

    [new_message] = await payloads(pool, "new_message")
    assert await MESSAGES.only(pool, "sent_at") == (at or noon)
    assert new_message["sent_at"] == timestamp(at or noon)


async def test_a_reply_dates_the_contact(services: Services, account: Opened, pool: Pool) -> None:
    clock = SetClock()
    for number, body in enumerate(("Hello", UNCLEAR, "STOP", "START", "You have the wrong number"), 1):
        clock.at += timedelta(seconds=1)
        inbound = InboundMessage(f"in-{number}", TO, account.phone_number, body)
        await replace(services.inbox, clock=clock).receive("sandbox", inbound)

        assert (await contact(pool))["updated_at"] == clock.at


async def test_a_text_to_an_unassigned_number_is_kept_as_unmatched(services: Services, pool: Pool) -> None:
    await services.inbox.receive("sandbox", InboundMessage("in-1", TO, "+15009999999", "STOP"))

    [kept] = await UNMATCHED_CALLBACKS.read(pool, "carrier", "kind", "problem", "payload")
    assert kept == (
        "sandbox",
        "inbound",
        "no account holds the number",
        {"provider_message_id": "in-1", "from_number": TO, "to_number": "+15009999999", "body": "STOP"},
    )
    assert await MESSAGES.count(pool) == 0
    assert await CONTACTS.count(pool) == 0


async def test_a_text_from_a_short_code_is_kept_as_it_came_and_never_answered(
    text: Callable[..., Any], pool: Pool
) -> None:
    await text("STOP", sender="72345")

    assert await SUPPRESSIONS.read(pool, "phone") == ["72345"]
    assert await replies(pool) == []


async def test_stop_opts_out_and_is_confirmed_once(
    text: Callable[..., Any], send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    await text("Stop.")
    await text("STOP")
    await hand_over(handoff)

    [suppression] = await SUPPRESSIONS.read(pool, "phone", "scope_type", "reason", "keyword")
    [opted_out] = await payloads(pool, "new_opt_out")
    assert tuple(suppression) == (TO, "account", "keyword", "STOP")
    assert opted_out["keyword"] == "STOP"
    assert (await contact(pool))["status"] == "opted_out"
    assert (await contact(pool))["replies"] == 0
    assert await consents(pool) == [("opt_out", "keyword", "Stop."), ("opt_out", "keyword", "STOP")]
    assert await calls(pool) == [(STOPPED, 1)]
    assert not await may_be_texted(send)


async def test_a_confirmation_is_free_even_for_an_account_without_credits(
    services: Services, new_account: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    poor = await new_account(credits=0)

    await services.inbox.receive("sandbox", InboundMessage("in-1", TO, poor.phone_number, "STOP"))
    await hand_over(handoff)

    assert await calls(pool) == [(STOPPED, 1)]
    assert await entries(pool) == []
    await audit(pool)


async def test_stop_fails_and_refunds_texts_that_have_not_left(
    text: Callable[..., Any], send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    await send(body="Gone")
    await hand_over(handoff)
    await send(body="A" * 161)
    await send("+12025550144", "To another")

    await text("STOP")
    await hand_over(handoff)

    assert await states(pool) == [
        ("sent", None),
        ("failed", "contact_opted_out"),
        ("sent", None),
        ("sent", None),
    ]
    assert await calls(pool) == [("Gone", 1), ("To another", 1), (STOPPED, 1)]
    assert (await entries(pool))[-1] == ("refund", 2, 998)
    assert [failed["segments"] for failed in await payloads(pool, "message_failed")] == [2]
    await audit(pool)


async def test_a_stop_waits_for_a_send_under_way_and_stops_it(
    services: Services, account: Opened, text: Callable[..., Any], pool: Pool
) -> None:
    actor = Actor(account.account_id, frozenset())
    async with locked(pool, ACCOUNTS.where(id=account.account_id), "FOR NO KEY UPDATE"):
        sending = asyncio.create_task(services.acceptor.accept(actor, Send(TO, "Hello", consent_attested=True)))
        await until_blocked(pool)
        stopping = asyncio.create_task(text("STOP"))
        await until_blocked(pool, 2)
    await asyncio.gather(sending, stopping)

    assert await states(pool) == [("failed", "contact_opted_out"), ("pending", None)]
    await audit(pool)


@pytest.mark.parametrize("word", ["START", "unstop", "YES"])
async def test_start_ends_an_opt_out_and_is_answered_once(
    text: Callable[..., Any], send: Callable[..., Any], pool: Pool, word: str
) -> None:
    await text("STOP")

    await text(word)
    await text("START")

    assert await replies(pool) == [STOPPED, STARTED]
    assert await SUPPRESSIONS.count(pool) == 0
    assert await consents(pool) == [
        ("opt_out", "keyword", "STOP"),
        ("re_opt_in", "keyword", word),
        ("opt_in", "keyword", "START"),
    ]
    assert await may_be_texted(send)


async def test_stop_after_start_is_confirmed_again(text: Callable[..., Any], pool: Pool) -> None:
    for word in ("STOP", "START", "STOP"):
        await text(word)

    assert await replies(pool) == [STOPPED, STARTED, STOPPED]
    assert await event_names(pool, "new_opt_out") == ["new_opt_out"] * 2
    assert (await contact(pool))["status"] == "opted_out"


async def test_yes_of_a_subscriber_is_an_answer_and_no_consent(text: Callable[..., Any], pool: Pool) -> None:
    await text("YES")

    assert await consents(pool) == []
    assert await replies(pool) == []
    assert (await contact(pool))["replies"] == 1


async def test_help_is_answered_at_most_once_in_24_hours(
    services: Services, account: Opened, text: Callable[..., Any], pool: Pool
) -> None:
    async def ask(id: str, ahead: timedelta) -> None:
        inbox = replace(services.inbox, clock=Later(ahead))
        await inbox.receive("sandbox", InboundMessage(id, TO, account.phone_number, "HELP"))

    await asyncio.gather(*(text("help") for _ in range(3)))
    await ask("later", timedelta(hours=23, minutes=59))
    within_a_day = await replies(pool)
    await ask("next day", timedelta(hours=24, minutes=1))

    assert within_a_day == [HELP]
    assert await replies(pool) == [HELP, HELP]


async def test_help_names_the_support_contact_and_answers_a_contact_that_opted_out(
    text: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    await ACCOUNTS.change(pool, support_contact="help@bluedoor.example")
    await text("STOP")

    await text("HELP")
    await hand_over(handoff)

    assert await calls(pool) == [(STOPPED, 1), (HELP.replace("contact Blue Door", "contact help@bluedoor.example"), 1)]
    assert (await contact(pool))["status"] == "opted_out"


async def test_help_is_not_answered_again_because_the_account_has_changed(text: Callable[..., Any], pool: Pool) -> None:
    await text("HELP")
    await ACCOUNTS.change(pool, support_contact="help@bluedoor.example", company_name="Red Door")

    await text("HELP")

    assert await replies(pool) == [HELP]


async def test_texts_of_many_people_at_once_are_all_kept(
    text: Callable[..., Any], send: Callable[..., Any], pool: Pool
) -> None:
    people = [f"+1202555{1000 + number}" for number in range(12)]
    words = ["STOP", "Hello", "HELP", UNCLEAR, "START", "You have the wrong number"] * 2

    answers = await asyncio.gather(
        *(text(word, sender=person) for person, word in zip(people, words, strict=True)),
        *(send(person) for person in people[6:] + people[:6]),
        return_exceptions=True,
    )

    refusals = ContactOptedOut | ContactHeld | ContactDnd
    assert [answer for answer in answers if not isinstance(answer, Acceptance | refusals | None)] == []
    assert await INBOUND.count(pool) == 12
    assert await CONTACTS.count(pool) == 12
    assert await CONTACT_TOTALS.only(pool, "total") == 12
    assert len(await event_names(pool, "new_contact")) == 12
    assert len(await event_names(pool, "new_conversation")) == 12
    await audit(pool)


async def test_a_reply_to_the_phone_that_a_contact_was_given_since_needs_a_certification_of_consent(
    text: Callable[..., Any], act: Callable[[], Any], pool: Pool, services: Services
) -> None:
    await text("Hello")
    id, contact_id = await MESSAGES.only(pool, "conversation_id", "contact_id")
    async with act() as unit:
        await people.update(unit, contact_id, {"phone": OTHER})
    with pytest.raises(ConsentNotAttested):
        async with act() as unit:
            await reply(unit, services.acceptor, id, Reply("Hi"))
    async with act() as unit:
        await reply(unit, services.acceptor, id, Reply("Hi", consent_attested=True))

    await text("It is me", OTHER)
    async with act() as unit:
        await reply(unit, services.acceptor, id, Reply("Welcome"))

    assert await OUTBOUND.read(pool, "to_number", "purpose") == [(OTHER, "transactional"), (OTHER, "conversational")]
