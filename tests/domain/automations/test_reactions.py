"""Telling keyword_reply: of which texts, what, and how often."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from app.bootstrap import open_dispatcher
from app.db.engine import Pool
from app.domain.automations import watching as service
from app.domain.carriers.carrier import InboundMessage
from app.domain.contacts import service as contacts
from app.domain.contacts.service import ContactFields
from app.domain.events.reactions import Batch, Reaction
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.conftest import unit_of
from tests.factories.automations import WATCHED_KEYWORDS
from tests.factories.events import EVENTS, OUTBOX, event_names, payloads

PHONE = "+12025550143"
ANN: ContactFields = {"phone": PHONE, "first_name": "Ann", "last_name": "Lee", "email": "ann@example.com"}

Text = Callable[..., Awaitable[None]]
Dispatch = Callable[[], Awaitable[None]]
Watch = Callable[..., Awaitable[int]]


@pytest.fixture
def pool(services: Services) -> Pool:
    """Give the database."""
    return services.database.pool


@pytest.fixture
def watch(services: Services, account: Opened) -> Watch:
    """Give a function that watches a keyword for an account."""

    async def watch(keyword: str, whose: Opened = account) -> int:
        async with unit_of(services, Actor(whose.account_id, frozenset(), "test")) as unit:
            return (await service.watch(unit, keyword)).id

    return watch


@pytest.fixture
def text(services: Services, account: Opened) -> Text:
    """Give a function with which a person texts to a number."""
    ids = iter(range(1, 1000))

    async def text(body: str, to: str = account.phone_number) -> None:
        await services.inbox.receive("sandbox", InboundMessage(f"in-{next(ids)}", PHONE, to, body))

    return text


@pytest.fixture
def dispatch(services: Services) -> Dispatch:
    """Give a function that dispatches all events, as a worker does."""
    dispatcher = open_dispatcher(services)

    async def dispatch() -> None:
        while await dispatcher.due():
            await dispatcher.run()

    return dispatch


async def replies(pool: Pool) -> list[tuple[str, str]]:
    """Return the keyword and the text of every event told, in order."""
    return [(each["keyword"], each["body"]) for each in await payloads(pool, "keyword_reply")]


async def test_the_event_of_a_keyword_text_carries_its_contact_and_time(
    services: Services, account: Opened, watch: Watch, text: Text, dispatch: Dispatch, pool: Pool
) -> None:
    async with unit_of(services, Actor(account.account_id, frozenset())) as unit:
        contact_id = (await contacts.create(unit, ANN)).id
    await watch("Menu")
    await text(" MENU! ")
    await dispatch()

    [message] = await payloads(pool, "new_message")
    [row] = await EVENTS.where(name="keyword_reply").read(pool, "account_id", "contact_id", "payload")
    assert (row["account_id"], row["contact_id"]) == (account.account_id, contact_id)
    assert list(row["payload"].items()) == [
        ("contact_id", contact_id),
        ("first_name", "Ann"),
        ("last_name", "Lee"),
        ("phone", PHONE),
        ("email", "ann@example.com"),
        ("keyword", "menu"),
        ("body", " MENU! "),
        ("from_number", PHONE),
        ("to_number", account.phone_number),
        ("received_at", message["sent_at"]),
    ]


async def test_unknown_fields_of_the_contact_are_empty_strings_in_the_event(
    watch: Watch, text: Text, dispatch: Dispatch, pool: Pool
) -> None:
    await watch("menu")
    await text("menu")
    await dispatch()

    [payload] = await payloads(pool, "keyword_reply")
    assert (payload["first_name"], payload["last_name"], payload["email"], payload["phone"]) == ("", "", "", PHONE)


async def test_each_text_that_is_a_keyword_is_told_and_no_other(
    watch: Watch, text: Text, dispatch: Dispatch, pool: Pool
) -> None:
    for keyword in ("menu", "book now"):
        await watch(keyword)
    for body in ("menu", "Menu please", "BOOK NOW", "menu book now", "Hello", "", "Liked “menu”", "menu", "x" * 1600):
        await text(body)
    await dispatch()

    assert await replies(pool) == [("menu", "menu"), ("book now", "BOOK NOW"), ("menu", "menu")]


async def test_several_that_dispatch_at_once_tell_each_text_once(
    services: Services, watch: Watch, text: Text, pool: Pool
) -> None:
    await watch("menu")
    for _ in range(5):
        await text("menu")

    await asyncio.gather(*(open_dispatcher(services).run() for _ in range(4)))

    assert await replies(pool) == [("menu", "menu")] * 5


async def test_a_dispatcher_that_dies_before_its_commit_emits_no_event_and_the_next_one_emits_it(
    services: Services, watch: Watch, text: Text, dispatch: Dispatch, pool: Pool
) -> None:
    async def die(batch: Batch) -> None:
        raise OSError("the connection is gone")

    await watch("menu")
    await text("menu")
    dying = open_dispatcher(services)
    with pytest.raises(OSError, match="the connection is gone"):
        await replace(dying, reactions=[*dying.reactions, Reaction("die", die)]).run()
    assert await replies(pool) == []

    await dispatch()

    assert await replies(pool) == [("menu", "menu")]


async def test_the_event_of_a_reaction_is_dispatched_by_the_next_run(
    services: Services, watch: Watch, text: Text, pool: Pool
) -> None:
    await watch("menu")
    await text("menu")
    dispatcher = open_dispatcher(services)

    assert [await dispatcher.run(), await dispatcher.run()] == [True, False]
    assert await OUTBOX.count(pool) == 0


@pytest.mark.parametrize("body", ["STOP", "stop!", "Stpo", "no more texts", "Delete"])
async def test_an_opt_out_is_never_told_even_where_its_word_is_watched(
    account: Opened, text: Text, dispatch: Dispatch, pool: Pool, body: str
) -> None:
    for keyword in ("stop", "stpo", "no more texts", "delete", "menu"):
        await WATCHED_KEYWORDS.insert(pool, account_id=account.account_id, keyword=keyword, created_by="test")
    await text("menu")
    await text(body)
    await dispatch()

    assert await replies(pool) == [("menu", "menu")]


async def test_a_keyword_of_one_account_is_not_told_to_another(
    account: Opened, new_account: Callable[..., Any], watch: Watch, text: Text, dispatch: Dispatch, pool: Pool
) -> None:
    other = await new_account()
    await watch("menu", other)
    await text("menu")
    await text("menu", to=other.phone_number)
    await dispatch()

    assert await EVENTS.where(name="keyword_reply").read(pool, "account_id") == [other.account_id]


async def test_a_keyword_counts_from_when_it_is_watched_until_it_is_not(
    services: Services, account: Opened, watch: Watch, text: Text, dispatch: Dispatch, pool: Pool
) -> None:
    await text("menu")
    id = await watch("menu")
    await dispatch()
    assert await event_names(pool, "new_message", "keyword_reply") == ["new_message"]

    await text("Menu")
    await dispatch()
    async with unit_of(services, Actor(account.account_id, frozenset())) as unit:
        await service.unwatch(unit, id)
    await text("MENU")
    await dispatch()

    assert await replies(pool) == [("menu", "Menu")]


async def test_a_text_that_the_carrier_brings_twice_is_told_once(
    services: Services, account: Opened, watch: Watch, dispatch: Dispatch, pool: Pool
) -> None:
    await watch("menu")
    for _ in range(2):
        await services.inbox.receive("sandbox", InboundMessage("in-1", PHONE, account.phone_number, "menu"))
        await dispatch()

    assert await replies(pool) == [("menu", "menu")]
