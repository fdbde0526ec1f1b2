"""The sender of a campaign: whether its credential may still send, and the sending number of each text."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, Self

from app.db.engine import Connection
from app.db.rows import fetch
from app.domain.accounts import credentials
from app.domain.accounts.scopes import Scope
from app.domain.campaigns.rows import Attester
from app.domain.deliverability import sql as deliverability
from app.domain.numbers import sql as numbers

AREA = 5
"""The length of the calling code and area code of a North American number, such as +1202."""

FIND = f"""
SELECT n.id, n.phone_number, n.parts_per_second, {deliverability.is_poor("n.account_id", "n.phone_number")} AS is_poor,
  n.reaches_phones, n.carrier
FROM {numbers.ACTIVE.format(account_id="$1")} n ORDER BY n.id
"""
FIND_LOAD = """
SELECT number, sum(segments)::bigint AS segments FROM campaign_recipients WHERE campaign_id = $1 AND state = 'claimed'
GROUP BY number
"""
UNPACED = 1000.0
"""The pace assumed for a number without one, in SMS parts a second."""


async def may_send(connection: Connection, account_id: int, attester: Attester, now: datetime) -> bool:
    """Return whether the credential of a sender has not ended: texts that have not left wait if it has."""
    credential = credentials.credential_of(account_id, attester.actor)
    return await credentials.may_still_within(connection, credential, Scope.campaigns_send, now, attester.attested_at)


class Sender(NamedTuple):
    """An active number of the account; `is_poor` if its recent delivery is poor."""

    id: int
    phone_number: str
    parts_per_second: float | None
    is_poor: bool
    reaches_phones: bool = True
    carrier: str = ""


async def are_active(connection: Connection, account_id: int, chosen: Collection[Sender]) -> bool:
    """Return whether numbers of an account are still active, and at the same connections to carriers."""
    found = await fetch(connection, Sender, FIND, account_id)
    return {(each.id, each.carrier) for each in chosen} <= {(each.id, each.carrier) for each in found}


@dataclass(slots=True)
class Senders:
    """The active numbers of an account, and the parts that wait at each."""

    numbers: Mapping[str, Sender]
    load: Counter[str] = field(default_factory=Counter)

    @classmethod
    async def read(cls, connection: Connection, account_id: int, campaign_id: int, forced_id: int | None) -> Self:
        """Return the numbers that a campaign can send from: only the forced one, if there is one.

        Without one, numbers of the sandbox count only where the account has no other.
        """
        found = await fetch(connection, Sender, FIND, account_id)
        is_real = any(each.reaches_phones for each in found)
        chosen = [each for each in found if (each.id == forced_id if forced_id else each.reaches_phones == is_real)]
        usable = {each.phone_number: each for each in chosen}
        waiting = await connection.fetch(FIND_LOAD, campaign_id) if len(usable) > 1 else ()
        return cls(usable, Counter({row["number"]: row["segments"] for row in waiting}))

    def choose(self, phone: str, usual_number: str | None, segments: int) -> Sender | None:
        """Return the number for a text: the contact's usual one, one of its area code, or the least loaded one.

        A number with poor delivery is chosen only for contacts with earlier texts from it, or where all are poor. None
        without numbers.
        """
        chosen = self.numbers.get(usual_number or "") or self._least_loaded(self._near(phone))
        if chosen:
            self.load[chosen.phone_number] += segments
        return chosen

    def _near(self, phone: str) -> Sequence[Sender]:
        every = list(self.numbers.values())
        healthy = [each for each in every if not each.is_poor] or every
        if not phone.startswith("+1"):
            return healthy
        return [each for each in healthy if each.phone_number.startswith(phone[:AREA])] or healthy

    def _least_loaded(self, among: Sequence[Sender]) -> Sender | None:
        return min(among, key=self._seconds, default=None)

    def _seconds(self, sender: Sender) -> float:
        return self.load[sender.phone_number] / (sender.parts_per_second or UNPACED)
