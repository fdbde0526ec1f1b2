"""One contract for all connectors: what is forged, stale, repeated, cut off or unknown never causes a text."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest

from app.domain.integrations.errors import UnsignedEvent
from app.domain.integrations.scheduling import Delivery
from app.domain.kernel.errors import NotFound
from app.domain.onboarding.service import Opened
from app.providers.crms import OPENERS
from app.providers.scheduling_tools import TOOLS
from app.services import Services
from tests.domain.integrations.connectors import UNDER_TEST, Connected, texts
from tests.factories.integrations import INTEGRATION_EVENTS, INTEGRATIONS

pytestmark = pytest.mark.anyio

REFUSED = UnsignedEvent, NotFound
JUNK = (
    b"",
    b"{",
    b"[]",
    b"null",
    b'"text"',
    b"\xff\xfe",
    b"{}",
    b"[" * 100_000,
    b'{"a":' * 20_000 + b"1" + b"}" * 20_000,
    b'{"locationId": {}, "type": [], "event": {}, "triggerEvent": []}',
    b'{"locationId": "loc1", "type": "SMS", "event": "invitee.created", "triggerEvent": "BOOKING_CREATED"}',
    b'{"locationId": "loc1", "type": "SMS", "messageId": "\\u0000", "event": "x\\u0000", "triggerEvent": "y\\u0000"}',
)


@pytest.fixture(params=sorted(UNDER_TEST))
async def connected(request: pytest.FixtureRequest, services: Services, account: Opened) -> AsyncGenerator[Connected]:
    """Provide each connector in turn."""
    async with UNDER_TEST[request.param](services, account) as opened:
        yield opened


def test_every_connector_of_the_registries_is_under_test() -> None:
    assert UNDER_TEST.keys() == TOOLS.keys() | OPENERS.keys()


async def test_a_forged_event_is_refused_and_not_stored(connected: Connected) -> None:
    body = connected.ask()
    good, forged = connected.sign(body), connected.forge(body)
    [(name, value)] = [each for each in good.headers.items() if each[0].endswith(("signature", "signature-256"))]
    changed_value = f"{value[:9]}{'0' if value[9] != '0' else '1'}{value[10:]}"
    deliveries = [
        forged,
        Delivery({}, body),
        *(replace(good, body=changed) for changed in (body + b" ", body[:-1], body[:40], b"", b"{}", body * 2)),
        *(replace(good, headers={name: changed}) for changed in ("", value[:-1], "t=,v1=", "é\udcff", changed_value)),
        replace(good, headers={f"x-{name}": value}),
    ]

    for delivery in deliveries:
        with pytest.raises(REFUSED):
            await connected.deliver(delivery)
    await connected.work()

    assert await INTEGRATION_EVENTS.count(connected.services) == 0
    assert await texts(connected) == []
    assert await INTEGRATIONS.only(connected.services, "received") == 0
    assert await INTEGRATIONS.only(connected.services, "refused") > 0


async def test_an_event_has_its_effect_once_however_often_and_whenever_it_arrives(connected: Connected) -> None:
    asked = connected.sign(connected.ask())

    answers = await asyncio.gather(*(connected.deliver(asked) for _ in range(5)))
    await connected.work()
    again = list[int | None]()
    for hours in (0, 1, 24):
        connected.move(hours=hours)
        try:
            again.append(await connected.deliver(asked))
        except UnsignedEvent:  # its signature has a time
            again.append(None)
        again.append(await connected.deliver(connected.sign(asked.body)))
        await connected.work()

    assert len([id for id in answers if id]) == 1
    assert again == [None] * 6
    assert len(await texts(connected)) == 1


@pytest.mark.parametrize("kind", sorted(UNDER_TEST))
async def test_events_in_any_order_leave_the_same_state(services: Services, new_account: Any, kind: str) -> None:
    states, life = list[Any](), list[bytes]()
    for order in permutations(range(3)):
        async with UNDER_TEST[kind](services, await new_account()) as connected:
            life = [*connected.life()]
            for place in order:
                assert await connected.deliver(connected.sign(life[place]))
                await connected.work()
            states.append(sorted(await connected.state()))

    assert len(life) == 3
    assert states == [states[0]] * 6
    assert states[0]
    assert set(await INTEGRATION_EVENTS.read(services, "status")) == {"applied"}


async def test_a_signed_event_that_is_cut_off_or_junk_has_no_effect_and_the_next_one_is_applied(
    connected: Connected,
) -> None:
    body = connected.ask()
    for broken in (*JUNK, *(body[:length] for length in range(1, len(body), 97))):
        try:
            await connected.deliver(connected.sign(broken.replace(b"loc1", connected.location.encode())))
        except NotFound:  # it does not tell which account it is for
            continue
    await connected.work()

    assert set(await INTEGRATION_EVENTS.read(connected.services, "status")) <= {"failed", "ignored"}
    assert await texts(connected) == []
    await connected.deliver(connected.sign(body))
    await connected.work()
    assert len(await texts(connected)) == 1


async def test_an_event_of_an_unknown_kind_is_stored_and_changes_nothing(connected: Connected) -> None:
    await connected.deliver(connected.sign(connected.unknown()))
    await connected.work()

    assert await INTEGRATION_EVENTS.read(connected.services, "status") == ["ignored"]
    assert await texts(connected) == []
