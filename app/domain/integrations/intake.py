"""Receives the events of tools: verify, store, answer. Nothing is applied here."""

from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from typing import NamedTuple, NoReturn

from app.db import rows
from app.db.engine import Database
from app.domain.accounts import credentials
from app.domain.accounts import sql as accounts
from app.domain.integrations import hooks
from app.domain.integrations.arrivals import WAITING, Arrival, Arrivals, SignedEvent
from app.domain.integrations.errors import UnsignedEvent
from app.domain.integrations.models import WEBHOOK
from app.domain.integrations.scheduling import BadSignature, Delivery, Unreadable
from app.domain.integrations.service import Ports
from app.domain.kernel.clock import Clock
from app.domain.kernel.errors import NotFound
from app.domain.kernel.unit_of_work import Actor, Notify

MAX_BODY = 256 * 1024
MAX_EVENT = 100

UNSIGNED = "The event is not signed with the secret of this {kind} address, or its signature is too old."

FIND = f"""
SELECT i.id, i.account_id, i.kind, i.secret, i.consent_question,
  CASE WHEN i.previous_until > $3 THEN i.previous_secret END AS previous_secret
FROM integrations i
WHERE i.address = $2 AND i.kind = $1 AND i.status <> 'removed' AND {accounts.status_of("i.account_id")} <> 'deleted'
  AND {credentials.has_not_ended("i.creator_id", "$3")}
"""


class Address(NamedTuple):
    """An integration as its address finds it."""

    id: int
    account_id: int
    kind: str
    secret: bytes
    consent_question: str
    previous_secret: bytes | None

    @property
    def actor(self) -> Actor:
        """Return the actor of the changes that its events make."""
        return Actor(self.account_id, frozenset(), f"integration:{self.id}")


@dataclass(slots=True)
class Intake:
    """Receives events at the addresses of integrations; `waiting` accounts at once, so that others have connections."""

    database: Database
    clock: Clock
    notify: Notify
    ports: Ports
    waiting: int = WAITING
    _arrivals: Arrivals = field(init=False)

    def __post_init__(self) -> None:
        """Begin with no events."""
        self._arrivals = Arrivals(self.database, self.clock, self.notify, self.waiting)

    async def close(self) -> None:
        """Wait until all events are stored."""
        await self._arrivals.close()

    def find_address(self, kind: str, delivery: Delivery, path: str = "") -> str:
        """Return the address of an event: `path`, or the one that an event of a CRM names itself; raise `NotFound`."""
        receiver = self.ports.receivers.get(kind)
        with suppress(Unreadable):
            if receiver and not path:
                return receiver.find_address(delivery)
        if receiver or not path:
            raise NotFound(kind="integration", id=kind[:64], by="kind")
        return path

    async def find(self, kind: str, address: str) -> Address:
        """Return the integration at an address; raise `NotFound`, also where its creator has ended.

        An address that the database cannot compare is nobody's.
        """
        facts = kind, address, self.clock.now()
        is_text = f"{kind}{address}".isprintable()
        found = await rows.find(self.database.pool, Address, FIND, *facts) if is_text else None
        if found is None:
            raise NotFound(kind="integration", id=address[:64], by="address")
        return found

    def is_of_nobody(self, kind: str, delivery: Delivery) -> bool:
        """Return whether a CRM has signed an event that is about none of its connected accounts."""
        receiver = self.ports.receivers.get(kind)
        try:
            return receiver is not None and receiver.verify(delivery) is None
        except BadSignature:
            return False

    def is_signed(self, found: Address, delivery: Delivery) -> bool:
        """Return whether an event is signed with the present secret, or with the former one while it is accepted."""
        return any(
            self._verify(found.kind, self.ports.seal.open(sealed), delivery)
            for sealed in (found.secret, found.previous_secret)
            if sealed
        )

    def asks_for_text(self, found: Address, delivery: Delivery) -> bool:
        """Return whether a signed event of a CRM asks for a text to be sent."""
        receiver = self.ports.receivers.get(found.kind)
        try:
            return receiver is not None and receiver.asks_for_text(delivery)
        except Unreadable:
            return False

    async def refuse(self, found: Address) -> NoReturn:
        """Count an event that is not signed, and raise `UnsignedEvent`."""
        await self._arrivals.add(Arrival(found.account_id, found.id, None))
        raise UnsignedEvent(reason=hooks.UNPROVEN if found.kind == WEBHOOK else UNSIGNED.format(kind=found.kind))

    async def receive(self, found: Address, delivery: Delivery) -> int | None:
        """Store a signed event and return its id after the commit; None for one that was stored before.

        One that cannot be read is stored as well, and fails later. Raises `NotFound` for an integration that was
        removed meanwhile.
        """
        event, key = self._identify(found, delivery)
        body = delivery.body.decode("utf-8", "replace").replace("\0", "\ufffd")
        signed = SignedEvent(sha256(key.encode() or delivery.body).hexdigest(), event[:MAX_EVENT], body)
        return await self._arrivals.add(Arrival(found.account_id, found.id, signed))

    def _verify(self, kind: str, secret: str, delivery: Delivery) -> bool:
        try:
            if kind in self.ports.receivers:
                self.ports.receivers[kind].verify(delivery)
            elif kind == WEBHOOK:
                hooks.verify(secret, delivery)
            else:
                self.ports.tools[kind].verify(secret, delivery, self.clock.now())
        except BadSignature:
            return False
        return True

    def _identify(self, found: Address, delivery: Delivery) -> tuple[str, str]:
        """Return the name of an event, and the key of its repetitions; empty for the body itself."""
        if found.kind == WEBHOOK:
            hooks.check_body(delivery)
            return "event", hooks.key_of(delivery)
        try:
            if found.kind in self.ports.receivers:
                return self.ports.receivers[found.kind].identify(delivery)
            notice = self.ports.tools[found.kind].read(delivery.body, found.consent_question)
        except Unreadable:
            return "unreadable", ""
        return notice.event, notice.key
