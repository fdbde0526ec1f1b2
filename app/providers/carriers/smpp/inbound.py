"""Inbound texts: read from deliveries, kept part by part, and given on once they are whole."""

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple

from app.db import rows
from app.db.engine import Pool
from app.domain.carriers.carrier import InboundMessage
from app.domain.kernel.clock import Clock
from app.providers.carriers.smpp import addresses, text
from app.providers.carriers.smpp.pdu import ShortMessage, Tag
from app.providers.carriers.smpp.retention import KEPT_FOR
from app.providers.carriers.smpp.text import Alphabet, Place

REPEATED_FOR = timedelta(hours=1)
"""The time within which an equal delivery in a later session is the repetition of one whose response may be lost."""

MISSING = "[…]"
"""Stands for the parts of a text that have not arrived in time."""

KEEP = """
WITH repeated AS (
  UPDATE smpp_deliveries SET session = $3 WHERE id = (
    SELECT id FROM smpp_deliveries
    WHERE carrier = $1 AND digest = $2 AND session <> $3 AND NOT is_settled AND received_at > $11
    ORDER BY id LIMIT 1
  ) RETURNING id, is_complete
), inserted AS (
  INSERT INTO smpp_deliveries
    (carrier, digest, session, source, destination, data_coding, octets, reference, total, sequence, received_at)
  SELECT $1, $2, $3, $4, $5, $6::bigint, $7, $8::bigint, $9::bigint, $10::bigint, $12
  WHERE NOT EXISTS (SELECT FROM repeated)
  RETURNING id, is_complete
)
SELECT * FROM repeated UNION ALL SELECT * FROM inserted
"""

_PART = "SELECT id, digest, source, destination, data_coding, octets, total, sequence FROM smpp_deliveries WHERE"
FIND_PARTS = f"""
{_PART} carrier = $1 AND source = $2 AND destination = $3 AND reference = $4 AND total = $5 AND NOT is_complete
  AND received_at > $6
ORDER BY id
"""
FIND_OVERDUE = f"""
{_PART} (source, destination, reference, total) = (
  SELECT source, destination, reference, total FROM smpp_deliveries
  WHERE carrier = $1 AND received_at <= $2 AND total IS NOT NULL AND NOT is_complete ORDER BY received_at LIMIT 1
) AND carrier = $1 AND NOT is_complete AND received_at <= $2
ORDER BY id
"""
COMPLETE = """
WITH done AS (DELETE FROM smpp_deliveries WHERE id = ANY($1::bigint[]) AND is_settled)
UPDATE smpp_deliveries SET is_complete = true WHERE id = ANY($1::bigint[]) AND NOT is_settled
"""
SETTLE = """
WITH done AS (DELETE FROM smpp_deliveries WHERE id = ANY($1::bigint[]) AND (total IS NULL OR is_complete))
UPDATE smpp_deliveries SET is_settled = true WHERE id = ANY($1::bigint[]) AND total IS NOT NULL AND NOT is_complete
"""

Give = Callable[[InboundMessage], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Delivery:
    """An inbound text, or with a `place` a part of one."""

    source: str
    destination: str
    data_coding: int
    octets: bytes
    place: Place | None
    digest: bytes


class Part(NamedTuple):
    """A row of a delivery; `total` and `sequence` are None for a whole text."""

    id: int
    digest: bytes
    source: str
    destination: str
    data_coding: int
    octets: bytes
    total: int | None
    sequence: int | None


class Kept(NamedTuple):
    """A delivery that is stored; `is_complete` if its text was given on before."""

    id: int
    is_complete: bool


@dataclass(frozen=True, slots=True)
class Inbound:
    """Keeps the deliveries of one connection in the database; `give` is called for each text, and is idempotent."""

    carrier: str
    alphabet: Alphabet
    pool: Pool
    clock: Clock
    give: Give

    async def receive(self, delivery: Delivery, session: str) -> int:
        """Store a delivery, and give its text on if it is whole; return the id to `settle`. Idempotent."""
        [kept] = await rows.fetch(self.pool, Kept, KEEP, *self._columns(delivery, session))
        if kept.is_complete:
            return kept.id
        if delivery.place is None:
            await self._give([Part(kept.id, delivery.digest, *_content(delivery), None, None)])
            return kept.id
        parts = await self._find_parts(delivery, delivery.place)
        if len(parts) == delivery.place.total:
            await self._give(parts)
            await self.pool.execute(COMPLETE, [part.id for part in parts])
        return kept.id

    async def settle(self, ids: Sequence[int]) -> None:
        """Learn that the SMSC has our responses to deliveries."""
        await self.pool.execute(SETTLE, ids)

    async def give_overdue(self) -> bool:
        """Pass on one text that lacks parts after the time for them; return whether there was one."""
        found = await rows.fetch(self.pool, Part, FIND_OVERDUE, self.carrier, self.clock.now() - KEPT_FOR)
        if found:
            await self._give(_newest(found))
            await self.pool.execute(COMPLETE, [part.id for part in found])
        return bool(found)

    async def _find_parts(self, delivery: Delivery, place: Place) -> list[Part]:
        of_text = delivery.source, delivery.destination, place.reference, place.total
        since = self.clock.now() - KEPT_FOR
        return _newest(await rows.fetch(self.pool, Part, FIND_PARTS, self.carrier, *of_text, since))

    async def _give(self, parts: Sequence[Part]) -> None:
        """Give a text on, under an id that depends on its first row only."""
        first = min(parts)
        id = f"{first.id}-{first.digest.hex()[:12]}"
        await self.give(InboundMessage(id, first.source, first.destination, _join(parts, self.alphabet)))

    def _columns(self, delivery: Delivery, session: str) -> tuple[object, ...]:
        now, place = self.clock.now(), delivery.place
        placed = (place.reference, place.total, place.sequence) if place else (None, None, None)
        content = _content(delivery)
        return self.carrier, delivery.digest, session, *content, *placed, now - REPEATED_FOR, now


def read(message: ShortMessage) -> Delivery:
    """Read the addresses, the octets and the place of an inbound text."""
    place, octets = _sar_place(message), message.payload
    if message.esm_class & text.HEADER_INDICATOR:
        found, octets = text.read_header(octets)
        place = found or place
    if place and place.total == 1:
        place = None
    source, destination = addresses.decode(message.source), addresses.decode(message.destination)
    return Delivery(source, destination, message.data_coding, octets, place, _digest(message))


def _sar_place(message: ShortMessage) -> Place | None:
    tags = Tag.sar_reference, Tag.sar_total, Tag.sar_sequence
    if not all(message.tlvs.get(tag) for tag in tags):
        return None
    reference, total, sequence = (int.from_bytes(message.tlvs[tag][-2:], "big") for tag in tags)
    place = Place(reference, total, sequence)
    return place if place.is_valid else None


def _digest(message: ShortMessage) -> bytes:
    """Return a value that is equal for two deliveries of the same text, and hardly ever for different texts."""
    tags = Tag.sar_reference, Tag.sar_total, Tag.sar_sequence, Tag.user_message_reference, Tag.receipted_message_id
    fields = message.source, message.destination, message.esm_class, message.data_coding, message.protocol_id
    named = [message.tlvs.get(tag) for tag in tags]
    return hashlib.sha256(repr((fields, message.payload, named)).encode()).digest()


def _content(delivery: Delivery) -> tuple[str, str, int, bytes]:
    return delivery.source, delivery.destination, delivery.data_coding, delivery.octets


def _newest(found: Sequence[Part]) -> list[Part]:
    """Return the newest row of each place, in the order of the text: references are used again and again."""
    newest = {part.sequence: part for part in sorted(found)}
    return sorted(newest.values(), key=lambda part: part.sequence or 0)


def _join(parts: Sequence[Part], alphabet: Alphabet) -> str:
    """Return the text of parts. Octets are joined first: phones split surrogate pairs between parts."""
    known = {part.sequence or 1: part for part in parts}
    total, coding = parts[0].total or 1, parts[0].data_coding
    if len(known) == total and all(part.data_coding == coding for part in parts):
        return text.decode(b"".join(known[at].octets for at in range(1, total + 1)), coding, alphabet)
    pieces = (known.get(at) for at in range(1, total + 1))
    return " ".join(text.decode(part.octets, part.data_coding, alphabet) if part else MISSING for part in pieces)
