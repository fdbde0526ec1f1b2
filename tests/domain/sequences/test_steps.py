"""Sending steps: in order, once each, whatever dies on the way."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.contacts import custom_fields
from app.domain.contacts import service as contacts
from app.domain.contacts.custom_fields import NewField
from app.domain.contacts.models import CustomFieldType
from app.domain.messages.acceptor import SendAcceptor
from app.domain.messages.requests import Send
from app.domain.messages.sending.acceptance import Acceptance
from app.domain.sequences import enrollments
from app.domain.sequences.definition import NewStep
from app.domain.sequences.events import DripCompleted
from app.domain.sequences.steps import Drip
from app.domain.templates import service as templates
from app.services import Services
from tests.domain.messages.handing import hand_over
from tests.domain.sequences.acceptors import HOUR, with_acceptor
from tests.domain.sequences.conftest import PHONE, after, bodies, standing, wait
from tests.factories.accounts import ACCOUNTS
from tests.factories.billing import audit, balance_of
from tests.factories.clocks import At
from tests.factories.contacts import CONSENTS, CONTACTS
from tests.factories.events import event_names, payloads
from tests.factories.messages import MESSAGES, OUTBOUND
from tests.factories.sequences import SEQUENCE_ENROLLMENTS
from tests.waiting import within


class Dying(SendAcceptor):
    """An acceptor whose caller dies as soon as a send is accepted."""

    async def accept(self, actor: Any, send: Send) -> Acceptance:
        await super().accept(actor, send)
        raise asyncio.CancelledError


async def test_steps_are_sent_one_after_the_other_and_then_it_is_told(
    make: Callable[..., Any],
    enroll: Callable[..., Any],
    deliver: Callable[..., Any],
    drip: Drip,
    pool: Pool,
    contact_id: int,
) -> None:
    sequence_id = await make()
    await enroll(sequence_id)

    await drip.run()
    first = await standing(pool), await bodies(pool), await wait(pool)
    early = await after(drip, minutes=59).due()
    await after(drip, minutes=61).run()
    unsent = await standing(pool), await payloads(pool, "drip_completed")
    await deliver()

    assert first == ([("active", "", 2)], ["Welcome, Ann!"], HOUR)
    assert early is False
    assert unsent == ([("finishing", "", 3)], [])
    assert await standing(pool) == [("completed", "", 3)]
    assert await bodies(pool) == ["Welcome, Ann!", "How do you like it?"]
    [completed] = await payloads(pool, "drip_completed")
    assert list(completed) == list(DripCompleted.example)
    assert completed | {"completed_at": ""} == {
        "contact_id": contact_id,
        "first_name": "Ann",
        "last_name": "Lee",
        "phone": PHONE,
        "email": "ann@example.com",
        "sequence_id": sequence_id,
        "sequence_name": "Welcome",
        "completed_at": "",
    }
    assert not await after(drip, days=365).due()
    await audit(pool)


async def test_a_step_is_a_promotional_text_with_its_consent_and_its_debit(
    make: Callable[..., Any], enroll: Callable[..., Any], drip: Drip, pool: Pool
) -> None:
    sequence_id = await make()
    await enroll(sequence_id)

    await drip.run()

    [message] = await MESSAGES.read(pool, "id", "purpose", "actor", "to_number", "credits")
    assert tuple(message) == (message["id"], "promotional", f"sequence:{sequence_id}", PHONE, 1)
    [attested] = await CONSENTS.where(message_id=message["id"]).read(pool, "method", "actor")
    assert tuple(attested) == ("enrollment", f"sequence:{sequence_id}")


async def test_a_step_sent_by_a_worker_that_died_before_it_went_on_is_not_sent_again(
    make: Callable[..., Any],
    enroll: Callable[..., Any],
    deliver: Callable[..., Any],
    services: Services,
    drip: Drip,
    pool: Pool,
) -> None:
    await enroll(await make(NewStep(0, "Only")))
    with pytest.raises(asyncio.CancelledError):
        await with_acceptor(Dying, services, drip).run()
    claimed = await standing(pool), await drip.due()
    await CONTACTS.change(pool, first_name="Changed since")

    until = await SEQUENCE_ENROLLMENTS.only(pool, "claimed_until")
    assert not await replace(drip, clock=At(until - timedelta(seconds=1))).due()
    await replace(drip, clock=At(until)).run()
    await deliver()
    await after(drip, minutes=4).run()
    await deliver()

    assert claimed == ([("active", "", 1)], False)
    assert await bodies(pool) == ["Only"]
    assert await standing(pool) == [("completed", "", 2)]
    assert await event_names(pool, "drip_completed") == ["drip_completed"]
    await audit(pool)


@pytest.mark.parametrize("words", ["Thanks, who is this?", "STOP"])
async def test_a_sent_last_step_completes_the_sequence_despite_a_text_received_before_it_is_recorded(
    *,
    make: Callable[..., Any],
    enroll: Callable[..., Any],
    text: Callable[..., Any],
    deliver: Callable[..., Any],
    services: Services,
    drip: Drip,
    pool: Pool,
    words: str,
) -> None:
    await enroll(await make(NewStep(0, "Only")))
    with pytest.raises(asyncio.CancelledError):
        await with_acceptor(Dying, services, drip).run()
    await hand_over(services.handoff)
    await text(words)
    await deliver()

    await after(drip, minutes=2).run()

    assert (await bodies(pool)).count("Only") == 1
    assert await standing(pool) == [("completed", "", 2)]
    assert await event_names(pool, "drip_completed") == ["drip_completed"]


async def test_a_reply_after_a_step_that_was_not_the_last_ends_the_enrollment(
    *,
    make: Callable[..., Any],
    enroll: Callable[..., Any],
    text: Callable[..., Any],
    dispatch: Callable[..., Any],
    services: Services,
    drip: Drip,
    pool: Pool,
) -> None:
    await enroll(await make())
    with pytest.raises(asyncio.CancelledError):
        await with_acceptor(Dying, services, drip).run()
    await text("Thanks, who is this?")
    await dispatch()

    await after(drip, minutes=2).run()

    assert await bodies(pool) == ["Welcome, Ann!"]
    assert await standing(pool) == [("exited", "replied", 1)]


def interrupted(services: Services, drip: Drip, interrupt: Callable[[], Any]) -> Drip:
    """Return a drip in which something happens between the claim of a step and its sending."""

    class Interrupted(SendAcceptor):
        async def accept(self, actor: Any, send: Send) -> Acceptance:
            await interrupt()
            return await super().accept(actor, send)

    return with_acceptor(Interrupted, services, drip)


async def test_a_step_is_not_sent_once_its_enrollment_was_ended(
    make: Callable[..., Any],
    enroll: Callable[..., Any],
    act: Callable[..., Any],
    services: Services,
    drip: Drip,
    pool: Pool,
) -> None:
    enrolled = await enroll(await make())

    async def unenroll() -> None:
        async with act() as unit:
            await enrollments.unenroll(unit, enrolled.enrollment_id)

    await interrupted(services, drip, unenroll).run()

    assert await bodies(pool) == []
    assert await standing(pool) == [("exited", "removed", 1)]
    assert await balance_of(pool) == 1000


async def test_a_step_is_not_sent_once_the_contact_has_replied_whether_or_not_that_was_heard(
    make: Callable[..., Any],
    enroll: Callable[..., Any],
    text: Callable[..., Any],
    services: Services,
    drip: Drip,
    pool: Pool,
) -> None:
    await enroll(await make())

    await interrupted(services, drip, lambda: text("Thanks, who is this?")).run()
    is_due = await drip.due()
    await drip.run()

    assert is_due
    assert await bodies(pool) == []
    assert await standing(pool) == [("exited", "replied", 1)]


async def test_a_text_that_is_no_reply_delays_a_step_by_one_look(
    make: Callable[..., Any],
    enroll: Callable[..., Any],
    text: Callable[..., Any],
    services: Services,
    drip: Drip,
    pool: Pool,
) -> None:
    await enroll(await make())

    await interrupted(services, drip, lambda: text("Out of office")).run()
    before = await bodies(pool)
    await drip.run()

    assert (before, await bodies(pool)) == ([], ["Welcome, Ann!"])


async def test_a_step_whose_worker_slept_past_its_claim_is_sent_and_told_once(
    make: Callable[..., Any],
    enroll: Callable[..., Any],
    deliver: Callable[..., Any],
    services: Services,
    drip: Drip,
    pool: Pool,
) -> None:
    await enroll(await make(NewStep(0, "Only")))
    asleep, wake = asyncio.Event(), asyncio.Event()

    class Asleep(SendAcceptor):
        async def accept(self, actor: Any, send: Send) -> Acceptance:
            asleep.set()
            await within("the test to wake the worker", wake.wait())
            return await super().accept(actor, send)

    sleeper = asyncio.create_task(with_acceptor(Asleep, services, drip).run())
    await within("the worker to fall asleep", asleep.wait())
    await after(drip, minutes=2).run()
    await deliver()
    wake.set()
    await sleeper
    await deliver()

    assert await bodies(pool) == ["Only"]
    assert await standing(pool) == [("completed", "", 2)]
    assert await event_names(pool, "drip_completed") == ["drip_completed"]
    await audit(pool)


async def test_many_workers_send_each_step_once(
    *,
    act: Callable[..., Any],
    make: Callable[..., Any],
    enroll: Callable[..., Any],
    deliver: Callable[..., Any],
    drip: Drip,
    pool: Pool,
) -> None:
    sequence_id = await make(NewStep(0, "Only"))
    for number in range(20):
        async with act() as unit:
            contact = await contacts.create(unit, {"phone": f"+1202555{1000 + number}"})
        await enroll(sequence_id, contact.id)
    small = replace(drip, batch=3)

    while await drip.due():
        await asyncio.gather(*(small.run() for _ in range(4)))
    await deliver()

    assert await bodies(pool) == ["Only"] * 20
    assert len(await event_names(pool, "drip_completed")) == 20
    await audit(pool)


async def test_a_full_batch_says_that_there_may_be_more(
    make: Callable[..., Any], enroll: Callable[..., Any], drip: Drip
) -> None:
    for name in ("One", "Two", "Three"):
        await enroll(await make(NewStep(0, "Only"), name=name))
    pairs = replace(drip, batch=2)

    assert [await pairs.run(), await pairs.run()] == [True, False]


async def test_a_step_goes_to_no_phone_that_the_contact_got_after_its_enrollment(
    act: Callable[..., Any],
    make: Callable[..., Any],
    enroll: Callable[..., Any],
    services: Services,
    drip: Drip,
    pool: Pool,
) -> None:
    contact_id = (await enroll(await make())).contact_id

    class Meanwhile(SendAcceptor):
        async def accept(self, actor: Any, send: Send) -> Acceptance:
            async with act() as unit:
                await contacts.update(unit, contact_id, {"phone": "+12025550199"})
            return await super().accept(actor, send)

    await with_acceptor(Meanwhile, services, drip).run()
    before = await bodies(pool), await standing(pool)
    await after(drip, hours=1.1).run()

    assert before == ([], [("active", "", 1)])
    assert await standing(pool) == [("exited", "phone_changed", 1)]
    assert (await CONTACTS.count(pool), await MESSAGES.count(pool)) == (1, 0)
    assert await CONSENTS.read(pool, "phone", "method") == [(PHONE, "enrollment")]


async def test_a_contact_that_is_enrolled_as_it_gets_another_phone_gets_the_texts_there(
    act: Callable[..., Any], make: Callable[..., Any], drip: Drip, pool: Pool, contact_id: int
) -> None:
    sequence_id = await make()
    async with act() as unit:
        await contacts.update(unit, contact_id, {"phone": "+12025550199"})
        await enrollments.enroll(unit, sequence_id, contact_id)

    await drip.run()

    assert await MESSAGES.read(pool, "to_number") == ["+12025550199"]
    assert await CONSENTS.where(message_id=None).read(pool, "phone", "method") == [("+12025550199", "enrollment")]


async def test_a_contact_that_is_erased_while_its_step_is_sent_does_not_come_back(
    make: Callable[..., Any],
    enroll: Callable[..., Any],
    services: Services,
    drip: Drip,
    pool: Pool,
) -> None:
    await enroll(await make())

    class Meanwhile(SendAcceptor):
        async def accept(self, actor: Any, send: Send) -> Acceptance:
            await CONTACTS.delete(pool)
            return await super().accept(actor, send)

    await with_acceptor(Meanwhile, services, drip).run()

    assert await CONTACTS.count(pool) == 0
    assert (await bodies(pool), await standing(pool)) == ([], [])


async def test_a_step_shows_custom_fields_and_the_fallbacks_of_the_account(
    make: Callable[..., Any],
    enroll: Callable[..., Any],
    act: Callable[..., Any],
    drip: Drip,
    pool: Pool,
    contact_id: int,
) -> None:
    async with act() as unit:
        await custom_fields.create(unit, NewField("color"))
        await custom_fields.create(unit, NewField("born", type=CustomFieldType.date))
        await contacts.update(unit, contact_id, {"custom_fields": {"born": "1990-05-17"}, "last_name": None})
        await templates.set_fallback(unit, "last_name", "friend")
    await enroll(await make(NewStep(0, "{last_name} {custom.color|blue} {custom.born:date(d MMMM)} {email|none}")))

    await drip.run()

    assert await bodies(pool) == ["friend blue 17 May ann@example.com"]


async def test_a_step_is_encoded_where_the_account_says_so(make: Any, enroll: Any, drip: Drip, pool: Pool) -> None:
    await ACCOUNTS.change(pool, smart_encoding=True)
    await enroll(await make(NewStep(0, "A" * 158 + "’A")))

    await drip.run()

    kept = await OUTBOUND.read(pool, "body", "original_body", "segments")
    assert kept == [("A" * 158 + "'A", "A" * 158 + "’A", 1)]
