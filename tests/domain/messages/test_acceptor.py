"""Accepting sends."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest

from app.db.engine import Connection, Pool, connect
from app.domain.billing.service import InsufficientCredits
from app.domain.consent.errors import ContactOptedOut
from app.domain.contacts import service as contacts
from app.domain.kernel.clock import Clock
from app.domain.kernel.errors import Conflict, InvalidInput, NotFound, Unavailable
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages import acceptor
from app.domain.messages.acceptor import SendAcceptor
from app.domain.messages.models import Attestation
from app.domain.messages.requests import Acceptance, Condition
from app.domain.onboarding.service import Opened
from app.services import Services
from app.settings import Settings
from tests.domain.messages.sends import OTHER, TO, hello, nothing_was_kept, verdicts
from tests.factories.billing import audit, balance_of, entries
from tests.factories.contacts import CONSENTS, CONTACTS
from tests.factories.events import event_names, payloads
from tests.factories.messages import MESSAGES, OUTGOING, bodies, states
from tests.factories.numbers import add_number
from tests.factories.traps import until_blocked
from tests.waiting import within


async def test_a_send_debits_its_segments_and_keeps_its_message(send: Callable[..., Any], pool: Pool) -> None:
    accepted = await send(body="A" * 161)

    assert accepted == Acceptance(accepted.message_id, 2, "pending", 998)
    [message] = await MESSAGES.read(pool)
    assert (message["id"], message["status"], message["credits"], float(message["cost"])) == (
        accepted.message_id,
        "pending",
        2,
        0.02,
    )
    assert await entries(pool) == [("debit", -2, 998)]
    await audit(pool)


async def test_a_send_records_its_actor_and_the_attested_consent(send: Callable[..., Any], pool: Pool) -> None:
    accepted = await send()

    [message] = await MESSAGES.read(pool, "actor", "request_id")
    [attested] = await CONSENTS.read(pool, "phone", "kind", "method", "message_id", "actor")
    assert tuple(message) == ("key:1", "request-1")
    assert tuple(attested) == (TO, "attested", "api_attestation", accepted.message_id, "key:1")


async def test_a_send_says_under_which_method_consent_was_attested(send: Callable[..., Any], pool: Pool) -> None:
    await send(attestation=Attestation.automation)

    [attested] = await CONSENTS.read(pool, "kind", "method")
    assert tuple(attested) == ("attested", "automation_attestation")


async def test_a_send_for_one_contact_goes_to_no_other(
    send: Callable[..., Any], act: Callable[..., Any], pool: Pool
) -> None:
    async with act() as unit:
        ann = await contacts.create(unit, {"phone": TO})

    sent, other, unknown = await verdicts(
        send(contact_id=ann.id), send(contact_id=ann.id + 1), send(OTHER, contact_id=ann.id)
    )

    assert isinstance(sent, Acceptance)
    assert isinstance(other, NotFound)
    assert isinstance(unknown, NotFound)
    assert await entries(pool) == [("debit", -1, 999)]
    assert await CONTACTS.count(pool) == 1


async def test_a_text_that_its_sender_hands_over_is_claimed_from_its_first_moment(
    send: Callable[..., Any], pool: Pool
) -> None:
    accepted = await send(claim=timedelta(seconds=30))
    plain = await send()

    rows = await OUTGOING.read(pool, "claimed_until", "attempts", "due_at")
    assert [row["claimed_until"] for row in rows] == [accepted.claimed_until, None]
    assert [row["attempts"] for row in rows] == [1, 0]
    assert accepted.claimed_until == rows[0]["due_at"] + timedelta(seconds=30)
    assert plain.claimed_until is None


async def test_a_first_send_opens_contact_and_conversation_once(send: Callable[..., Any], pool: Pool) -> None:
    await asyncio.gather(send(body="First"), send(body="Second"), send(body="Third"))

    assert await event_names(pool, "new_contact", "new_conversation") == ["new_contact", "new_conversation"]
    [opened] = await payloads(pool, "new_conversation")
    assert (opened["phone"], opened["first_message"]) == (TO, "First")
    assert len({*await MESSAGES.read(pool, "contact_id", "conversation_id")}) == 1


async def test_a_national_number_is_read_in_the_region_of_the_account(send: Callable[..., Any], pool: Pool) -> None:
    await send(to="(202) 555-0143")

    assert await MESSAGES.only(pool, "to_number") == TO


async def test_a_segment_abroad_costs_the_credits_of_the_tariff(send: Callable[..., Any]) -> None:
    accepted = await send(to="+447911123456", body="A" * 161)

    assert accepted.credits_remaining == 1000 - 2 * 6


async def test_the_primary_number_sends_unless_another_is_asked_for(
    send: Callable[..., Any], account: Opened, pool: Pool
) -> None:
    other = await add_number(pool, account.account_id, "+15009999999")

    await send()
    await send(from_phone_number_id=other)

    senders = await MESSAGES.read(pool, "from_number")
    assert senders == [account.phone_number, "+15009999999"]


async def test_sends_at_once_from_two_processes_spend_a_balance_to_its_last_credit_and_no_further(
    services: Services, new_account: Callable[..., Any], pool: Pool
) -> None:
    poor = await new_account(credits=5)
    second = SendAcceptor(pool, services.clock, services.notify, services.connections)
    actor = Actor(poor.account_id, frozenset())

    answers = await verdicts(
        *(
            acceptor.accept(actor, hello(to=f"+1202555{1000 + n}"))
            for n in range(8)
            for acceptor in (services.acceptor, second)
        )
    )

    accepted = [answer.credits_remaining for answer in answers if isinstance(answer, Acceptance)]
    assert sorted(accepted) == [0, 1, 2, 3, 4]
    assert sum(isinstance(answer, InsufficientCredits) for answer in answers) == 11
    await audit(pool)


async def test_a_batch_of_several_accounts_debits_each_for_its_own(
    services: Services, account: Opened, new_account: Callable[..., Any], pool: Pool
) -> None:
    other = await new_account(credits=3)
    actors = [Actor(opened.account_id, frozenset()) for opened in (other, account)] * 4

    answers = await verdicts(*(services.acceptor.accept(actor, hello()) for actor in actors))

    assert [answer.credits_remaining for answer in answers[1::2]] == [999, 998, 997, 996]
    assert [answer.credits_remaining for answer in answers[0:6:2]] == [2, 1, 0]
    assert isinstance(answers[6], InsufficientCredits)
    owners = dict(await CONTACTS.read(pool, "id", "account_id"))
    kept = await MESSAGES.read(pool, "contact_id", "account_id")
    assert (len(owners), len(kept)) == (2, 7)
    assert [message for message in kept if owners[message["contact_id"]] != message["account_id"]] == []
    await audit(pool)


async def test_one_send_that_cannot_be_stored_does_not_spoil_its_batch(
    services: Services, actor: Actor, pool: Pool
) -> None:
    texts = ["One", "Two\x00", "Three"]

    answers = await verdicts(*(services.acceptor.accept(actor, hello(body=body)) for body in texts))

    assert [type(answer) for answer in answers] == [Acceptance, InvalidInput, Acceptance]
    assert await bodies(pool) == ["One", "Three"]
    await audit(pool)


async def test_a_send_and_a_reply_from_an_unknown_phone_at_once_make_one_contact(
    send: Callable[..., Any], act: Callable[..., Any], pool: Pool
) -> None:
    async with act() as unit:
        contact = await contacts.find_or_create(unit, TO, "inbound_sms")
        sending = asyncio.create_task(send())
        await until_blocked(pool)
    await sending

    assert await MESSAGES.only(pool, "contact_id") == contact.id
    assert await event_names(pool, "new_contact") == ["new_contact"]


async def test_a_stop_concurrent_with_sends_fails_every_accepted_text(
    services: Services, actor: Actor, text: Callable[..., Any], pool: Pool
) -> None:
    second = SendAcceptor(pool, services.clock, services.notify, services.connections)
    sends = [acceptor.accept(actor, hello()) for acceptor in (services.acceptor, second) * 6]

    answers = await verdicts(*sends[:6], text("STOP"), *sends[6:])

    kept = sum(isinstance(answer, Acceptance) for answer in answers)
    assert sum(isinstance(answer, ContactOptedOut) for answer in answers) == len(sends) - kept
    assert [state for state in await states(pool) if state != ("pending", None)] == [
        ("failed", "contact_opted_out")
    ] * kept
    assert await balance_of(pool) == 1000
    await audit(pool)


async def test_a_send_whose_caller_hangs_up_is_kept_all_the_same(services: Services, actor: Actor, pool: Pool) -> None:
    waiting = asyncio.create_task(services.acceptor.accept(actor, hello()))
    await asyncio.sleep(0)
    waiting.cancel()
    await services.acceptor.close()

    assert waiting.cancelled()
    assert await entries(pool) == [("debit", -1, 999)]


async def test_closing_waits_for_the_verdicts_of_queued_sends(services: Services, actor: Actor) -> None:
    sends = [asyncio.create_task(services.acceptor.accept(actor, hello())) for _ in range(130)]
    await asyncio.sleep(0)

    await services.acceptor.close()

    assert sorted(send.result().credits_remaining for send in sends) == list(range(870, 1000))


async def test_a_send_that_finds_no_database_may_be_sent_again(
    services: Services, actor: Actor, settings: Settings, pool: Pool
) -> None:
    assert settings.database_url
    away = await connect(settings.database_url, 1)
    await away.close()
    acceptor = SendAcceptor(away.pool, services.clock, services.notify, services.connections)

    with pytest.raises(Unavailable):
        await acceptor.accept(actor, hello())

    assert await nothing_was_kept(pool)


class BrokenClock(Clock):
    def now(self) -> Any:
        raise RuntimeError("the clock is broken")


async def test_a_defect_is_raised_in_the_waiting_sends_and_the_acceptor_goes_on(
    services: Services, actor: Actor, pool: Pool
) -> None:
    acceptor = SendAcceptor(pool, BrokenClock(), services.notify, services.connections)

    answers = await within("the answers", verdicts(*(acceptor.accept(actor, hello()) for _ in range(3))))
    acceptor._clock = services.clock

    assert [str(answer) for answer in answers] == ["the clock is broken"] * 3
    assert (await acceptor.accept(actor, hello())).credits_remaining == 999


async def test_the_refusal_of_an_unstorable_value_hides_the_database_error(services: Services, actor: Actor) -> None:
    with pytest.raises(InvalidInput) as refused:
        await services.acceptor.accept(actor, hello(body="Hello\x00"))

    assert str(refused.value) == acceptor.UNSTORABLE_VALUE


async def test_a_value_that_cannot_be_written_is_refused_as_invalid_alone(services: Services, actor: Actor) -> None:
    answers = await verdicts(
        services.acceptor.accept(actor, hello(from_phone_number_id=2**70)), services.acceptor.accept(actor, hello())
    )

    assert [type(answer) for answer in answers] == [InvalidInput, Acceptance]


async def test_a_text_whose_condition_does_not_hold_any_more_is_not_kept(
    services: Services, actor: Actor, pool: Pool
) -> None:
    async def odd(_: Connection, ids: Sequence[int]) -> list[int]:
        return [id for id in ids if id % 2]

    answers = await verdicts(
        *(services.acceptor.accept(actor, hello(body=str(id), condition=Condition(odd, id))) for id in (1, 2, 3))
    )

    assert [type(answer) for answer in answers] == [Acceptance, Conflict, Acceptance]
    assert await bodies(pool) == ["1", "3"]
    assert await entries(pool) == [("debit", -1, 999), ("debit", -1, 998)]
