"""Explain whether a text would be accepted: the verdict of every gate, without any effect."""

import enum
from collections.abc import Sequence
from dataclasses import dataclass

from app.db.engine import Pool
from app.db.rows import find
from app.domain.accounts import sql as accounts
from app.domain.carriers.connections import OpenConnections
from app.domain.kernel.errors import DomainError
from app.domain.messages import facts, gates
from app.domain.messages.facts import RequestRow, Sender, SendFacts
from app.domain.messages.gates import Gate
from app.domain.messages.requests import SendRequest

FIND_FACTS = f"""
SELECT 0::bigint AS message_id, {facts.COLUMNS}, NULL AS fingerprint, NULL AS answer
FROM (SELECT $1::bigint AS account_id, $2::text AS phone, $3::bigint AS number_id, $4::bool AS keeps_number) AS r
{facts.JOINS}
"""


class Verdict(enum.StrEnum):
    """The verdict of a gate. It is `unknown` where the gate needs the recipient's phone, which cannot be read."""

    passed = enum.auto()
    refused = enum.auto()
    unknown = enum.auto()


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """The verdict of one gate, with its error where it refuses."""

    gate: Gate[SendFacts]
    verdict: Verdict
    error: DomainError | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """The verdicts of all gates in their order, and the facts that they decided by."""

    verdicts: Sequence[GateVerdict]
    facts: SendFacts

    @property
    def blocked_by(self) -> GateVerdict | None:
        """Return the first gate that refuses; its error is that of a send. None where the text would be accepted."""
        return next((each for each in self.verdicts if each.verdict is Verdict.refused), None)


async def explain(pool: Pool, request: SendRequest, connections: OpenConnections) -> Explanation:
    """Return the verdicts on a send as the database stands; nothing is locked, written or recorded."""
    account = await find(pool, Sender, accounts.FIND_SENDER, request.account_id)
    to = request.phone or facts.read_phone(request.send.to.strip(), account.region if account else None)
    send = request.send
    wanted = request.account_id, to.e164 or "", send.from_phone_number_id, send.keeps_number
    row = await find(pool, RequestRow, FIND_FACTS, *wanted)
    assert row
    await connections.refresh()
    await connections.learn([row.carrier])
    balance, limit = account.balance if account else 0, connections.max_segments(row.carrier)
    known = facts.of_send(request, account, to, row, balance, limit)
    return Explanation([_check(gate, known) for gate in gates.GATES], known)


def _check(gate: Gate[SendFacts], known: SendFacts) -> GateVerdict:
    if gate.needs_phone and known.phone is None:
        return GateVerdict(gate, Verdict.unknown)
    refused = gates.find_refusal([gate], known)
    return GateVerdict(gate, Verdict.refused, refused[1]) if refused else GateVerdict(gate, Verdict.passed)
