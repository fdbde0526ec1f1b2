"""Erasing a contact with everything that was said."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from app.bootstrap import open_dispatcher
from app.db.engine import Pool
from app.domain.accounts.scopes import Scope
from app.domain.consent.errors import ContactHeld, ContactOptedOut
from app.domain.contacts import service as contacts
from app.domain.erasure import service as erasure
from app.domain.erasure.service import Erased
from app.domain.events import sql
from app.domain.kernel.errors import Conflict, NotFound
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages.handoff import Handoff
from app.domain.messages.sending.acceptance import Acceptance
from app.domain.onboarding.service import Opened
from app.domain.webhooks import replays
from app.domain.webhooks import service as webhooks
from app.services import Services
from tests.conftest import unit_of
from tests.domain.messages.handing import hand_over
from tests.factories.billing import audit, balance_of, entries
from tests.factories.contacts import CONSENTS, CONTACT_TOTALS, CONTACTS, SUPPRESSIONS, id_of_contact
from tests.factories.conversations import CONVERSATIONS
from tests.factories.events import EVENTS, OUTBOX
from tests.factories.messages import ERASED_TEXTS, MESSAGES, calls, states
from tests.factories.tables import ago
from tests.factories.traps import table_locked, until_blocked
from tests.factories.webhooks import WEBHOOK_ATTEMPTS, WEBHOOK_DELIVERIES, WEBHOOK_SUBSCRIPTIONS, add_attempt

TO = "+12025550143"
UNCLEAR = "STOP what time is the showing"


@pytest.fixture
def subscribe(services: Services, account: Opened) -> Callable[..., Any]:
    """Give a function that subscribes to an event."""
    actor = Actor(account.account_id, frozenset(Scope))

    async def subscribe(event: str) -> int:
        async with unit_of(services, actor) as unit:
            return (await webhooks.subscribe(unit, services.webhooks, event, "https://hooks.example.com/x")).id

    return subscribe


async def test_an_erasure_removes_the_contact_and_all_that_was_said_and_leaves_the_others(
    send: Callable[..., Any], text: Callable[..., Any], erase: Callable[..., Any], pool: Pool
) -> None:
    await text("Hello")
    await send()
    await send("+12025550144")
    id = await id_of_contact(pool, TO)

    erased = await erase()

    assert erased == Erased(id, 2)
    assert await CONTACTS.read(pool, "phone") == ["+12025550144"]
    assert (await MESSAGES.count(pool), await CONVERSATIONS.count(pool)) == (1, 1)
    assert await CONTACT_TOTALS.only(pool, "total") == 1


async def test_an_erasure_refunds_only_texts_that_have_not_left(
    send: Callable[..., Any], erase: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    await send(body="Gone")
    await send("+15005550001", "Failed")
    await hand_over(handoff)
    await send(body="A" * 161)

    await erase()
    await erase("+15005550001")

    assert await entries(pool) == [
        ("debit", -1, 999),
        ("debit", -1, 998),
        ("refund", 1, 999),
        ("debit", -2, 997),
        ("refund", 2, 999),
    ]
    await audit(pool)


async def test_an_erased_text_is_not_handed_over(
    send: Callable[..., Any], erase: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    await send()
    await erase()

    await hand_over(handoff)

    assert await calls(pool) == []
    assert await balance_of(pool) == 1000


async def test_an_opt_out_outlives_the_contact(
    send: Callable[..., Any],
    text: Callable[..., Any],
    erase: Callable[..., Any],
    act: Callable[..., Any],
    pool: Pool,
) -> None:
    await text("STOP")

    await erase()
    with pytest.raises(ContactOptedOut):
        await send()
    async with act() as unit:
        created = await contacts.create(unit, {"phone": TO})

    assert created.status == "opted_out"
    with pytest.raises(ContactOptedOut):
        await send()
    assert await CONSENTS.read(pool, "phone", "kind") == [(TO, "opt_out")]


async def test_an_erased_contact_stays_opted_out_until_it_texts_yes(
    text: Callable[..., Any], erase: Callable[..., Any], pool: Pool
) -> None:
    await text("STOP")
    await erase()

    await text("Hello again")
    await text("YES")

    assert await CONTACTS.only(pool, "status") == "active"
    kinds = await CONSENTS.read(pool, "kind")
    assert kinds == ["opt_out", "re_opt_in"]


async def test_a_contact_of_another_account_cannot_be_erased(
    send: Callable[..., Any], act: Callable[..., Any], new_account: Callable[..., Any], pool: Pool
) -> None:
    await send()
    other: Opened = await new_account()
    await CONTACTS.change(pool, account_id=other.account_id)

    with pytest.raises(NotFound):
        async with act() as unit:
            await erasure.erase(unit, await id_of_contact(pool))

    assert (await CONTACTS.count(pool), await MESSAGES.count(pool)) == (1, 1)
    assert await entries(pool) == [("debit", -1, 999)]


async def test_two_erasures_at_once_refund_once(
    send: Callable[..., Any], erase: Callable[..., Any], pool: Pool
) -> None:
    await send()

    answers = await asyncio.gather(erase(), erase(), return_exceptions=True)

    assert sorted(type(answer).__name__ for answer in answers) == ["Erased", "NotFound"]
    assert await entries(pool) == [("debit", -1, 999), ("refund", 1, 1000)]


async def test_sends_and_hand_over_and_a_stop_at_once_with_an_erasure_lose_no_credit(
    send: Callable[..., Any], text: Callable[..., Any], erase: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    await asyncio.gather(*(send() for _ in range(4)))
    small = replace(handoff, pace=replace(handoff.pace, window=8))

    answers = await asyncio.gather(
        *(send() for _ in range(3)),
        hand_over(small),
        erase(),
        text("STOP"),
        hand_over(small),
        *(send() for _ in range(3)),
        return_exceptions=True,
    )
    while await small.due():
        await hand_over(small)

    known = Acceptance | ContactOptedOut | Erased | NotFound | bool | None
    assert [answer for answer in answers if not isinstance(answer, known)] == []
    assert ("pending", None) not in await states(pool)
    assert all(times == 1 for _, times in await calls(pool))
    await audit(pool)


async def test_an_unclear_opt_out_outlives_the_contact_as_an_opt_out(
    send: Callable[..., Any], text: Callable[..., Any], erase: Callable[..., Any], pool: Pool
) -> None:
    await text(UNCLEAR)
    with pytest.raises(ContactHeld):
        await send()

    await erase()

    with pytest.raises(ContactOptedOut):
        await send()
    assert await SUPPRESSIONS.read(pool, "phone", "reason") == [(TO, "contact_deleted")]
    assert await CONSENTS.read(pool, "kind", "method") == [("revoked_other", "contact_deleted")]


async def test_a_contact_that_never_opted_out_may_be_texted_after_an_erasure(
    send: Callable[..., Any], text: Callable[..., Any], erase: Callable[..., Any], pool: Pool
) -> None:
    await text("Hello")

    await erase()

    assert (await send()).segments == 1
    assert await SUPPRESSIONS.count(pool) == 0


async def test_an_erasure_empties_the_events_of_its_contact_only(
    text: Callable[..., Any], erase: Callable[..., Any], pool: Pool
) -> None:
    await text("A secret")
    await text("Another's", sender="+12025550144")
    id = await id_of_contact(pool, TO)

    await erase()

    assert await EVENTS.where(contact_id=id).read(pool, "payload") == [{}] * 3
    others = await EVENTS.where_not(contact_id=id).read(pool, "payload")
    assert [payload.get("body") for payload in others] == [None, None, "Another's"]


async def test_an_event_not_dispatched_before_an_erasure_is_not_dispatched_after_it(
    services: Services, text: Callable[..., Any], erase: Callable[..., Any], subscribe: Callable[..., Any], pool: Pool
) -> None:
    await subscribe("new_message")
    await text("A secret")

    await erase()
    await open_dispatcher(services).run()

    assert await WEBHOOK_DELIVERIES.count(pool) == 0
    assert await OUTBOX.count(pool) == 0


async def test_an_erasure_deletes_bodies_of_deliveries_and_answers_and_cancels_waiting_deliveries(
    services: Services,
    text: Callable[..., Any],
    erase: Callable[..., Any],
    act: Callable[..., Any],
    subscribe: Callable[..., Any],
    pool: Pool,
) -> None:
    await subscribe("new_message")
    for number, sender in enumerate((TO, TO, "+12025550144")):
        await text(f"Secret {number}", sender=sender)
    await open_dispatcher(services).run()
    done, waiting, _ = await WEBHOOK_DELIVERIES.read(pool, "id")
    await WEBHOOK_DELIVERIES.where(id=done).change(pool, status="delivered", attempts=1)
    await add_attempt(pool, done, body="You said: Secret 0")

    await erase()

    left = await WEBHOOK_DELIVERIES.read(pool, "status", "body", "next_attempt_at")
    assert [(status, body is None, due is None) for status, body, due in left] == [
        ("delivered", True, False),
        ("canceled", True, True),
        ("pending", False, False),
    ]
    assert await WEBHOOK_ATTEMPTS.read(pool, "status", "body") == [(200, "")]
    async with act() as unit:
        with pytest.raises(Conflict, match="has been deleted"):
            await replays.replay(unit, waiting)


async def test_an_erasure_raises_the_revision_of_subscriptions_whose_deliveries_it_cancels(
    services: Services, text: Callable[..., Any], erase: Callable[..., Any], subscribe: Callable[..., Any], pool: Pool
) -> None:
    concerned = await subscribe("new_message")
    await subscribe("new_opt_out")
    await text("A secret")
    await open_dispatcher(services).run()

    await erase()

    assert await WEBHOOK_SUBSCRIPTIONS.where_not(revision=0).read(pool, "id") == [concerned]


async def test_an_erasure_and_a_dispatch_at_once_leave_no_body(
    services: Services,
    text: Callable[..., Any],
    erase: Callable[..., Any],
    subscribe: Callable[..., Any],
    pool: Pool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sql, "BEGIN", sql.BEGIN.replace("100ms", "30s"))  # the dispatch waits for the erasure
    await subscribe("new_message")
    await text("A secret")
    dispatcher = open_dispatcher(services)

    async with table_locked(pool, "webhook_deliveries", "SHARE"):
        dispatching = asyncio.create_task(dispatcher.run())
        await until_blocked(pool)
        erasing = asyncio.create_task(erase())
        await until_blocked(pool, 2)
    await asyncio.gather(dispatching, erasing)

    [delivery] = await WEBHOOK_DELIVERIES.read(pool, "status", "body")
    assert tuple(delivery) == ("canceled", None)


async def test_a_text_that_the_carrier_brings_again_after_the_erasure_is_not_kept_again(
    text: Callable[..., Any], erase: Callable[..., Any], pool: Pool
) -> None:
    await text("A secret", id="in-x")
    await erase()

    await text("A secret", id="in-x")

    assert (await CONTACTS.count(pool), await MESSAGES.count(pool)) == (0, 0)
    assert await ERASED_TEXTS.read(pool, "carrier", "provider_message_id") == [("sandbox", "in-x")]
    await text("Something new", id="in-y")
    assert await MESSAGES.count(pool) == 1


async def test_a_text_of_long_ago_is_not_noted(text: Callable[..., Any], erase: Callable[..., Any], pool: Pool) -> None:
    await text("A secret", id="in-x")
    await MESSAGES.change(pool, created_at=ago(days=8))

    await erase()

    assert await ERASED_TEXTS.count(pool) == 0
