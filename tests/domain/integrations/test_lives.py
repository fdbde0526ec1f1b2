"""The life of a booking: in each order of arrival, the texts that a person expects, at the right local times."""

from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import Any

import pytest

from app.services import Services
from tests.domain.integrations.conftest import Office, open_office
from tests.domain.integrations.lives import AROUND, EVERY, LIVES, SHOWN, TEXTS, VISITS, cover, expect, live, write
from tests.factories.integrations import BOOKING_TEXTS, BOOKINGS
from tests.peers import calcom

pytestmark = pytest.mark.anyio

STRENGTH = {"calendly": 4, "calcom": 4, "calendly missed": 3, "calcom missed": 3}
"""The rules compare two visits, with four events, or the attendance of one, with three; so many arrive in every order.

`make chaos` tries all orders.
"""

ORDERS = {title: cover(EVERY[title], strength) for title, strength in STRENGTH.items()}


@pytest.mark.parametrize("title", LIVES)
async def test_a_life_in_each_order_of_arrival_gives_the_texts_that_a_person_expects(
    services: Services, new_account: Any, title: str
) -> None:
    async with open_office(services, await new_account(credits=10_000)) as office:
        await live(office, LIVES[title], ORDERS[title], works_between=True)


@pytest.mark.parametrize("title", LIVES)
async def test_a_life_whose_events_arrive_together_gives_one_text_about_its_end(
    services: Services, new_account: Any, title: str
) -> None:
    async with open_office(services, await new_account(credits=10_000)) as office:
        await live(office, LIVES[title], ORDERS[title], works_between=False)


@pytest.mark.parametrize("kind", ["calendly", "calcom"])
async def test_a_held_booking_gets_its_confirmation_and_reminders_at_the_local_times_across_a_clock_change(
    office: Office, kind: str
) -> None:
    integration = await office.connect(kind, texts=TEXTS)
    life = dict(zip(LIVES[kind].names, write(LIVES[kind]), strict=True))
    booked, moved = life["C0"], [life[name] for name in ("C1", "X0") if name in life]
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


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize(
    ("answer", "former", "text"),
    [
        ("BOOKING_CREATED", None, "rescheduled"),
        ("BOOKING_CREATED", "uid0", "rescheduled"),
        ("BOOKING_REJECTED", "uid0", "canceled"),
    ],
)
async def test_a_move_that_waits_for_its_confirmation_ends_the_reminders_of_the_former_time(
    office: Office, order: tuple[int, int], answer: str, former: str | None, text: str
) -> None:
    integration = await office.connect("calcom", texts=TEXTS | {"confirmation": ""})
    asked = calcom.event("BOOKING_REQUESTED", VISITS[1], rescheduleUid="uid0", requiresConfirmation=True)
    events = [calcom.booked(VISITS[0]), asked]

    for place in order:
        await office.post(integration, events[place])
        await office.work()
    office.clock.instant = AROUND[0] - timedelta(minutes=30)
    await office.work()
    before = await office.bodies()
    await office.post(integration, calcom.event(answer, VISITS[1], rescheduleUid=former))
    await office.work()

    assert (before, await office.bodies()) == ([], [f"{text} {SHOWN[1]}"])


@pytest.mark.parametrize(
    ("title", "last"),
    [
        ("calendly", {f"canceled {SHOWN[2]}"}),
        ("calcom", {f"canceled {SHOWN[2]}"}),
        ("calendly missed", {f"no_show {SHOWN[1]}", f"rescheduled {SHOWN[1]}"}),
        ("calcom missed", {f"no_show {SHOWN[1]}", f"rescheduled {SHOWN[1]}"}),
    ],
)
def test_the_expectation_ends_alike_in_each_order(title: str, last: set[str]) -> None:
    life = LIVES[title]
    for order in permutations(life.names):
        texts = expect(life, order)
        assert texts[-1] in last
        assert len(texts) == len(set(texts))
