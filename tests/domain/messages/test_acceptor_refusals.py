"""Refused sends, which have no effect."""

from collections.abc import Callable
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.accounts.errors import AccountSuspended
from app.domain.billing.service import InsufficientCredits
from app.domain.consent.errors import ContactHeld, ContactOptedOut
from app.domain.consent.service import Evidence
from app.domain.contacts import opt_outs
from app.domain.contacts import service as contacts
from app.domain.contacts.errors import ContactDnd
from app.domain.kernel.errors import DomainError, InvalidInput, NotFound
from app.domain.kernel.phone import InvalidPhone, LandlinePhone
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages.errors import ConsentNotAttested, MessageTooLong, NoSender
from app.domain.messages.models import Purpose
from app.domain.messages.requests import Send
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.messages.sends import TO, hello, nothing_was_kept
from tests.factories.accounts import ACCOUNTS
from tests.factories.billing import audit, entries
from tests.factories.carriers import change_connection
from tests.factories.contacts import CONSENTS, id_of_contact, suppress
from tests.factories.events import payloads
from tests.factories.numbers import PHONE_NUMBERS


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
async def test_an_invalid_send_is_refused_and_not_stored(
    services: Services, actor: Actor, pool: Pool, wish: Send, refusal: type[DomainError]
) -> None:
    with pytest.raises(refusal):
        await services.acceptor.accept(actor, wish)

    assert await nothing_was_kept(pool)


async def test_the_carrier_says_how_many_segments_can_be_sent(services: Services, actor: Actor, pool: Pool) -> None:
    await change_connection(pool, "sandbox", settings={"max_segments": 10})
    services.connections.expire()

    accepted = await services.acceptor.accept(actor, hello(body="я" * 670))
    with pytest.raises(MessageTooLong) as refused:
        await services.acceptor.accept(actor, hello(body="я" * 671))

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
    await PHONE_NUMBERS.change(pool, status="released")

    with pytest.raises(NoSender):
        await send()

    assert await nothing_was_kept(pool)


async def test_a_suspended_account_cannot_send(send: Callable[..., Any], pool: Pool) -> None:
    await ACCOUNTS.change(pool, status="suspended")

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
    await suppress(pool, account.account_id, TO)

    with pytest.raises(ContactOptedOut):
        await send()

    assert await nothing_was_kept(pool)


async def test_an_opt_out_from_one_account_does_not_stop_another(
    services: Services, text: Callable[..., Any], new_account: Callable[..., Any]
) -> None:
    await text("STOP")
    other = await new_account()

    accepted = await services.acceptor.accept(Actor(other.account_id, frozenset()), hello())

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
    assert await CONSENTS.where(kind="attested").count(pool) == 0


async def test_a_recorded_consent_lets_an_opted_out_phone_be_texted_again(
    send: Callable[..., Any], text: Callable[..., Any], act: Callable[..., Any], pool: Pool
) -> None:
    await text("STOP")
    contact_id = await id_of_contact(pool)
    async with act() as unit:
        await opt_outs.record_opt_in(unit, contact_id, Evidence("web_form", "I want texts from Blue Door."))

    accepted = await send()

    assert accepted.status == "pending"


async def test_a_send_that_exceeds_the_balance_is_refused_whole(
    services: Services, new_account: Callable[..., Any], pool: Pool
) -> None:
    poor = await new_account(credits=1)

    with pytest.raises(InsufficientCredits) as refused:
        await services.acceptor.accept(Actor(poor.account_id, frozenset()), hello(body="A" * 161))

    assert refused.value.facts == {"needed": 2, "balance": 1}
    assert await nothing_was_kept(pool)
    await audit(pool)
