"""Records of one account cannot be read or changed by another."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from app.domain.accounts import api_keys as keys
from app.domain.accounts import queries as accounts
from app.domain.billing import queries as billing
from app.domain.carriers.carrier import InboundMessage
from app.domain.consent import queries as consents
from app.domain.consent.service import Evidence
from app.domain.contacts import opt_outs
from app.domain.contacts import queries as contacts
from app.domain.contacts import service as people
from app.domain.contacts.queries import ContactFilter, ContactSort
from app.domain.conversations import queries as conversations
from app.domain.conversations import review
from app.domain.conversations import service as threads
from app.domain.conversations.queries import ConversationFilter
from app.domain.erasure import service as erasure
from app.domain.kernel.errors import NotFound
from app.domain.kernel.paging import Total, Window
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages import queries as messages
from app.domain.numbers import queries as numbers
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.conftest import UnitFor
from tests.factories.messages import id_of_message
from tests.factories.snapshots import rows

PHONE = "+12025550143"
Verb = Callable[[UnitOfWork, dict[str, int]], Awaitable[Any]]

VERBS: dict[str, Verb] = {
    "contacts.get": lambda unit, ids: contacts.get(unit, ids["contact"]),
    "contacts.get locked": lambda unit, ids: contacts.get(unit, ids["contact"], lock=True),
    "contacts.get_by_phone": lambda unit, _: people.get_by_phone(unit, PHONE),
    "contacts.get by either": lambda unit, ids: people.get(unit, ids["contact"], None),
    "contacts.update": lambda unit, ids: people.update(unit, ids["contact"], {"first_name": "Eve", "tags": ["x"]}),
    "contacts.update phone": lambda unit, ids: people.update(unit, ids["contact"], {"phone": "+12025550199"}),
    "contacts.add_tag": lambda unit, ids: people.add_tag(unit, ids["contact"], "x"),
    "contacts.remove_tag": lambda unit, ids: people.remove_tag(unit, ids["contact"], "vip"),
    "contacts.record_opt_out": lambda unit, ids: opt_outs.record_opt_out(
        unit, ids["contact"], Evidence("verbal", "Stop")
    ),
    "contacts.record_opt_in": lambda unit, ids: opt_outs.record_opt_in(unit, ids["contact"], Evidence("verbal", "Yes")),
    "contacts.release_hold": lambda unit, ids: opt_outs.release_hold(unit, ids["contact"], opted_out=True),
    "messages.erase": lambda unit, ids: erasure.erase(unit, ids["contact"]),
    "messages.get": lambda unit, ids: messages.get(unit, ids["message"]),
    "conversations.get": lambda unit, ids: conversations.get(unit, ids["conversation"]),
    "conversations.update": lambda unit, ids: threads.update(unit, ids["conversation"], {"read": True}),
    "conversations.decide": lambda unit, ids: review.decide(unit, ids["conversation"], opted_out=True),
    "accounts.get_key": lambda unit, ids: accounts.get_key(unit, ids["key"]),
    "accounts.get_key locked": lambda unit, ids: accounts.get_key(unit, ids["key"], lock=True),
    "accounts.show_key": lambda unit, ids: accounts.show_key(unit, ids["key"]),
    "accounts.revoke_key": lambda unit, ids: keys.revoke_key(unit, ids["key"]),
}


@pytest.fixture
async def ids(services: Services, account: Opened, unit_for: UnitFor) -> dict[str, int]:
    """Give the ids of a contact, a message, a conversation and a key of the account's."""
    async with unit_for(account) as unit:
        contact = await people.create(unit, {"phone": PHONE, "tags": ["vip"]})
        [key, _] = await accounts.list_keys(unit)
    await services.inbox.receive("sandbox", InboundMessage("in-1", PHONE, account.phone_number, "Hello"))
    async with unit_for(account) as unit:
        conversation = await conversations.find_by_contact(unit, contact.id)
        assert conversation is not None
        message = await id_of_message(services)
        return {"contact": contact.id, "message": message, "conversation": conversation.id, "key": key.id}


@pytest.mark.parametrize("verb", VERBS)
async def test_an_id_of_another_account_is_not_found_and_nothing_changes(
    services: Services, new_account: Callable[..., Any], unit_for: UnitFor, ids: dict[str, int], verb: str
) -> None:
    stranger = await new_account()
    before = await rows(services.database.pool)

    async def ask() -> None:
        async with unit_for(stranger) as unit:
            await VERBS[verb](unit, ids)

    with pytest.raises(NotFound):
        await ask()

    assert await rows(services.database.pool) == before


@pytest.mark.parametrize("verb", VERBS)
async def test_the_own_account_finds_the_same_id(
    account: Opened, unit_for: UnitFor, ids: dict[str, int], verb: str
) -> None:
    async with unit_for(account) as unit:
        await VERBS[verb](unit, ids)


async def test_the_lists_of_another_account_are_empty(
    new_account: Callable[..., Any], unit_for: UnitFor, ids: dict[str, int]
) -> None:
    stranger = await new_account()

    async with unit_for(stranger) as unit:
        pages = [
            await contacts.find_page(unit, ContactFilter(), ContactSort.date_added, Window()),
            await conversations.find_page(unit, ConversationFilter(), Window()),
            await conversations.find_page(unit, ConversationFilter(contact_id=ids["contact"]), Window()),
        ]
        ledger = await billing.find_transactions(unit, Window())

        assert [(page.nodes, await page.total()) for page in pages] == [([], Total(0))] * 3
        assert [entry.account_id for entry in ledger.nodes] == [stranger.account_id]
        assert await contacts.find_many(unit, [ids["contact"]]) == {}
        assert await contacts.find_by_phone(unit, PHONE) is None
        assert await consents.find_consents(unit, [PHONE]) == []
        assert await conversations.find_by_contact(unit, ids["contact"]) is None
        assert [number.id for number in await numbers.list_active(unit)] == [stranger.phone_number_id]
