"""Texts leave through the connections of their numbers: several, paused ones, and those of other processes."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.messages.errors import MessageTooLong
from app.domain.messages.handoff import Handoff
from app.domain.onboarding.service import Opened
from app.providers.carriers.sandbox.carrier import SandboxCarrier
from app.services import Services
from tests.domain.messages.handing import hand_over, reconcile
from tests.factories.carriers import add_connection, change_connection, opened
from tests.factories.messages import MESSAGES, OUTGOING, SANDBOX_MESSAGES, states
from tests.factories.numbers import add_number
from tests.factories.tables import ago

NUMBER = "+14155550100"


@pytest.fixture
async def second(pool: Pool, account: Opened, services: Services) -> int:
    """Provide the id of a number of a second connection, whose texts have at most 2 parts."""
    await add_connection(pool, "second", settings={"max_segments": 2})
    services.connections.expire()
    return await add_number(pool, account.account_id, NUMBER, carrier="second")


def both(handoff: Handoff, pool: Pool) -> Handoff:
    """Return the hand-off with both connections."""
    second = SandboxCarrier(pool, b"secret", delay=0, timeout=10)
    second.key = "second"
    first = SandboxCarrier(pool, b"secret", delay=0, timeout=10)
    return replace(handoff, connections=opened(handoff, sandbox=first, second=second))


async def test_a_text_leaves_through_the_connection_of_its_number(
    send: Callable[..., Any], handoff: Handoff, pool: Pool, second: int
) -> None:
    await send(body="first")
    await send(body="second", from_phone_number_id=second)

    await hand_over(both(handoff, pool))

    assert await MESSAGES.read(pool, "body", "carrier", "status") == [
        ("first", "sandbox", "sent"),
        ("second", "second", "sent"),
    ]
    assert sorted(await SANDBOX_MESSAGES.read(pool, "body", "carrier")) == [("first", "sandbox"), ("second", "second")]


async def test_the_limit_of_parts_is_that_of_the_connection_of_the_number(
    send: Callable[..., Any], pool: Pool, second: int
) -> None:
    await send(body="x" * 320)
    with pytest.raises(MessageTooLong) as refused:
        await send(body="x" * 320, from_phone_number_id=second)

    assert refused.value.facts == {"size": 3, "unit": "segments", "limit": 2}
    assert len(await states(pool)) == 1


async def test_the_texts_of_a_paused_connection_wait_and_leave_when_it_is_resumed(
    send: Callable[..., Any], handoff: Handoff, pool: Pool, second: int
) -> None:
    handoff = both(handoff, pool)
    await send(body="waits", from_phone_number_id=second)
    await send(body="leaves", to="+12025550144")
    await change_connection(pool, "second", status="paused")

    await hand_over(handoff)
    between, is_due = await MESSAGES.read(pool, "body", "status"), await handoff.due()
    await change_connection(pool, "second", status="active")
    resumed_is_due = await handoff.due()
    await hand_over(handoff)

    assert between == [("waits", "pending"), ("leaves", "sent")]
    assert (is_due, resumed_is_due) == (False, True)
    assert await MESSAGES.read(pool, "status") == ["sent", "sent"]
    assert await OUTGOING.count(pool) == 0


async def test_the_carrier_of_a_paused_connection_is_asked_for_texts_in_doubt(
    send: Callable[..., Any], handoff: Handoff, pool: Pool, second: int
) -> None:
    handoff = both(handoff, pool)
    await send(from_phone_number_id=second)
    await OUTGOING.change(pool, claimed_until=ago(seconds=1))
    await change_connection(pool, "second", status="paused")

    await reconcile(handoff)

    assert await OUTGOING.only(pool, "claimed_until") is None
    assert await SANDBOX_MESSAGES.count(pool) == 0


async def test_a_connection_of_another_role_is_neither_claimed_nor_failed(
    send: Callable[..., Any], handoff: Handoff, pool: Pool, second: int
) -> None:
    handoff = both(handoff, pool)
    await send(from_phone_number_id=second)
    await change_connection(pool, "second", role="smpp")

    await hand_over(handoff)
    of_workers = await states(pool), await handoff.due()
    handoff.connections.role, handoff.connections.keys = "smpp", ["another"]
    await hand_over(handoff)
    of_another = await states(pool), await handoff.due()
    handoff.connections.keys = ["second"]
    await hand_over(handoff)

    assert of_workers == of_another == ([("pending", None)], False)
    assert await states(pool) == [("sent", None)]


async def test_the_texts_of_many_paused_connections_do_not_keep_others_waiting(
    send: Callable[..., Any], handoff: Handoff, pool: Pool, account: Opened, second: int
) -> None:
    for place in range(100):
        await add_connection(pool, f"a{place}", status="paused")
        id = await add_number(pool, account.account_id, f"+1415555{2000 + place}", carrier=f"a{place}")
        await send(from_phone_number_id=id)
    await send(body="leaves", from_phone_number_id=second)

    handoff = both(handoff, pool)
    await handoff.run()
    await handoff.finish()

    assert await SANDBOX_MESSAGES.read(pool, "body") == ["leaves"]
