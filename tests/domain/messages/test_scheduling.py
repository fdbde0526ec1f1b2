"""Texts that are sent later, canceled texts, and replies to a conversation that others have changed."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.domain.carriers.carrier import InboundMessage
from app.domain.conversations import service as conversations
from app.domain.conversations.models import ConversationStatus
from app.domain.kernel.errors import Conflict, DomainError, InvalidInput
from app.domain.kernel.paging import Window
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages.errors import ConversationHasChanged
from app.domain.messages.replies import Reply, reply
from app.domain.messages.requests import Acceptance, Send
from app.domain.messages.sending import scheduling
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.conftest import UnitFor
from tests.domain.messages.handing import hand_over
from tests.factories.accounts import ACCOUNTS
from tests.factories.billing import LEDGER_ENTRIES
from tests.factories.contacts import CONTACTS
from tests.factories.conversations import CONVERSATIONS
from tests.factories.messages import MESSAGES, OUTGOING

PHONE = "+12025550143"


async def text_in(services: Services, account: Opened) -> int:
    """Have a contact text in; return the id of the conversation."""
    await services.inbox.receive("sandbox", InboundMessage("in-1", PHONE, account.phone_number, "Hello"))
    return await CONVERSATIONS.only(services, "id")


async def answer(services: Services, account: Opened, unit_for: UnitFor, id: int, **wanted: Any) -> Acceptance:
    async with unit_for(account) as unit:
        return await reply(unit, services.acceptor, id, Reply(**{"body": "Hi", **wanted}))


def in_an_hour() -> datetime:
    return datetime.now(UTC) + timedelta(hours=1)


async def test_a_text_that_is_sent_later_is_debited_now_and_leaves_at_its_time(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    id = await text_in(services, account)
    at = in_an_hour()

    sent = await answer(services, account, unit_for, id, send_at=at)
    await hand_over(services.handoff)

    assert (sent.status, sent.credits_remaining) == ("pending", 999)
    async with unit_for(account) as unit:
        listed = await scheduling.find_page(unit, id, Window())
        assert [(each.message_id, each.send_at) for each in listed.nodes] == [(sent.message_id, at)]
        assert await scheduling.find_times(unit, [sent.message_id]) == {sent.message_id: at}
    await OUTGOING.change(services, due_at=datetime.now(UTC))
    await hand_over(services.handoff)
    assert await MESSAGES.where(id=sent.message_id).only(services, "status") == "sent"
    async with unit_for(account) as unit:
        assert (await scheduling.find_page(unit, None, Window())).nodes == []


async def test_a_scheduled_text_passes_the_gates_again_when_it_leaves(services: Services, account: Opened) -> None:
    actor = Actor(account.account_id, frozenset(), "test")
    sent = await services.acceptor.accept(actor, Send(PHONE, "Hi", consent_attested=True, send_at=in_an_hour()))
    await CONTACTS.change(services, dnd_sms=True)

    await OUTGOING.change(services, due_at=datetime.now(UTC))
    await hand_over(services.handoff)

    row = await MESSAGES.where(id=sent.message_id).only(services, "status", "error_code")
    assert tuple(row) == ("failed", "contact_dnd")
    assert await ACCOUNTS.only(services, "balance") == 1000


@pytest.mark.parametrize("ahead", [timedelta(0), timedelta(days=36)])
async def test_a_text_is_sent_in_the_future_and_within_35_days(
    services: Services, account: Opened, unit_for: UnitFor, ahead: timedelta
) -> None:
    id = await text_in(services, account)

    with pytest.raises(InvalidInput, match=r"^send_at must be a time in the future, at most 35 days away"):
        await answer(services, account, unit_for, id, send_at=datetime.now(UTC) + ahead)

    assert await MESSAGES.count(services) == 1


async def test_a_text_is_canceled_and_refunded_once_before_it_leaves_and_not_after(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    id = await text_in(services, account)
    later = await answer(services, account, unit_for, id, send_at=in_an_hour())
    now = await answer(services, account, unit_for, id, body="Now")
    await hand_over(services.handoff)

    for _ in range(2):
        async with unit_for(account) as unit:
            canceled = await scheduling.cancel(unit, later.message_id)
            assert (canceled.status, canceled.error_code, canceled.cost) == ("failed", "canceled", 0)
    with pytest.raises(Conflict, match="can not be canceled any more: its status is sent"):
        async with unit_for(account) as unit:
            await scheduling.cancel(unit, now.message_id)

    assert await OUTGOING.count(services) == 0
    amounts = await LEDGER_ENTRIES.where(message_id=later.message_id).read(services, "amount")
    assert (amounts, await ACCOUNTS.only(services, "balance")) == ([-1, 1], 999)


async def test_a_contact_waits_again_since_its_first_text_once_no_answer_is_left(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    id = await text_in(services, account)
    since = await MESSAGES.where(direction="inbound").only(services, "created_at")
    answers = [await answer(services, account, unit_for, id, send_at=in_an_hour()) for _ in range(2)]
    waits = [await CONVERSATIONS.only(services, "waiting_since")]

    for each in answers:
        async with unit_for(account) as unit:
            await scheduling.cancel(unit, each.message_id)
        waits.append(await CONVERSATIONS.only(services, "waiting_since"))

    assert waits == [None, None, since]


@pytest.mark.parametrize("reopens", [False, True])
async def test_a_contact_whose_conversation_was_closed_does_not_wait_again_after_a_canceled_text(
    services: Services, account: Opened, unit_for: UnitFor, reopens: bool
) -> None:
    id = await text_in(services, account)
    later = await answer(services, account, unit_for, id, send_at=in_an_hour())
    async with unit_for(account) as unit:
        await conversations.update(unit, id, {"status": ConversationStatus.closed})
    if reopens:
        async with unit_for(account) as unit:
            await conversations.update(unit, id, {"status": ConversationStatus.open})

    async with unit_for(account) as unit:
        await scheduling.cancel(unit, later.message_id)

    assert await CONVERSATIONS.only(services, "waiting_since") is None


async def test_of_two_people_who_answer_the_same_version_one_is_refused(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    id = await text_in(services, account)
    replies = [answer(services, account, unit_for, id, body=body, expected_version=0) for body in ("One", "Two")]

    outcomes = await asyncio.gather(*replies, return_exceptions=True)

    assert sorted(type(each).__name__ for each in outcomes) == ["Acceptance", "ConversationHasChanged"]
    assert await CONVERSATIONS.only(services, "version") == 1
    with pytest.raises(ConversationHasChanged, match="it is version 1 now, open, and assigned to nobody"):
        await answer(services, account, unit_for, id, expected_version=0)
    assert (await answer(services, account, unit_for, id, expected_version=1)).credits_remaining == 998
    assert (await answer(services, account, unit_for, id, body="All the same")).credits_remaining == 997


async def test_a_repeated_reply_is_answered_again_though_the_version_is_another_by_then(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    id = await text_in(services, account)
    wanted = {"expected_version": 0, "idempotency_key": "reply-1"}

    first, again = [await answer(services, account, unit_for, id, **wanted) for _ in range(2)]

    assert (again.message_id, again.replayed) == (first.message_id, True)
    with pytest.raises(DomainError, match="was used for another request"):
        await answer(services, account, unit_for, id, **wanted, send_at=in_an_hour())
    assert await ACCOUNTS.only(services, "balance") == 999
