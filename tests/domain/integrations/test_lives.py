"""The life of a booking: in every order of arrival, the texts that a person expects, at the right local times."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import settings as limits
from hypothesis import strategies as st

from app.domain.integrations import service
from tests.domain.integrations.conftest import START, Office
from tests.factories.integrations import BOOKING_TEXTS, BOOKINGS, INTEGRATION_EVENTS, Visit, calcom, calendly
from tests.factories.messages import OUTBOUND

pytestmark = pytest.mark.anyio

BODY = "{booking.start:date(d MMM HH:mm)} {booking.time_zone}"
KINDS = ("confirmation", "reminder_day", "reminder_hour", "rescheduled", "canceled", "no_show")
TEXTS = {kind: f"{kind} {BODY}" for kind in KINDS}
AROUND = (  # New York leaves summer time on 1 November 2026 at 06:00 UTC
    datetime(2026, 10, 31, 13, tzinfo=UTC),
    datetime(2026, 11, 1, 14, tzinfo=UTC),
    datetime(2026, 11, 2, 15, tzinfo=UTC),
)
SHOWN = ("31 Oct 09:00 EDT", "1 Nov 09:00 EST", "2 Nov 10:00 EST")
VISITS = [Visit(n, START + timedelta(hours=n), starts_at) for n, starts_at in enumerate(AROUND)]

CALENDLY = [
    *((f"C{each.number}", calendly("invitee.created", each)) for each in VISITS),
    *((f"X{each.number}", calendly("invitee.canceled", each)) for each in VISITS),
]
CALCOM = [
    ("C0", calcom("BOOKING_CREATED", VISITS[0])),
    ("C1", calcom("BOOKING_RESCHEDULED", VISITS[1])),
    ("C2", calcom("BOOKING_RESCHEDULED", VISITS[2])),
    ("X2", calcom("BOOKING_CANCELLED", VISITS[2])),
]
LIVES = {"calendly": CALENDLY, "calcom": CALCOM}


def expect(kind: str, arrived: Sequence[str]) -> list[str]:
    """Return the texts that a person expects when each event is told at once: only ever about a later visit.

    An event of Calendly names the visit before and after its own, so that it tells of them as well.
    """
    told, texts = -1, list[str]()
    for name in arrived:
        number = int(name[1])
        named = number + 1 if kind == "calendly" and name in ("X0", "X1") else number
        if name == "X2":
            texts.append(f"canceled {SHOWN[2]}")
            told = 3
        elif name[0] == "C" and number >= told:
            texts.append(f"{'rescheduled' if number else 'confirmation'} {SHOWN[number]}")
        told = max(told, named)
    return texts


ORDERS = st.sampled_from(["calendly", "calcom"]).flatmap(
    lambda kind: st.tuples(st.just(kind), st.permutations(LIVES[kind]), st.booleans())
)


@limits(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(order=ORDERS)
@example(order=("calendly", CALENDLY, True))
@example(order=("calcom", CALCOM, True))
async def test_a_life_in_any_order_of_arrival_gives_the_texts_that_a_person_expects(
    office: Office, order: tuple[str, list[tuple[str, bytes]], bool]
) -> None:
    kind, events, works_between = order
    office.clock.instant = START + timedelta(hours=3)
    integration = await office.connect(kind, texts=TEXTS)
    before = await OUTBOUND.count(office.services)

    for _, body in events:
        assert await office.post(integration, body) is not None
        assert await office.post(integration, body) is None
        if works_between:
            await office.work()
    await office.work()
    office.clock.instant = AROUND[2] + timedelta(days=2)
    await office.work()

    sent = (await OUTBOUND.read(office.services, "body"))[before:]
    assert sent == (expect(kind, [name for name, _ in events]) if works_between else [f"canceled {SHOWN[2]}"])
    assert set(await INTEGRATION_EVENTS.read(office.services, "status")) == {"applied"}
    async with office.unit() as unit:
        await service.remove(unit, integration.id)


@pytest.mark.parametrize("kind", ["calendly", "calcom"])
async def test_a_held_booking_gets_its_confirmation_and_reminders_at_the_local_times_across_a_clock_change(
    office: Office, kind: str
) -> None:
    integration = await office.connect(kind, texts=TEXTS)
    [booked] = [body for name, body in LIVES[kind] if name == "C0"]
    moved = [body for name, body in LIVES[kind] if name in ("C1", "X0")]
    sent = list[tuple[str, datetime]]()

    await office.post(integration, booked)
    await office.work()
    for body in reversed(moved):
        await office.post(integration, body)
        await office.work()
    while office.clock.now() < AROUND[2]:
        seen = len(await office.bodies())
        await office.work()
        sent += [(body, office.clock.now()) for body in (await office.bodies())[seen:]]
        office.clock.instant += timedelta(minutes=30)

    assert (await office.bodies())[:2] == [f"confirmation {SHOWN[0]}", f"rescheduled {SHOWN[1]}"]
    assert sent == [
        (f"reminder_day {SHOWN[1]}", datetime(2026, 10, 31, 13, tzinfo=UTC)),  # 9:00 EDT, 25 hours before 9:00 EST
        (f"reminder_hour {SHOWN[1]}", datetime(2026, 11, 1, 13, tzinfo=UTC)),
    ]
    assert await BOOKINGS.read(office.services, "status") == ["moved", "booked"]
    states = await BOOKING_TEXTS.read(office.services, "kind", "status", "reason")
    assert states == [
        ("confirmation", "sent", ""),
        ("reminder_day", "canceled", "moved"),
        ("reminder_hour", "canceled", "moved"),
        ("rescheduled", "sent", ""),
        ("reminder_day", "sent", ""),
        ("reminder_hour", "sent", ""),
    ]


def test_the_expectation_ends_with_one_cancellation_in_each_order() -> None:
    for kind, names in (("calendly", ["C0", "C1", "C2", "X0", "X1", "X2"]), ("calcom", ["C0", "C1", "C2", "X2"])):
        for order in permutations(names):
            texts: Any = expect(kind, order)
            assert texts[-1] == f"canceled {SHOWN[2]}"
            assert len(texts) == len(set(texts))
