"""Accepting sends."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest

from app.bootstrap import Services
from app.db.engine import Connection, Pool, connect
from app.domain.billing.service import InsufficientCredits
from app.domain.contacts import consent
from app.domain.contacts import service as contacts
from app.domain.contacts.consent import ContactDnd, ContactHeld, ContactOptedOut
from app.domain.kernel.clock import Clock
from app.domain.kernel.errors import Conflict, DomainError, InvalidInput, NotFound, Unavailable
from app.domain.kernel.idempotency import IdempotencyKeyReused, OwnKey
from app.domain.kernel.phone import InvalidPhone, LandlinePhone
from app.domain.kernel.unit import Actor
from app.domain.messages import desk
from app.domain.messages.desk import Desk, Send
from app.domain.messages.errors import AccountSuspended, ConsentNotAttested, MessageTooLong, NoSender
from app.domain.messages.models import Attestation, Purpose
from app.domain.messages.requests import Acceptance, Condition
from app.domain.onboarding.service import Opened
from app.settings import Settings
from tests.domain.books import audit, entries, payloads, states, told, until_blocked

TO, OTHER = "+12025550143", "+12025550144"


def hello(to: str = TO, body: str = "Hello", **wishes: Any) -> Send:
    return Send(to, body, consent_attested=True, **wishes)


async def verdicts(*sends: Any) -> list[Any]:
    return await asyncio.gather(*sends, return_exceptions=True)


async def nothing_was_kept(pool: Pool) -> bool:
    return not await entries(pool) and not await states(pool) and not await told(pool, "new_contact")


async def test_a_send_debits_its_segments_and_keeps_its_message(send: Callable[..., Any], pool: Pool) -> None:
    accepted = await send(body="A" * 161)

    assert accepted == Acceptance(accepted.message_id, 2, "pending", 998)
    [message] = await pool.fetch("SELECT * FROM messages")
    assert (message["id"], message["status"], message["credits"], float(message["cost"])) == (
        accepted.message_id,
        "pending",
        2,
        0.02,
    )
    assert await entries(pool) == [("debit", -2, 998)]
    await audit(pool)


async def test_a_send_keeps_who_asked_for_it_and_that_consent_was_attested(
    send: Callable[..., Any], pool: Pool
) -> None:
    accepted = await send()

    [message] = await pool.fetch("SELECT actor, request_id FROM messages")
    [attested] = await pool.fetch("SELECT phone, kind, method, message_id, actor FROM consents")
    assert tuple(message) == ("key:1", "request-1")
    assert tuple(attested) == (TO, "attested", "api_attestation", accepted.message_id, "key:1")


async def test_a_send_says_under_which_method_consent_was_attested(send: Callable[..., Any], pool: Pool) -> None:
    await send(attestation=Attestation.automation)

    [attested] = await pool.fetch("SELECT kind, method FROM consents")
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
    assert await pool.fetchval("SELECT count(*) FROM contacts") == 1


async def test_a_key_of_our_own_is_answered_whatever_the_text_has_become(send: Callable[..., Any], pool: Pool) -> None:
    first = await send(body="Hi Ann", idempotency_key=OwnKey("step", 1, 1))
    again = await send(body="Hi Anna", idempotency_key=OwnKey("step", 1, 1))

    assert (again.message_id, again.replayed) == (first.message_id, True)
    assert await entries(pool) == [("debit", -1, 999)]


async def test_a_text_that_its_sender_hands_over_is_claimed_from_its_first_moment(
    send: Callable[..., Any], pool: Pool
) -> None:
    accepted = await send(claim=timedelta(seconds=30))
    plain = await send()

    rows = await pool.fetch("SELECT claimed_until, attempts, due_at FROM messages ORDER BY id")
    assert [row["claimed_until"] for row in rows] == [accepted.claimed_until, None]
    assert [row["attempts"] for row in rows] == [1, 0]
    assert accepted.claimed_until == rows[0]["due_at"] + timedelta(seconds=30)
    assert plain.claimed_until is None


async def test_a_first_send_opens_contact_and_conversation_once(send: Callable[..., Any], pool: Pool) -> None:
    await asyncio.gather(send(body="First"), send(body="Second"), send(body="Third"))

    assert await told(pool, "new_contact", "new_conversation") == ["new_contact", "new_conversation"]
    [opened] = await payloads(pool, "new_conversation")
    assert (opened["phone"], opened["first_message"]) == (TO, "First")
    assert await pool.fetchval("SELECT count(DISTINCT (contact_id, conversation_id)) FROM messages") == 1


async def test_a_national_number_is_read_in_the_region_of_the_account(send: Callable[..., Any], pool: Pool) -> None:
    await send(to="(202) 555-0143")

    assert await pool.fetchval("SELECT to_number FROM messages") == TO


async def test_a_segment_abroad_costs_what_the_tariff_says(send: Callable[..., Any]) -> None:
    accepted = await send(to="+447911123456", body="A" * 161)

    assert accepted.credits_remaining == 1000 - 2 * 6


async def test_the_primary_number_sends_unless_another_is_asked_for(
    send: Callable[..., Any], account: Opened, pool: Pool
) -> None:
    other = await pool.fetchval(
        "INSERT INTO phone_numbers (account_id, phone_number, label, carrier)"
        " VALUES ($1, '+15009999999', '', 'sandbox') RETURNING id",
        account.account_id,
    )

    await send()
    await send(from_phone_number_id=other)

    senders = [row["from_number"] for row in await pool.fetch("SELECT from_number FROM messages ORDER BY id")]
    assert senders == [account.phone_number, "+15009999999"]


@pytest.mark.parametrize(
    ("wish", "refusal"),
    [
        (Send(TO, "Hello", consent_attested=False), ConsentNotAttested),
        (hello(body=""), InvalidInput),
        (hello(body=" \n\t"), InvalidInput),
        (hello(body="A" * 1601), MessageTooLong),
        (hello(body="😀" * 1600), MessageTooLong),
        (hello(body="Hello\x00"), InvalidInput),
        (hello(to="+1202555014"), InvalidPhone),
        (hello(to="555-0143"), InvalidPhone),
        (hello(to=""), InvalidPhone),
        (hello(to="+442079460018"), LandlinePhone),
        (hello(from_phone_number_id=2**62), NotFound),
        (hello(from_phone_number_id=2**64), InvalidInput),
        (hello(idempotency_key=""), InvalidInput),
        (hello(idempotency_key="k" * 256), InvalidInput),
        (hello(idempotency_key="\x00"), InvalidInput),
    ],
)
async def test_what_cannot_be_sent_is_refused_and_leaves_nothing(
    services: Services, actor: Actor, pool: Pool, wish: Send, refusal: type[DomainError]
) -> None:
    with pytest.raises(refusal):
        await services.desk.accept(actor, wish)

    assert await nothing_was_kept(pool)


async def test_the_carrier_says_how_many_segments_can_be_sent(services: Services, actor: Actor, pool: Pool) -> None:
    desk = Desk(pool, services.clock, services.ring, max_segments=10)

    accepted = await desk.accept(actor, hello(body="я" * 670))
    with pytest.raises(MessageTooLong) as refused:
        await desk.accept(actor, hello(body="я" * 671))

    assert (accepted.segments, accepted.credits_remaining) == (10, 990)
    assert refused.value.facts == {"size": 11, "unit": "segments", "limit": 10}


async def test_a_number_of_another_account_cannot_send(
    send: Callable[..., Any], new_account: Callable[..., Any], pool: Pool
) -> None:
    other = await new_account()

    with pytest.raises(NotFound):
        await send(from_phone_number_id=other.phone_number_id)

    assert await nothing_was_kept(pool)


async def test_an_account_without_an_active_number_cannot_send(send: Callable[..., Any], pool: Pool) -> None:
    await pool.execute("UPDATE phone_numbers SET status = 'released'")

    with pytest.raises(NoSender):
        await send()

    assert await nothing_was_kept(pool)


async def test_a_suspended_account_cannot_send(send: Callable[..., Any], pool: Pool) -> None:
    await pool.execute("UPDATE accounts SET status = 'suspended'")

    with pytest.raises(AccountSuspended):
        await send()

    assert await nothing_was_kept(pool)


async def test_a_phone_that_opted_out_cannot_be_texted_by_anyone(
    send: Callable[..., Any], text: Callable[..., Any], pool: Pool
) -> None:
    await text("STOP")

    for purpose in (Purpose.conversational, Purpose.transactional, Purpose.promotional):
        with pytest.raises(ContactOptedOut):
            await send(purpose=purpose)

    assert await entries(pool) == []
    assert [blocked["error_code"] for blocked in await payloads(pool, "send_blocked")] == ["contact_opted_out"] * 3


async def test_a_suppressed_phone_cannot_be_texted_even_where_no_contact_has_it(
    send: Callable[..., Any], account: Opened, pool: Pool
) -> None:
    await pool.execute(
        "INSERT INTO suppressions (account_id, phone, reason) VALUES ($1, $2, 'keyword')", account.account_id, TO
    )

    with pytest.raises(ContactOptedOut):
        await send()

    assert await nothing_was_kept(pool)


async def test_an_opt_out_from_one_account_does_not_stop_another(
    services: Services, text: Callable[..., Any], new_account: Callable[..., Any]
) -> None:
    await text("STOP")
    other = await new_account()

    accepted = await services.desk.accept(Actor(other.account_id, frozenset()), hello())

    assert accepted.status == "pending"


async def test_do_not_disturb_stops_every_send(send: Callable[..., Any], act: Callable[..., Any], pool: Pool) -> None:
    async with act() as unit:
        await contacts.create(unit, {"phone": TO, "dnd_sms": True})

    for purpose in (Purpose.conversational, Purpose.transactional):
        with pytest.raises(ContactDnd):
            await send(purpose=purpose)

    assert await entries(pool) == []
    assert await payloads(pool, "send_blocked") == [
        {"to_number": TO, "error_code": "contact_dnd", "actor": "key:1"},
        {"to_number": TO, "error_code": "contact_dnd", "actor": "key:1"},
    ]


async def test_an_unclear_reply_stops_automated_sends_but_not_the_answer_of_a_person(
    send: Callable[..., Any], text: Callable[..., Any], pool: Pool
) -> None:
    await text("STOP what time is the showing")

    for purpose in (Purpose.transactional, Purpose.promotional):
        with pytest.raises(ContactHeld):
            await send(purpose=purpose)
    answer = await send(purpose=Purpose.conversational)

    assert answer.status == "pending"
    assert await entries(pool) == [("debit", -1, 999)]
    assert await pool.fetchval("SELECT count(*) FROM consents WHERE kind = 'attested'") == 0


async def test_a_recorded_consent_lets_an_opted_out_phone_be_texted_again(
    send: Callable[..., Any], text: Callable[..., Any], act: Callable[..., Any], pool: Pool
) -> None:
    await text("STOP")
    contact_id = await pool.fetchval("SELECT id FROM contacts")
    async with act() as unit:
        await consent.record_opt_in(unit, contact_id, "web_form", "I want texts from Blue Door.")

    accepted = await send()

    assert accepted.status == "pending"


async def test_what_the_account_cannot_pay_is_refused_whole(
    services: Services, new_account: Callable[..., Any], pool: Pool
) -> None:
    poor = await new_account(credits=1)

    with pytest.raises(InsufficientCredits) as refused:
        await services.desk.accept(Actor(poor.account_id, frozenset()), hello(body="A" * 161))

    assert refused.value.facts == {"needed": 2, "balance": 1}
    assert await nothing_was_kept(pool)
    await audit(pool)


async def test_sends_at_once_from_two_processes_spend_a_balance_to_its_last_credit_and_no_further(
    services: Services, new_account: Callable[..., Any], pool: Pool
) -> None:
    poor = await new_account(credits=5)
    second = Desk(pool, services.clock, services.ring, 10)
    actor = Actor(poor.account_id, frozenset())

    answers = await verdicts(
        *(desk.accept(actor, hello(to=f"+1202555{1000 + n}")) for n in range(8) for desk in (services.desk, second))
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

    answers = await verdicts(*(services.desk.accept(actor, hello()) for actor in actors))

    assert [answer.credits_remaining for answer in answers[1::2]] == [999, 998, 997, 996]
    assert [answer.credits_remaining for answer in answers[0:6:2]] == [2, 1, 0]
    assert isinstance(answers[6], InsufficientCredits)
    assert await pool.fetchval("SELECT count(*) FROM messages m JOIN contacts c ON c.id = contact_id") == 7
    assert await pool.fetchval("SELECT count(*) FROM messages m JOIN contacts USING (account_id)") == 7
    await audit(pool)


async def test_one_send_that_cannot_be_stored_does_not_spoil_its_batch(
    services: Services, actor: Actor, pool: Pool
) -> None:
    bodies = ["One", "Two\x00", "Three"]

    answers = await verdicts(*(services.desk.accept(actor, hello(body=body)) for body in bodies))

    assert [type(answer) for answer in answers] == [Acceptance, InvalidInput, Acceptance]
    assert [row["body"] for row in await pool.fetch("SELECT body FROM messages ORDER BY id")] == ["One", "Three"]
    await audit(pool)


async def test_a_send_with_a_key_that_was_answered_is_answered_again_by_any_process(
    services: Services, actor: Actor, pool: Pool
) -> None:
    first = await services.desk.accept(actor, hello(idempotency_key="order-1"))
    await services.desk.accept(actor, hello())
    restarted = Desk(pool, services.clock, services.ring, 10)

    again = await restarted.accept(actor, hello(idempotency_key="order-1"))

    assert again == Acceptance(first.message_id, 1, "pending", 999, replayed=True)
    assert len(await states(pool)) == 2
    await audit(pool)


async def test_the_answer_to_a_key_outlives_what_would_refuse_the_send_today(
    services: Services, actor: Actor, text: Callable[..., Any]
) -> None:
    first = await services.desk.accept(actor, hello(idempotency_key="order-1"))
    await text("STOP")

    again = await services.desk.accept(actor, hello(idempotency_key="order-1"))

    assert (again.message_id, again.replayed) == (first.message_id, True)


async def test_one_key_many_times_at_once_in_two_processes_sends_once(
    services: Services, actor: Actor, pool: Pool
) -> None:
    desks = [services.desk, Desk(pool, services.clock, services.ring, 10)] * 4

    answers = await asyncio.gather(*(desk.accept(actor, hello(idempotency_key="order-1")) for desk in desks))

    assert len({answer.message_id for answer in answers}) == 1
    assert sorted(answer.replayed for answer in answers) == [False] + [True] * 7
    assert await entries(pool) == [("debit", -1, 999)]


async def test_a_key_of_another_account_is_another_key(
    services: Services, actor: Actor, new_account: Callable[..., Any]
) -> None:
    other = await new_account()
    senders = [actor, Actor(other.account_id, frozenset())]

    answers = await asyncio.gather(
        *(services.desk.accept(sender, hello(idempotency_key="order-1")) for sender in senders)
    )

    assert [answer.replayed for answer in answers] == [False, False]
    assert answers[0].message_id != answers[1].message_id


async def test_a_key_used_for_another_request_is_refused(services: Services, actor: Actor, pool: Pool) -> None:
    answers = await verdicts(
        services.desk.accept(actor, hello(idempotency_key="order-1")),
        services.desk.accept(actor, hello(body="Goodbye", idempotency_key="order-1")),
    )

    assert [type(answer) for answer in answers] == [Acceptance, IdempotencyKeyReused]
    assert await entries(pool) == [("debit", -1, 999)]


async def test_a_refused_send_leaves_its_key_free(
    services: Services, actor: Actor, text: Callable[..., Any], pool: Pool
) -> None:
    await text("STOP")
    with pytest.raises(ContactOptedOut):
        await services.desk.accept(actor, hello(idempotency_key="order-1"))
    await text("START")

    accepted = await services.desk.accept(actor, hello(idempotency_key="order-1"))

    assert not accepted.replayed
    assert await entries(pool) == [("debit", -1, 999)]


async def test_a_send_and_a_reply_from_an_unknown_phone_at_once_make_one_contact(
    send: Callable[..., Any], act: Callable[..., Any], pool: Pool
) -> None:
    async with act() as unit:
        contact = await contacts.find_or_create(unit, TO, "inbound_sms")
        sending = asyncio.create_task(send())
        await until_blocked(pool)
    await sending

    assert await pool.fetchval("SELECT contact_id FROM messages") == contact.id
    assert await told(pool, "new_contact") == ["new_contact"]


async def test_sends_and_a_stop_at_once_leave_nothing_on_its_way(
    services: Services, actor: Actor, text: Callable[..., Any], pool: Pool
) -> None:
    second = Desk(pool, services.clock, services.ring, 10)
    sends = [desk.accept(actor, hello()) for desk in (services.desk, second) * 6]

    answers = await verdicts(*sends[:6], text("STOP"), *sends[6:])

    kept = sum(isinstance(answer, Acceptance) for answer in answers)
    assert sum(isinstance(answer, ContactOptedOut) for answer in answers) == len(sends) - kept
    assert [state for state in await states(pool) if state != ("pending", None)] == [
        ("failed", "contact_opted_out")
    ] * kept
    assert await pool.fetchval("SELECT balance FROM accounts") == 1000
    await audit(pool)


async def test_a_send_whose_caller_hangs_up_is_kept_all_the_same(services: Services, actor: Actor, pool: Pool) -> None:
    waiting = asyncio.create_task(services.desk.accept(actor, hello()))
    await asyncio.sleep(0)
    waiting.cancel()
    await services.desk.close()

    assert waiting.cancelled()
    assert await entries(pool) == [("debit", -1, 999)]


async def test_closing_waits_for_the_verdict_of_what_was_taken(services: Services, actor: Actor) -> None:
    sends = [asyncio.create_task(services.desk.accept(actor, hello())) for _ in range(130)]
    await asyncio.sleep(0)

    await services.desk.close()

    assert sorted(send.result().credits_remaining for send in sends) == list(range(870, 1000))


async def test_a_send_that_finds_no_database_may_be_sent_again(
    services: Services, actor: Actor, settings: Settings, pool: Pool
) -> None:
    assert settings.database_url
    away = await connect(settings.database_url, 1)
    await away.close()
    desk = Desk(away.pool, services.clock, services.ring, 10)

    with pytest.raises(Unavailable):
        await desk.accept(actor, hello())

    assert await nothing_was_kept(pool)


class BrokenClock(Clock):
    def now(self) -> Any:
        raise RuntimeError("the clock is broken")


async def test_a_defect_reaches_those_who_wait_and_the_desk_goes_on(
    services: Services, actor: Actor, pool: Pool
) -> None:
    desk = Desk(pool, BrokenClock(), services.ring, 10)

    async with asyncio.timeout(5):
        answers = await verdicts(*(desk.accept(actor, hello()) for _ in range(3)))
    desk._clock = services.clock

    assert [str(answer) for answer in answers] == ["the clock is broken"] * 3
    assert (await desk.accept(actor, hello())).credits_remaining == 999


async def test_what_the_database_says_of_a_value_is_not_told(services: Services, actor: Actor) -> None:
    with pytest.raises(InvalidInput) as refused:
        await services.desk.accept(actor, hello(body="Hello\x00"))

    assert str(refused.value) == desk.UNSTORABLE_VALUE


async def test_a_text_whose_condition_does_not_hold_any_more_is_not_kept(
    services: Services, actor: Actor, pool: Pool
) -> None:
    async def odd(_: Connection, ids: Sequence[int]) -> list[int]:
        return [id for id in ids if id % 2]

    answers = await verdicts(
        *(services.desk.accept(actor, hello(body=str(id), condition=Condition(odd, id))) for id in (1, 2, 3))
    )

    assert [type(answer) for answer in answers] == [Acceptance, Conflict, Acceptance]
    assert [row["body"] for row in await pool.fetch("SELECT body FROM messages ORDER BY id")] == ["1", "3"]
    assert await entries(pool) == [("debit", -1, 999), ("debit", -1, 998)]


async def test_the_key_of_a_text_that_is_sent_at_once_is_not_answered_by_another_operation(
    services: Services, actor: Actor, pool: Pool
) -> None:
    await services.desk.accept(actor, hello(idempotency_key="order-1"))

    with pytest.raises(IdempotencyKeyReused):
        await services.desk.accept(actor, hello(idempotency_key="order-1", claim=timedelta(seconds=30)))

    assert await entries(pool) == [("debit", -1, 999)]
