"""Promotional texts leave conversations at their places in lists, and add none to the views of an inbox."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from app.db.engine import Connection
from app.domain.accounts import queries as accounts
from app.domain.carriers.carrier import InboundMessage
from app.domain.contacts import queries as contacts
from app.domain.contacts.queries import ContactFilter, ContactSort
from app.domain.conversations import notes, queries, service
from app.domain.conversations.models import ConversationStatus
from app.domain.conversations.queries import ConversationCounts, ConversationFilter
from app.domain.kernel.paging import Window
from app.domain.kernel.sms_parts import count
from app.domain.kernel.unit_of_work import Actor, UnitOfWork
from app.domain.messages import queries as messages
from app.domain.messages.models import Purpose
from app.domain.messages.requests import Send
from app.domain.onboarding.service import Opened
from app.domain.segments import lists
from app.services import Services
from tests.domain.conftest import UnitFor
from tests.factories.conversations import CONVERSATIONS, count_writes

ANN, BEN = "+12025550143", "+12025550144"
Texts = Callable[..., Awaitable[int]]


@pytest.fixture
def text_in(services: Services, account: Opened) -> Texts:
    """Provide a function by which a contact writes; it returns the id of the contact."""

    async def text_in(phone: str, body: str = "Hello") -> int:
        inbound = InboundMessage(f"in-{phone}-{body}", phone, account.phone_number, body)
        await services.inbox.receive("sandbox", inbound)
        return await CONVERSATIONS.last(services, "contact_id")

    return text_in


@pytest.fixture
def send(services: Services, account: Opened) -> Texts:
    """Provide a function that sends a text, a promotional one unless told; it returns the id of the conversation."""

    async def send(phone: str, purpose: Purpose = Purpose.promotional) -> int:
        await services.acceptor.accept(actor_of(account), hello(phone, purpose))
        return await CONVERSATIONS.last(services, "id")

    return send


def actor_of(account: Opened) -> Actor:
    return Actor(account.account_id, frozenset(), "campaign:1")


def hello(phone: str, purpose: Purpose) -> Send:
    return Send(phone, "Sale", consent_attested=True, purpose=purpose)


async def accept(services: Services, account: Opened, connection: Connection, *sends: Send) -> None:
    """Accept texts together, in an open transaction."""
    await services.acceptor.accept_all(connection, actor_of(account), [(each, count(each.body)) for each in sends])


async def listed(unit_for: UnitFor, account: Opened, **wanted: Any) -> list[str]:
    """Return the phones of the conversations of a list, in its order."""
    async with unit_for(account) as unit:
        page = await queries.find_page(unit, ConversationFilter(**wanted), Window())
        found = await contacts.find_many(unit, [each.contact_id for each in page.nodes])
        return [found[each.contact_id].phone or "" for each in page.nodes]


async def test_a_promotional_text_moves_no_conversation_and_other_texts_do(
    account: Opened, unit_for: UnitFor, text_in: Texts, send: Texts
) -> None:
    await text_in(ANN)
    await text_in(BEN)

    await send(ANN)
    assert await listed(unit_for, account) == [BEN, ANN]

    await send(ANN, Purpose.transactional)
    assert await listed(unit_for, account) == [ANN, BEN]


async def test_a_conversation_of_promotional_texts_is_found_by_search_and_contact_alone(
    account: Opened, unit: UnitOfWork, unit_for: UnitFor, services: Services, text_in: Texts, send: Texts
) -> None:
    await text_in(ANN)
    await send(BEN)
    ben = await CONVERSATIONS.last(services, "contact_id")

    assert await listed(unit_for, account) == [ANN]
    assert await listed(unit_for, account, status=ConversationStatus.open, unassigned=True) == [ANN]
    assert await queries.count(unit) == ConversationCounts(1, 0, 1, 1, 0, 0)
    assert await listed(unit_for, account, search="5550144") == [BEN]
    assert await listed(unit_for, account, search="+1202555014") == [ANN, BEN]
    assert await listed(unit_for, account, contact_id=ben) == [BEN]


@pytest.mark.parametrize("purpose", [None, Purpose.conversational, Purpose.transactional])
async def test_the_answer_of_the_contact_and_a_text_of_a_person_list_it(
    account: Opened, unit_for: UnitFor, text_in: Texts, send: Texts, purpose: Purpose | None
) -> None:
    await send(BEN)
    await text_in(ANN)

    await (send(BEN, purpose) if purpose else text_in(BEN, "Yes"))

    assert await listed(unit_for, account) == [BEN, ANN]


async def test_a_change_and_a_note_of_a_user_list_it_by_the_time_of_its_text(
    account: Opened, unit: UnitOfWork, unit_for: UnitFor, text_in: Texts, send: Texts
) -> None:
    ids = [await send(phone) for phone in (ANN, BEN)]
    await text_in("+12025550145")
    [owner] = await accounts.list_users(unit)

    async with unit_for(account) as changing:
        await service.assign(changing, ids[0], owner.id)
        await notes.add(changing, ids[1], "An old friend")

    assert await listed(unit_for, account) == ["+12025550145", BEN, ANN]
    assert await listed(unit_for, account, assignee_id=owner.id) == [ANN]


async def test_reading_it_lists_it_not(account: Opened, unit_for: UnitFor, send: Texts) -> None:
    id = await send(ANN)

    async with unit_for(account) as unit:
        await service.update(unit, id, {}, service.Reading(1, 0))

    assert await listed(unit_for, account) == []


async def test_texts_of_both_kinds_that_open_a_conversation_together_list_it(
    account: Opened, unit_for: UnitFor, services: Services
) -> None:
    async with services.database.pool.acquire() as connection, connection.transaction():
        both = hello(ANN, Purpose.transactional), hello(ANN, Purpose.promotional)
        await accept(services, account, connection, *both)

    assert await listed(unit_for, account) == [ANN]
    assert await CONVERSATIONS.last(services, "version") == 2


async def test_the_shown_message_and_its_time_are_promotional_only_without_another(
    unit: UnitOfWork, services: Services, text_in: Texts, send: Texts
) -> None:
    await text_in(ANN, "Hello")
    talked = await send(ANN)
    told = await send(BEN)

    last = await messages.find_last(unit, [talked, told])

    assert {id: message.body for id, message in last.items()} == {talked: "Hello", told: "Sale"}
    at, arrived_at = await CONVERSATIONS.where(id=talked).only(services, "last_message_at", "last_inbound_at")
    assert at == arrived_at
    conversation = await queries.get(unit, told)
    assert conversation.shown_at == conversation.last_outbound_at == last[told].created_at


async def test_contacts_are_sorted_by_messages_other_than_promotional_ones(
    unit: UnitOfWork, text_in: Texts, send: Texts
) -> None:
    ann = await text_in(ANN)
    await send(BEN)

    page = await lists.find_page(unit, ContactFilter(), ContactSort.last_message, Window())

    assert [each.phone for each in page.nodes] == [ANN]
    assert list(await queries.find_last_messages(unit, [ann, ann + 1])) == [ann]


async def test_a_promotional_text_writes_a_conversation_once_and_no_entry_of_an_index(
    account: Opened, services: Services, send: Texts
) -> None:
    assert await written(services, account, ANN) == (1, 0, 0)
    assert await written(services, account, ANN) == (0, 1, 1)
    await send(ANN, Purpose.transactional)
    assert await written(services, account, ANN) == (0, 1, 1)


async def written(services: Services, account: Opened, phone: str) -> tuple[int, int, int]:
    """Return the rows that a promotional text inserts, updates, and updates without changing an index."""
    async with services.database.pool.acquire() as connection, connection.transaction():
        before = await count_writes(connection)
        await accept(services, account, connection, hello(phone, Purpose.promotional))
        after = await count_writes(connection)
    return after[0] - before[0], after[1] - before[1], after[2] - before[2]
