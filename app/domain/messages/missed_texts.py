"""Fetches the texts of people that no callback has brought, as after an outage of this service.

A walk through the messages finds the numbers that have received a text through a connection, and adds them to
`inbound_listings`: others may be used by another service. Their carriers are asked for texts each `EVERY`; those that
are unknown go the way of a callback, so that they are harmless beside one.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from app.db import claims
from app.db.engine import UNREACHABLE
from app.domain.carriers.carrier import Capabilities, Carrier, InboundMessage
from app.domain.messages import walks
from app.domain.messages.carrier_calls import REST
from app.domain.messages.carrier_rounds import LEASE, CarrierRounds
from app.domain.messages.inbound import Inbox
from app.domain.numbers import sql as numbers

EVERY = timedelta(hours=1)
"""The time between two listings of a number."""

SETTLED = timedelta(minutes=10)
"""The age at which a text is fetched: its callback may be on its way, which says more about it."""

OVERLAP = timedelta(hours=1)
"""The time for which a carrier may list a text late, and for which clocks may differ."""

MOST_AGE = timedelta(hours=72)
"""The age after which a text is not fetched any more; the ids of erased ones are kept for longer."""

CLAIMED = 50
"""The number of numbers of a connection that are claimed at once."""

RECEIVED_AT_ONCE = 4
"""The number of texts that a process receives at the same time; each uses a connection to the database."""

WALK = walks.noting(
    """
  INSERT INTO inbound_listings (carrier, number, listed_until, due_at)
  SELECT carrier, to_number, min(created_at) + interval '1 hour', $3 FROM old
  WHERE direction = 'inbound' AND carrier = ANY($4::text[]) GROUP BY carrier, to_number
  ON CONFLICT DO NOTHING
""",
    "direction, carrier, to_number",
)

CLAIM = f"""
WITH due AS MATERIALIZED (
  SELECT number FROM inbound_listings WHERE carrier = $1 AND due_at <= $2
  ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED
), claimed AS (
  UPDATE inbound_listings l SET due_at = $4 FROM due WHERE l.carrier = $1 AND l.number = due.number
  RETURNING l.carrier, l.number, l.due_at, l.listed_until
)
SELECT claimed.*, p.account_id AS owner_id, p.created_at AS owned_since
FROM claimed {numbers.join_owner("claimed.number", "claimed.carrier")}
"""

FIND_KNOWN = """
SELECT provider_message_id FROM carrier_ids
WHERE carrier = $1 AND provider_message_id = ANY($2::text[]) AND direction = 'inbound'
"""

FORGET = "DELETE FROM inbound_listings WHERE carrier = $1 AND number = ANY($2::text[]) AND due_at = $3"

SETTLE = """
UPDATE inbound_listings l SET listed_until = r.listed_until, due_at = r.due_at
FROM unnest($2::text[], $3::timestamptz[], $4::timestamptz[]) AS r(number, listed_until, due_at)
WHERE l.carrier = $1 AND l.number = r.number AND l.due_at = $5
"""


class Listing(NamedTuple):
    """A number to ask a carrier for; `owner_id` is None where no account has it at this connection any more."""

    carrier: str
    number: str
    due_at: datetime
    listed_until: datetime
    owner_id: int | None
    owned_since: datetime | None

    def since(self, now: datetime) -> datetime:
        """Return the time from which texts are asked for: none of an earlier owner of the number."""
        return max(self.listed_until - OVERLAP, now - MOST_AGE, self.owned_since or now)


class Found(NamedTuple):
    """The texts to a number that a carrier lists."""

    carrier: Carrier
    texts: Sequence[InboundMessage]


@dataclass(frozen=True, slots=True)
class MissedTexts(CarrierRounds[Listing]):
    """Finds the numbers that receive texts, and asks for those that were missed; safe to run concurrently."""

    TABLE = "inbound_listings"
    WALK = WALK

    inbox: Inbox
    _receiving: asyncio.Semaphore = field(init=False, default_factory=lambda: asyncio.Semaphore(RECEIVED_AT_ONCE))

    @staticmethod
    def is_able(capabilities: Capabilities) -> bool:
        """Return whether a carrier lists the texts of people."""
        return capabilities.lists_inbound

    async def claim(self, key: str) -> Sequence[Listing]:
        """Claim numbers that are due."""
        now = self.clock.now()
        lease = now, CLAIMED, now + LEASE
        return await claims.claim(
            self.database.pool, Listing, CLAIM, key, *lease, give_back=self._give_back, seconds=LEASE.seconds
        )

    async def ask(self, key: str, claimed: Sequence[Listing], ends_at: float) -> None:
        """Ask for claimed numbers of one connection; those that have left it are not asked for any more.

        A number is listed again from the same time where its carrier has not answered, or a text was not received.
        """
        now, until = self.clock.now(), claimed[0].due_at
        received: dict[Listing, bool] = {}

        async def list_inbound(carrier: Carrier, listing: Listing) -> Found:
            return Found(carrier, await carrier.list_inbound(listing.number, listing.since(now)))

        async def take(listing: Listing, found: Found) -> None:
            received[listing] = await self._receive(listing, found, now, ends_at)

        owned = [each for each in claimed if each.owner_id is not None]
        left = await self.calls.run(key, owned, list_inbound, take, ends_at)
        if gone := [each.number for each in claimed if each.owner_id is None]:
            await self.database.pool.execute(FORGET, key, gone, until)
        ended_at, known_until = self.clock.now(), now - SETTLED
        settled = [
            (each.number, max(each.listed_until, known_until), ended_at + EVERY)
            if received.get(each)
            else (each.number, each.listed_until, left.get(each, ended_at + REST))
            for each in owned
        ]
        await self._settle(key, settled, until)

    async def _receive(self, listing: Listing, found: Found, now: datetime, ends_at: float) -> bool:
        """Receive the unknown texts, the oldest first, until `ends_at`; return whether all were.

        One that fails delays no other one; the rest is fetched again later where the carrier, or the database, is away.
        """
        wanted = {each.provider_message_id: each for each in found.texts if each.to_number == listing.number}
        since, until = listing.since(now), now - SETTLED
        times = sorted((each.at, id) for id, each in wanted.items() if each.at and since <= each.at < until)
        ids = [id for _, id in times]
        known = await self.database.pool.fetch(FIND_KNOWN, listing.carrier, ids) if ids else ()
        unknown = [id for id in ids if id not in {row["provider_message_id"] for row in known}]
        are_received = True
        for id in unknown:
            if asyncio.get_running_loop().time() >= ends_at:
                return False
            try:
                are_received &= await self._receive_one(found.carrier, wanted[id], listing.owner_id)
            except UNREACHABLE:
                return False
        return are_received

    async def _complete(self, carrier: Carrier, inbound: InboundMessage) -> InboundMessage:
        return await self.calls.limit.run(carrier.find_media(inbound)) if inbound.lacks_media else inbound

    async def _receive_one(self, carrier: Carrier, inbound: InboundMessage, owner_id: int | None) -> bool:
        """Receive a text; return False if it fails. Raise `UNREACHABLE` where its carrier or the database is away."""
        try:
            whole = await self._complete(carrier, inbound)
            async with self._receiving:
                await self.inbox.receive(carrier.key, whole, owner_id)
        except UNREACHABLE:
            raise
        except Exception as error:
            context = {"message": f"a missed text of the connection {carrier.key} was not received"}
            asyncio.get_running_loop().call_exception_handler({**context, "exception": error})
            return False
        return True

    async def _settle(self, key: str, settled: Sequence[tuple[str, datetime, datetime]], until: datetime) -> None:
        """Store until when numbers are known, and when they are listed again."""
        if settled:
            await self.database.pool.execute(SETTLE, key, *zip(*settled, strict=True), until)

    async def _give_back(self, claimed: Sequence[Listing]) -> None:
        """Let numbers that no carrier was asked for be listed at once."""
        now, first = self.clock.now(), claimed[0]
        await self._settle(first.carrier, [(each.number, each.listed_until, now) for each in claimed], first.due_at)
