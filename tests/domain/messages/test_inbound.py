"""Taking in what people text to our numbers."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.bootstrap import Services
from app.db.engine import Pool
from app.domain.contacts import service as people
from app.domain.contacts.consent import ContactDnd, ContactHeld, ContactOptedOut
from app.domain.conversations import review
from app.domain.erasure import service as erasure
from app.domain.kernel.events import timestamp
from app.domain.kernel.unit import Actor, Unit
from app.domain.messages import outcome
from app.domain.messages.acceptance import Acceptance
from app.domain.messages.carrier import FailureCode, InboundMessage
from app.domain.messages.desk import Send
from app.domain.messages.handoff import Handoff
from app.domain.messages.outcome import Report
from app.domain.onboarding.service import Opened
from tests.domain.books import Later, audit, calls, entries, payloads, states, told, until_blocked
from tests.domain.conftest import SetClock

TO, OTHER = "+12025550143", "+12025550144"
STOPPED = "Blue Door: you are unsubscribed and will get no more messages. Reply START to resubscribe."
STARTED = "Blue Door: you are subscribed again. Reply HELP for help, STOP to unsubscribe."
HELP = "Blue Door: for help contact Blue Door. Msg&data rates may apply. Reply STOP to unsubscribe."
UNCLEAR = "STOP what time is the showing"


async def replies(pool: Pool) -> list[str]:
    rows = await pool.fetch("SELECT body FROM messages WHERE purpose = 'compliance' ORDER BY id")
    return [row["body"] for row in rows]


async def consents(pool: Pool) -> list[tuple[str, str, str]]:
    rows = await pool.fetch("SELECT kind, method, text FROM consents WHERE kind <> 'attested' ORDER BY id")
    return [tuple(row) for row in rows]


async def contact(pool: Pool) -> Any:
    return await pool.fetchrow("SELECT * FROM contacts WHERE phone = $1", TO)


async def conversation(pool: Pool) -> Any:
    return await pool.fetchrow("SELECT * FROM conversations")


async def may_be_texted(send: Callable[..., Any]) -> bool:
    [answer] = await asyncio.gather(send(), return_exceptions=True)
    return not isinstance(answer, Exception)


async def test_a_text_is_kept_and_told_with_its_contact_and_conversation(
    text: Callable[..., Any], account: Opened, pool: Pool
) -> None:
    await text("Do you have a table for two tonight?")

    [message] = await pool.fetch("SELECT direction, from_number, to_number, status, credits, segments FROM messages")
    assert tuple(message) == ("inbound", TO, account.phone_number, "received", 0, 1)
    assert await told(pool, "new_contact", "new_conversation", "new_message", "new_opt_out") == [
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
    await pool.execute("UPDATE conversations SET status = 'closed'")

    await text("Are you there?")

    assert ((await conversation(pool))["status"], (await conversation(pool))["unread_count"]) == ("open", 2)
    assert await told(pool, "new_contact", "new_conversation") == ["new_contact", "new_conversation"]


async def test_a_text_that_the_carrier_brings_many_times_is_kept_once(text: Callable[..., Any], pool: Pool) -> None:
    await asyncio.gather(*(text("STOP", id="in-1") for _ in range(6)))
    await text("STOP", id="in-1")

    assert await told(pool, "new_message", "new_opt_out") == ["new_message", "new_opt_out"]
    assert await replies(pool) == [STOPPED]
    assert await consents(pool) == [("opt_out", "keyword", "STOP")]


async def test_a_text_that_is_brought_again_makes_no_second_contact_when_the_first_has_another_phone(
    text: Callable[..., Any], act: Callable[..., Any], pool: Pool
) -> None:
    await text("Hello", id="in-x")
    async with act() as unit:
        await people.update(unit, (await contact(pool))["id"], {"phone": OTHER})

    await text("Hello", id="in-x")

    assert [row["phone"] for row in await pool.fetch("SELECT phone FROM contacts")] == [OTHER]
    assert await told(pool, "new_contact", "new_message") == ["new_contact", "new_message"]


@pytest.mark.parametrize("at", [datetime(2026, 1, 1, tzinfo=UTC), None])
async def test_the_log_and_the_event_say_the_same_of_when_a_text_was_sent(
    services: Services, account: Opened, pool: Pool, at: datetime | None
) -> None:
    noon = datetime(2026, 11, 21, 12, tzinfo=UTC)
    inbox = replace(services.inbox, clock=SetClock(noon))

    await inbox.receive("sandbox", InboundMessage("in-1", TO, account.phone_number, "Hello", at))

    [new_message] = await payloads(pool, "new_message")
    assert await pool.fetchval("SELECT sent_at FROM messages") == (at or noon)
    assert new_message["sent_at"] == timestamp(at or noon)


async def test_a_reply_dates_the_contact(services: Services, account: Opened, pool: Pool) -> None:
    clock = SetClock()
    for number, body in enumerate(("Hello", UNCLEAR, "STOP", "START", "You have the wrong number"), 1):
        clock.at += timedelta(seconds=1)
        inbound = InboundMessage(f"in-{number}", TO, account.phone_number, body)
        await replace(services.inbox, clock=clock).receive("sandbox", inbound)

        assert (await contact(pool))["updated_at"] == clock.at


async def test_a_text_to_a_number_that_nobody_holds_is_kept_as_unmatched(services: Services, pool: Pool) -> None:
    await services.inbox.receive("sandbox", InboundMessage("in-1", TO, "+15009999999", "STOP"))

    [kept] = await pool.fetch("SELECT carrier, kind, problem, payload FROM unmatched_callbacks")
    assert tuple(kept) == (
        "sandbox",
        "inbound",
        "no account holds the number",
        {"provider_message_id": "in-1", "from_number": TO, "to_number": "+15009999999", "body": "STOP"},
    )
    assert await pool.fetchval("SELECT count(*) FROM messages") == 0
    assert await contact(pool) is None


async def test_a_text_from_a_short_code_is_kept_as_it_came_and_never_answered(
    text: Callable[..., Any], pool: Pool
) -> None:
    await text("STOP", sender="72345")

    assert [row["phone"] for row in await pool.fetch("SELECT phone FROM suppressions")] == ["72345"]
    assert await replies(pool) == []


async def test_stop_opts_out_and_is_confirmed_once(
    text: Callable[..., Any], send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    await text("Stop.")
    await text("STOP")
    await handoff.run()

    [suppression] = await pool.fetch("SELECT phone, scope_type, reason, keyword FROM suppressions")
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
    await handoff.run()

    assert await calls(pool) == [(STOPPED, 1)]
    assert await entries(pool) == []
    await audit(pool)


async def test_stop_fails_and_refunds_what_has_not_left(
    text: Callable[..., Any], send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    await send(body="Gone")
    await handoff.run()
    await send(body="A" * 161)
    await send("+12025550144", "To another")

    await text("STOP")
    await handoff.run()

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
    async with pool.acquire() as other, other.transaction():
        await other.execute("SELECT FROM accounts WHERE id = $1 FOR NO KEY UPDATE", account.account_id)
        sending = asyncio.create_task(services.desk.accept(actor, Send(TO, "Hello", consent_attested=True)))
        await until_blocked(pool)
        stopping = asyncio.create_task(text("STOP"))
        await until_blocked(pool, 2)
    await asyncio.gather(sending, stopping)

    assert await states(pool) == [("failed", "contact_opted_out"), ("pending", None)]
    await audit(pool)


@pytest.mark.parametrize("word", ["START", "unstop", "YES"])
async def test_start_restores_what_stop_stopped_and_is_answered_once(
    text: Callable[..., Any], send: Callable[..., Any], pool: Pool, word: str
) -> None:
    await text("STOP")

    await text(word)
    await text("START")

    assert await replies(pool) == [STOPPED, STARTED]
    assert await pool.fetchval("SELECT count(*) FROM suppressions") == 0
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
    assert await told(pool, "new_opt_out") == ["new_opt_out"] * 2
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


async def test_help_names_the_support_contact_and_is_given_to_who_opted_out_too(
    text: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    await pool.execute("UPDATE accounts SET support_contact = 'help@bluedoor.example'")
    await text("STOP")

    await text("HELP")
    await handoff.run()

    assert await calls(pool) == [(STOPPED, 1), (HELP.replace("contact Blue Door", "contact help@bluedoor.example"), 1)]
    assert (await contact(pool))["status"] == "opted_out"


async def test_help_is_not_answered_again_because_the_account_has_changed(text: Callable[..., Any], pool: Pool) -> None:
    await text("HELP")
    await pool.execute("UPDATE accounts SET support_contact = 'help@bluedoor.example', company_name = 'Red Door'")

    await text("HELP")

    assert await replies(pool) == [HELP]


async def test_an_unclear_reply_is_held_and_flagged_for_a_person(text: Callable[..., Any], pool: Pool) -> None:
    await text(UNCLEAR)
    until = (await contact(pool))["held_until"]
    await text(UNCLEAR)

    received = await pool.fetchval("SELECT min(created_at) FROM messages")
    assert timedelta(hours=23, minutes=59) < until - received < timedelta(hours=24, minutes=1)
    assert (await contact(pool))["held_until"] == until
    assert (await contact(pool))["status"] == "active"
    assert (await conversation(pool))["possible_opt_out"]
    assert (await consents(pool), await replies(pool), await told(pool, "new_opt_out")) == ([], [], [])


@pytest.mark.parametrize(("word", "status"), [("STOP", "opted_out"), ("START", "active")])
async def test_a_clear_word_settles_an_unclear_one(
    text: Callable[..., Any], pool: Pool, word: str, status: str
) -> None:
    await text(UNCLEAR)

    await text(word)

    assert ((await contact(pool))["held_until"], (await contact(pool))["status"]) == (None, status)
    assert not (await conversation(pool))["possible_opt_out"]


async def test_an_unclear_reply_of_who_opted_out_changes_nothing(text: Callable[..., Any], pool: Pool) -> None:
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
    held = await pool.fetchrow("SELECT * FROM messages WHERE body = $1 AND from_number = $2", UNCLEAR, TO)
    await pool.execute("DELETE FROM contacts WHERE phone = $1", OTHER)

    async with act() as unit:
        await end(unit, held)

    [recorded] = await pool.fetch("SELECT phone, kind, method, text, message_id FROM consents")
    assert tuple(recorded) == (TO, "revoked_other", method, UNCLEAR, held["id"])


async def expire(unit: Unit) -> None:
    unit.clock = Later(timedelta(hours=24, minutes=1))
    assert await review.expire(unit) == 1


async def test_an_opt_out_after_a_hold_that_was_lifted_has_the_later_reply_as_its_evidence(
    text: Callable[..., Any], act: Callable[..., Any], pool: Pool
) -> None:
    for opted_out in (False, True):
        await text(UNCLEAR)
        async with act() as unit:
            await review.decide(unit, (await conversation(pool))["id"], opted_out=opted_out)

    newest = await pool.fetchval("SELECT max(id) FROM messages WHERE direction = 'inbound'")
    assert [row["message_id"] for row in await pool.fetch("SELECT message_id FROM consents")] == [newest]


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
        await outcome.fail(unit, id, FailureCode.opted_out, Report())

    assert ((await contact(pool))["held_until"], (await contact(pool))["status"]) == (None, "opted_out")
    assert not (await conversation(pool))["possible_opt_out"]
    assert [changed["possible_opt_out"] for changed in await payloads(pool, "conversation_changed")] == [False]


async def test_a_wrong_number_is_disturbed_no_more(
    text: Callable[..., Any], send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    await send()

    await text("You have the wrong number")
    await handoff.run()

    [changed] = await payloads(pool, "contact_dnd_changed")
    assert changed["dnd_sms"] is True
    assert ((await contact(pool))["dnd_sms"], (await contact(pool))["status"]) == (True, "active")
    assert (await contact(pool))["replies"] == 1
    assert (await conversation(pool))["wrong_number"]
    assert await states(pool) == [("failed", "contact_dnd")]
    assert await calls(pool) == []
    assert (await consents(pool), await replies(pool)) == ([], [])
    await audit(pool)


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
    assert await pool.fetchval("SELECT count(*) FROM messages WHERE direction = 'inbound'") == 12
    assert await pool.fetchval("SELECT count(*) FROM contacts") == 12
    assert await pool.fetchval("SELECT total FROM contact_totals") == 12
    assert len(await told(pool, "new_contact")) == 12
    assert len(await told(pool, "new_conversation")) == 12
    await audit(pool)
