"""Explain whether a text would be accepted: the verdict of every gate, without any effect."""

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from app.db.engine import Pool
from app.db.rows import find
from app.domain.accounts import sql as accounts
from app.domain.carriers.connections import OpenConnections
from app.domain.kernel.errors import DomainError
from app.domain.messages.eligibility import facts, gates
from app.domain.messages.eligibility.facts import RequestRow, Sender, SendFacts
from app.domain.messages.eligibility.gates import Gate
from app.domain.messages.eligibility.limited import LimitedBatch, is_limited
from app.domain.messages.requests import SendRequest

FIND_FACTS = f"""
SELECT 0::bigint AS message_id, {facts.COLUMNS}, NULL AS fingerprint, NULL AS answer
FROM (SELECT $1::bigint AS account_id, $2::text AS phone, $3::bigint AS number_id, $4::bool AS keeps_number) AS r
{facts.JOINS}
"""


class Verdict(enum.StrEnum):
    """The verdict of a gate. It is `unknown` where the gate needs the recipient's phone, which cannot be read.

    A text that a gate has `deferred` is accepted, and leaves later.
    """

    passed = enum.auto()
    deferred = enum.auto()
    refused = enum.auto()
    unknown = enum.auto()


class GateVerdict(NamedTuple):
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


async def explain(pool: Pool, request: SendRequest, connections: OpenConnections, now: datetime) -> Explanation:
    """Return the verdicts on a send as the database stands; nothing is locked, written or recorded."""
    account = await find(pool, Sender, accounts.FIND_SENDER, request.account_id)
    if account and account.smart_encoding:
        request = request.encoded(fold_accents=account.fold_accents)
    to = request.phone or facts.read_phone(request.send.to.strip(), account.region if account else None)
    send = request.send
    wanted = request.account_id, to.e164 or "", send.from_phone_number_id, send.keeps_number
    row = await find(pool, RequestRow, FIND_FACTS, *wanted)
    assert row
    await connections.refresh()
    await connections.learn([row.carrier])
    balance, limit = account.balance if account else 0, connections.max_segments(row.carrier)
    known = facts.of_send(request, account, to, row, balance, limit)
    batch = LimitedBatch(now)
    if to.e164 and account and is_limited(send.purpose, limits_transactional=account.limits_transactional):
        await batch.read(pool, [(request.account_id, to.e164)])
        known.timing = batch.decide(request.account_id, to.e164, row.message_id)
        known.latest = batch.latest_of(send)
    return Explanation([_check(gate, known) for gate in gates.GATES], known)


def _check(gate: Gate[SendFacts], known: SendFacts) -> GateVerdict:
    if gate.needs_phone and known.phone is None:
        return GateVerdict(gate, Verdict.unknown)
    refused = gates.find_refusal([gate], known)
    if refused:
        return GateVerdict(gate, Verdict.refused, refused[1])
    is_deferred = gate.defers is not None and known.timing is not None and gate.defers(known.timing) is not None
    return GateVerdict(gate, Verdict.deferred if is_deferred else Verdict.passed)
