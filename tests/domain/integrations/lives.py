"""The life of a booking: its events in any order of arrival, and the texts that a person expects."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import combinations, permutations
from typing import NamedTuple

from tests.domain.integrations.conftest import START, Office
from tests.factories.integrations import INTEGRATION_EVENTS, TOOLS
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


class Life(NamedTuple):
    """The events of a life at a scheduling tool: C makes or moves a visit, X ends it, N, W and M tell who came.

    N is a no-show, W its withdrawal, M another no-show; of those that have arrived, the latest by this order counts.
    """

    kind: str
    names: tuple[str, ...]


LIVES = {
    "calendly": Life("calendly", ("C0", "C1", "C2", "X0", "X1", "X2")),
    "calcom": Life("calcom", ("C0", "C1", "C2", "X2")),
    "calendly missed": Life("calendly", ("C0", "C1", "X0", "N1", "W1", "M1")),
    "calcom missed": Life("calcom", ("C0", "C1", "N1", "W1", "M1")),
}
"""A booking that is moved twice and canceled, and one that is moved, and missed."""

ATTENDANCE = "NWM"


def write(life: Life, phone: str = "+12025550143") -> list[bytes]:
    """Return the events of the life of a person, in the order of its names."""
    visits = [replace(visit, phone=phone, chain=phone[1:]) for visit in VISITS]
    return [_write(life.kind, name[0], visits[int(name[1])]) for name in life.names]


def _write(kind: str, letter: str, visit: Visit) -> bytes:
    if letter in ATTENDANCE:
        peer, at = TOOLS[kind], VISITS[2].made_at + timedelta(minutes=ATTENDANCE.index(letter))
        return peer.attended(visit, at) if letter == "W" else peer.missed(visit, at)
    if kind == "calendly":
        return calendly.event({"C": "invitee.created", "X": "invitee.canceled"}[letter], visit)
    made = "BOOKING_RESCHEDULED" if visit.number else "BOOKING_CREATED"
    return calcom.event(made if letter == "C" else "BOOKING_CANCELLED", visit)


def expect(life: Life, arrived: Sequence[str]) -> list[str]:
    """Return the texts that a person expects when each event is told at once: only ever about a later visit.

    An event of Calendly names the visit before and after its own, so that it tells of them as well; one about the
    attendance tells of its visit alone.
    """
    told, texts = -1, list[str]()
    for place, name in enumerate(arrived):
        number = int(name[1])
        if name[0] in ATTENDANCE:
            text = _expect_of(number, arrived[: place + 1]) if f"C{number}" in arrived[:place] else ""
        elif name == "X2":
            text, told = f"canceled {SHOWN[2]}", 3
        else:
            text = _expect_of(number, arrived[: place + 1]) if name[0] == "C" and number >= told else ""
            told = max(told, number + (life.kind == "calendly" and name in ("X0", "X1")))
        texts += [text] if text and text not in texts else []
    return texts


def _expect_of(number: int, arrived: Sequence[str]) -> str:
    """Return the text about a visit that has arrived."""
    about = [letter for letter in ATTENDANCE if f"{letter}{number}" in arrived]
    if about and about[-1] != "W":
        return f"no_show {SHOWN[number]}"
    return f"{'rescheduled' if number else 'confirmation'} {SHOWN[number]}"


def expect_at_end(life: Life) -> list[str]:
    """Return the texts that a person expects when all events are told together."""
    return expect(life, life.names)[-1:]


EVERY = {title: list(permutations(range(len(life.names)))) for title, life in LIVES.items()}
"""Every order in which the events of a life can arrive: 720 of Calendly, 24 and 120 of Cal.com."""


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


async def live(office: Office, life: Life, orders: Sequence[tuple[int, ...]], *, works_between: bool) -> None:
    """Have a person live each order, all at the same time, and compare the texts of each."""
    office.clock.instant = START + timedelta(hours=3)
    integration = await office.connect(life.kind, texts=TEXTS)
    people = {f"+1202555{1000 + number}": order for number, order in enumerate(orders)}
    lives = [(order, write(life, phone)) for phone, order in people.items()]

    for place in range(len(life.names)):
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
    wanted = {
        phone: expect(life, [life.names[place] for place in order]) if works_between else expect_at_end(life)
        for phone, order in people.items()
    }
    assert {phone: texts for phone, texts in sent.items() if texts != wanted[phone]} == {}
    assert sent.keys() == wanted.keys()
    assert set(await INTEGRATION_EVENTS.read(office.services, "status")) == {"applied"}
