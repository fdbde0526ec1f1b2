"""The life of a booking: its events in any order of arrival, and the texts that a person expects."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import combinations, permutations

from tests.domain.integrations.conftest import START, Office
from tests.factories.integrations import INTEGRATION_EVENTS
from tests.factories.messages import OUTBOUND
from tests.peers import calcom, calendly
from tests.peers.visits import Visit

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

NAMES = {"calendly": ("C0", "C1", "C2", "X0", "X1", "X2"), "calcom": ("C0", "C1", "C2", "X2")}
"""The events of a life, in which a booking is made, moved twice and canceled: C of a visit, X of its end."""


def write(kind: str, phone: str = "+12025550143") -> list[bytes]:
    """Return the events of the life of a person, in the order of `NAMES`."""
    visits = [replace(visit, phone=phone, chain=phone[1:]) for visit in VISITS]
    if kind == "calendly":
        names = {"C": "invitee.created", "X": "invitee.canceled"}
        return [calendly.event(names[name[0]], visits[int(name[1])]) for name in NAMES[kind]]
    return [
        calcom.event("BOOKING_CREATED", visits[0]),
        calcom.event("BOOKING_RESCHEDULED", visits[1]),
        calcom.event("BOOKING_RESCHEDULED", visits[2]),
        calcom.event("BOOKING_CANCELLED", visits[2]),
    ]


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


EVERY = {kind: list(permutations(range(len(names)))) for kind, names in NAMES.items()}
"""Every order in which the events of a life can arrive: 720 of Calendly, 24 of Cal.com."""


def cover(orders: Sequence[tuple[int, ...]], strength: int) -> list[tuple[int, ...]]:
    """Return few of the orders, in which any `strength` events still arrive in each order among themselves.

    Greedy, as the sequence covering arrays of Kuhn, Higdon and others.
    """
    parts = {order: set(combinations(order, strength)) for order in orders}
    missing, chosen = set[tuple[int, ...]]().union(*parts.values()), list[tuple[int, ...]]()
    while missing:
        chosen.append(max(orders, key=lambda order: len(parts[order] & missing)))
        missing -= parts[chosen[-1]]
    return chosen


async def live(office: Office, kind: str, orders: Sequence[tuple[int, ...]], *, works_between: bool) -> None:
    """Have a person live each order, all at the same time, and compare the texts of each."""
    office.clock.instant = START + timedelta(hours=3)
    integration = await office.connect(kind, texts=TEXTS)
    people = {f"+1202555{1000 + number}": order for number, order in enumerate(orders)}
    lives = [(order, write(kind, phone)) for phone, order in people.items()]

    for place in range(len(NAMES[kind])):
        for order, events in lives:
            assert await office.post(integration, events[order[place]]) is not None
        if works_between:
            await office.work()
    for order, events in lives:
        assert await office.post(integration, events[order[0]]) is None
    await office.work()
    office.clock.instant = AROUND[2] + timedelta(days=2)
    await office.work()

    sent = defaultdict[str, list[str]](list)
    for phone, body in await OUTBOUND.read(office.services, "to_number", "body"):
        sent[phone].append(body)
    last = [f"canceled {SHOWN[2]}"]
    wanted = {
        phone: expect(kind, [NAMES[kind][place] for place in order]) if works_between else last
        for phone, order in people.items()
    }
    assert {phone: texts for phone, texts in sent.items() if texts != wanted[phone]} == {}
    assert sent.keys() == wanted.keys()
    assert set(await INTEGRATION_EVENTS.read(office.services, "status")) == {"applied"}
