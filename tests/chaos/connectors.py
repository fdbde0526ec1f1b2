"""Exchanges contacts, texts and bookings with a CRM and a scheduling tool while processes are killed."""

import asyncio
import random
import time
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
from pydantic import SecretStr

from app.domain.accounts.scopes import Scope
from app.domain.carriers.carrier import InboundMessage
from app.domain.contacts import service as contacts
from app.domain.crm import service as crm
from app.domain.integrations import service as integrations
from app.domain.integrations.scheduling import Delivery
from app.domain.kernel.unit_of_work import Actor
from app.providers.crms import open_crms
from tests.chaos.storm import REPORT_NOW, Storm, storm
from tests.conftest import unit_of
from tests.e2e.processes import await_ready
from tests.factories.billing import audit
from tests.factories.integrations import SECRET
from tests.peers import calcom
from tests.peers.highlevel import HighLevelPeer, serving
from tests.peers.visits import Visit
from tests.waiting import until

BROKEN = (httpx2.TransportError, AttributeError)
"""A connection that breaks; AnyIO raises the second for one that breaks while it opens."""

PEOPLE = [f"+1202555{number}" for number in range(1000, 1020)]
BETWEEN_SECONDS = 0.02
"""The time between the acts of one side."""

RUN_SECONDS = 600

FORGET = (
    "UPDATE crm_connections SET leased_until = NULL",
    "UPDATE crm_sends SET claimed_until = NULL",
    "UPDATE booking_texts SET claimed_until = NULL",
    REPORT_NOW,
)
"""Avoid the minutes for which the claims of dead workers last; no worker runs meanwhile."""

LEFT = (
    "integration_events WHERE status = 'waiting'",
    "crm_connections WHERE sync <> 'done'",
    "crm_sends WHERE status = 'waiting'",
    "crm_pushes WHERE status = 'waiting'",
    "booking_texts WHERE status = 'waiting' AND due_at <= now()",
    "messages WHERE status IN ('pending', 'sent')",
    "outbox",
)
UNSETTLED = "SELECT " + " + ".join(f"(SELECT count(*) FROM {each})" for each in LEFT)
STATE = """
SELECT 'messages' AS of, status, CAST(count(*) AS text) AS note FROM messages GROUP BY status
UNION ALL SELECT 'crm_connections', state, error FROM crm_connections
UNION ALL SELECT 'crm_pushes', status, reason || ' ' || due_at FROM crm_pushes WHERE status <> 'done'
UNION ALL SELECT 'crm_sends', status, reason || ' ' || due_at FROM crm_sends WHERE status <> 'sent'
UNION ALL SELECT 'integration_events', status, result || ' ' || due_at FROM integration_events WHERE status = 'waiting'
"""
SENT = """
SELECT m.body, m.actor, s.calls FROM messages m LEFT JOIN sandbox_messages s ON s.reference = m.id
WHERE m.direction = 'outbound'
"""
TEXTS = """
SELECT b.external_id, b.status AS booking, t.kind, t.status, t.message_id
FROM booking_texts t JOIN bookings b ON b.id = t.booking_id
"""


@dataclass
class Exchange:
    """An account with both, and what each side has said so far."""

    weather: Storm
    peer: HighLevelPeer
    number: str
    address: str
    chance: random.Random
    asked: dict[str, str] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)
    booked: dict[str, int] = field(default_factory=dict)
    edits: int = 0
    is_over: bool = False

    @property
    def actor(self) -> Actor:
        """Return the owner."""
        return Actor(self.weather.account_id, frozenset(Scope), "test")

    async def run(self, *victims: str) -> None:
        """Have all sides act until the processes have been killed, one after another."""
        acts = self.write, self.edit_there, self.edit_here, self.say, self.book
        await asyncio.gather(self.kill(victims), *map(self._repeat, acts))

    async def _repeat(self, act: Callable[[], Awaitable[None]]) -> None:
        async def is_over() -> bool:
            await act()
            await asyncio.sleep(self.chance.uniform(0, 2 * BETWEEN_SECONDS))
            return self.is_over

        await until(is_over, seconds=RUN_SECONDS)

    async def kill(self, victims: Sequence[str]) -> None:
        """Kill each process amid its work, and start another at once."""
        weather = self.weather
        for victim in victims:
            await until(lambda: all("worker_started" in each.output for each in weather.workers), seconds=120)
            await asyncio.to_thread(await_ready, weather.settings.public_url, weather.web)
            await asyncio.sleep(self.chance.uniform(0.2, 0.6))
            if victim == "web":
                await asyncio.to_thread(weather.web.kill)
                weather.web = weather.start("web")
            else:
                await weather.kill(1, pause=0)
            if self.chance.random() < 0.5:
                self.peer.expire_tokens()
        self.is_over = True

    async def write(self) -> None:
        """Have the CRM ask for a text, once or twice."""
        contact = self.chance.choice(list(self.peer.contacts))
        id = f"msg-{len(self.asked)}"
        self.asked[id] = f"Text {id}"
        asked = self.peer.write(contact, self.asked[id], id)
        for _ in range(self.chance.randint(1, 2)):
            await self.post("/integrations/highlevel", asked)

    async def edit_there(self) -> None:
        """Rename a contact in the CRM, and post the notice."""
        self.edits += 1
        self.peer.change(self.chance.choice(list(self.peer.contacts)), firstName=f"There {self.edits}")
        while self.peer.notices:
            await self.post("/integrations/highlevel", self.peer.notices.pop())

    async def edit_here(self) -> None:
        """Rename a contact here."""
        self.edits += 1
        async with unit_of(self.weather.services, self.actor) as unit:
            phone = self.chance.choice(PEOPLE)
            await contacts.upsert(unit, {"phone": phone, "last_name": f"Here {self.edits}"}, "test")

    async def say(self) -> None:
        """Have a person text."""
        body = f"Said {len(self.said)}"
        self.said.append(body)
        message = InboundMessage(f"in-{len(self.said)}", self.chance.choice(PEOPLE), self.number, body)
        await self.weather.services.inbox.receive("sandbox", message)

    async def book(self) -> None:
        """Make an appointment, or make, move and cancel one, with the events in any order, some of them twice."""
        now, number = datetime.now(UTC), len(self.booked)
        first = Visit(0, now, now + timedelta(days=3), phone=f"+1202556{number:04d}", chain=f"x{number}x")
        moved = replace(first, number=1, made_at=now + timedelta(seconds=1), starts_at=now + timedelta(days=4))
        events = calcom.life(first, moved) if self.chance.random() < 0.5 else [calcom.booked(first)]
        self.booked[first.chain] = len(events)
        events += self.chance.choices(events)
        self.chance.shuffle(events)
        for event in events:
            await self.post(f"/integrations/calcom/{self.address}", calcom.sign(event, now, SECRET))

    async def post(self, path: str, delivery: Delivery) -> None:
        """Post an event as vendors do: again until it is accepted."""

        async def is_accepted() -> bool:
            try:
                answer = await self.weather.api.post(path, content=delivery.body, headers=dict(delivery.headers))
            except BROKEN:
                return False
            return answer.status_code == 202

        await until(is_accepted, 120, every=0.1)

    async def settle(self) -> float:
        """Replace the workers, and wait until nothing is left to do; return the seconds."""
        weather, begun = self.weather, time.monotonic()
        for worker in weather.workers:
            await asyncio.to_thread(worker.kill)
        for statement in FORGET:
            await weather.pool.execute(statement)
        weather.workers = [weather.start("worker") for _ in weather.workers]
        try:
            await weather.settle(UNSETTLED, 160)
        except AssertionError as error:
            error.add_note("\n".join(str(tuple(row)) for row in await weather.pool.fetch(STATE)))
            raise
        return time.monotonic() - begun

    async def check(self) -> None:
        """Fail unless each text left once, each report and inbound text arrived, and both sides agree."""
        pool = self.weather.pool
        await self._check_crm_texts(await pool.fetch(SENT))
        await self._check_bookings(await pool.fetch(TEXTS))
        here = {row["phone"]: row for row in await pool.fetch("SELECT phone, first_name, last_name FROM contacts")}
        assert len(self.peer.contacts) >= len(PEOPLE)
        for each in self.peer.contacts.values():
            row = here[each["phone"]]
            assert (each["firstName"], each["lastName"]) == (row["first_name"], row["last_name"])
        assert len({each["phone"] for each in self.peer.contacts.values()}) == len(self.peer.contacts)
        assert await pool.fetch("SELECT kind, reason FROM crm_pushes WHERE status = 'failed'") == []
        await audit(pool)

    async def _check_crm_texts(self, sent: Sequence[Any]) -> None:
        assert {row["calls"] for row in sent} <= {1}
        bodies = Counter(row["body"] for row in sent if row["body"].startswith("Text "))
        assert bodies == dict.fromkeys(self.asked.values(), 1)
        reports = {(id, each["status"]) for id, reported in self.peer.statuses.items() for each in reported}
        assert reports == {(id, "delivered") for id in self.asked}
        added = {each["altId"]: each["message"] for each in self.peer.messages if each["direction"] == "inbound"}
        assert sorted(added.values()) == sorted(self.said)

    async def _check_bookings(self, texts: Sequence[Any]) -> None:
        sent = Counter((row["external_id"], row["kind"]) for row in texts if row["status"] == "sent")
        messages = [row["message_id"] for row in texts if row["status"] == "sent"]
        assert len(set(messages)) == len(messages)
        assert set(sent.values()) <= {1}
        for chain, events in self.booked.items():
            kinds = {kind: id for id, kind in sent if f"uid{chain}" in id}
            if events == 1:
                assert kinds == {"confirmation": f"uid{chain}0"}
            else:
                assert kinds["canceled"] == f"uid{chain}1"
                assert kinds.keys() <= {"confirmation", "rescheduled", "canceled"}


@asynccontextmanager
async def exchange(folder: Path, seed: int, people: Sequence[str] = PEOPLE) -> AsyncGenerator[Exchange]:
    """Start a service whose account is connected to a CRM with some contacts, and to a scheduling tool."""
    peer = HighLevelPeer(client_secret="secret")
    for phone in people:
        peer.add(phone=phone)
    peer.notices.clear()
    async with serving(peer) as url, storm(folder, 100_000, seed, **_settings(peer, url)) as weather:
        number = await weather.pool.fetchval("SELECT phone_number FROM phone_numbers")
        actor = Actor(weather.account_id, frozenset(Scope), "test")
        services = weather.services
        secret = {"highlevel_client_secret": SecretStr(peer.client_secret)}
        known = services.settings.model_copy(update=_fields(peer, url) | secret)
        ports = replace(services.crm, connectors=open_crms(known, services.webhooks.poster))
        async with unit_of(services, actor) as unit:
            await crm.finish(unit, ports, **peer.authorize(crm.begin(unit, ports, peer.kind)))
        async with unit_of(services, actor) as unit:
            tool = await integrations.add(unit, services.crm.integrations, "calcom", SECRET, {})
        yield Exchange(weather, peer, number, tool.address, random.Random(seed))


def _fields(peer: HighLevelPeer, url: str) -> dict[str, Any]:
    return {
        "highlevel_client_id": peer.client_id,
        "highlevel_provider_id": peer.provider_id,
        "highlevel_url": url,
        "highlevel_authorize_url": f"{url}/authorize",
        "highlevel_public_key": peer.public_key,
    }


def _settings(peer: HighLevelPeer, url: str) -> dict[str, object]:
    named = {f"MESSAGING_{name.upper()}": value for name, value in _fields(peer, url).items()}
    secret = {"MESSAGING_HIGHLEVEL_CLIENT_SECRET": peer.client_secret}
    return named | secret | {"MESSAGING_LOG_LEVEL": "info"}
