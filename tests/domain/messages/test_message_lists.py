"""Lists of messages, and their filters."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.db.engine import Pool
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.paging import Total, Window
from app.domain.messages import queries
from app.domain.messages.queries import MessageFilter
from tests.factories.contacts import id_of_contact
from tests.factories.conversations import CONVERSATIONS
from tests.factories.messages import MESSAGES
from tests.factories.tables import ago

ANN, BOB = "+12025550143", "+12025550144"


async def test_messages_are_listed_of_one_contact_or_of_one_conversation(
    send: Callable[..., Any], act: Callable[..., Any], pool: Pool
) -> None:
    await send(ANN, "For Ann")
    await send(BOB, "For Bob")
    ann, bob = await id_of_contact(pool, ANN), await id_of_contact(pool, BOB)
    conversation = await CONVERSATIONS.where(contact_id=bob).only(pool, "id")

    async with act() as unit:
        of_ann = await queries.find_page(unit, MessageFilter(contact_id=ann), Window())
        of_bob = await queries.find_page(unit, MessageFilter(conversation_id=conversation), Window())

        assert [message.body for message in of_ann.nodes] == ["For Ann"]
        assert ([message.body for message in of_bob.nodes], await of_bob.total()) == (["For Bob"], Total(1))


async def bodies(act: Callable[..., Any], **wanted: Any) -> list[str]:
    async with act() as unit:
        page = await queries.find_page(unit, MessageFilter(**wanted), Window())
        assert await page.total() == Total(len(page.nodes))
        return [message.body for message in page.nodes]


async def test_failed_messages_are_listed_by_their_reason(
    send: Callable[..., Any], act: Callable[..., Any], pool: Pool
) -> None:
    for body in ("One", "Two", "Three"):
        await send(ANN, body)
    await MESSAGES.where(body="Two").change(pool, status="failed", error_code="unreachable")
    await MESSAGES.where(body="Three").change(pool, status="failed", error_code="blocked")

    assert await bodies(act, error_code="unreachable") == ["Two"]


async def test_a_part_of_the_text_is_found_in_any_case_and_its_signs_stand_for_themselves(
    send: Callable[..., Any], act: Callable[..., Any]
) -> None:
    for body in ("20% off", "200 off", "Hello"):
        await send(ANN, body)

    since = ago(hours=1)
    assert await bodies(act, search="0% OFF", since=since) == ["20% off"]
    assert await bodies(act, search="_", since=since) == []
    assert await bodies(act, search="off", since=since) == ["200 off", "20% off"]


@pytest.mark.parametrize("wanted", [{}, {"since": ago(days=32)}, {"since": ago(days=90), "until": ago(days=50)}])
async def test_a_search_through_all_threads_and_more_than_31_days_is_refused(
    act: Callable[..., Any], wanted: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInput, match=r"needs a contact, a conversation, or .* at most 31 days apart") as refused:
        await bodies(act, search="x", **wanted)

    assert refused.value.field == "search"


async def test_a_search_for_more_than_100_characters_is_refused(act: Callable[..., Any]) -> None:
    assert await bodies(act, search="x" * 100, since=ago(hours=1)) == []

    with pytest.raises(InvalidInput, match="at most 100 characters") as refused:
        await bodies(act, search="x" * 101, since=ago(hours=1))

    assert refused.value.field == "search"


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(0, 500), max_size=9), st.integers(0, 500), st.integers(0, 500))
async def test_a_time_holds_exactly_the_messages_of_it(
    plant_messages: Callable[..., Any], act: Callable[..., Any], hours: list[int], start: int, end: int
) -> None:
    times = [ago(hours=each) for each in sorted(hours, reverse=True)]
    since, until = ago(hours=max(start, end)), ago(hours=min(start, end))
    await plant_messages(times)

    expected = [str(number) for number, each in enumerate(times) if since <= each < until]

    assert await bodies(act, since=since, until=until) == expected[::-1]
    assert await bodies(act, since=since) == [str(number) for number, each in enumerate(times) if each >= since][::-1]


@pytest.fixture
def plant_messages(send: Callable[..., Any], pool: Pool) -> Callable[..., Any]:
    """Provide a function that replaces all messages by ones of these times, in the order of their ids."""

    async def replace(times: list[Any]) -> None:
        await MESSAGES.delete(pool)
        for number, each in enumerate(times):
            await send(ANN, str(number))
            await MESSAGES.where(body=str(number)).change(pool, created_at=each)

    return replace
