"""Read the next recipients of a campaign, the facts that decide on their texts, and the numbers that these leave from.

Nothing is locked. Each acceptance and refund of an account changes its row: while the account has the version with
which a batch was read, the caps and the load of its numbers are as they were.
"""

from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import accumulate, chain
from typing import NamedTuple

from app.db.engine import Connection
from app.db.rows import unless_all
from app.domain.accounts import sql as accounts
from app.domain.campaigns.rows import Waiting
from app.domain.campaigns.senders import Sender, Senders
from app.domain.kernel import sms_parts
from app.domain.kernel.sms_parts import Encoding
from app.domain.messages.acceptor import SendAcceptor
from app.domain.messages.eligibility import facts
from app.domain.messages.sending import bulk
from app.domain.messages.sending.bulk import BulkAcceptance, BulkFacts
from app.domain.quiet_hours.limits import Timing

BATCH = 500
"""The most texts of a batch, which takes about 0.1 s."""

OWN = len(Waiting._fields) - 1
"""The number of columns of a recipient in `TAKE`; those of its `BulkFacts` follow."""

FIND_VERSION = f"SELECT {accounts.version_of('$1')}"
# The ids of the messages are drawn from a sequence: a commit would wait until they are on the disk, with all else that
# was written before them.
TAKE = f"""
SELECT r.id, r.contact_id, r.phone, r.body, r.original_body, r.segments, r.credits, {bulk.columns("f")}
FROM (
  (SELECT * FROM campaign_recipients WHERE campaign_id = $1 AND state = 'queued' AND id > $5 ORDER BY id LIMIT $2)
  UNION ALL
  (SELECT * FROM campaign_recipients WHERE campaign_id = $1 AND due_at <= $3 AND state = 'deferred' AND id > $5
    ORDER BY due_at, id LIMIT $2)
  LIMIT $2
) r CROSS JOIN LATERAL {bulk.find_facts("$4::bigint", "r.contact_id", "r.phone")} f
CROSS JOIN set_config('synchronous_commit', 'off', true) ORDER BY r.due_at NULLS FIRST, r.id
"""


class Source(NamedTuple):
    """A campaign whose recipients are read, and the number that was chosen for all of its texts, if any."""

    account_id: int
    campaign_id: int
    number_id: int | None


class Addressed(NamedTuple):
    """A recipient with the sender of its text, which leaves at a time; None where `acceptance` decides on the text."""

    recipient: Waiting
    sender: Sender
    timing: Timing | None


class Free(NamedTuple):
    """A recipient whose text no gate refuses, with its sender and the time of the text."""

    recipient: Waiting
    sender: Sender
    timing: Timing


@dataclass(frozen=True, slots=True)
class Batch:
    """Recipients that wait, in their order, as they were when the account had a version.

    `columns` are the arguments for the texts that no gate refuses.
    """

    version: str
    account: facts.Sender
    texts: Sequence[Addressed]
    has_numbers: bool
    acceptance: BulkAcceptance
    free: Sequence[Free] = field(init=False)
    columns: Sequence[Sequence[object]] = field(init=False)

    def __post_init__(self) -> None:
        """Prepare the columns."""
        free = [Free(recipient, sender, timing) for recipient, sender, timing in self.texts if timing]
        object.__setattr__(self, "free", free)
        object.__setattr__(self, "columns", [*_columns(free)])

    @property
    def last_id(self) -> int:
        """Return the id of the last recipient."""
        return max(each.recipient.id for each in self.texts)

    @property
    def credits(self) -> int:
        """Return the credits of all texts."""
        return sum(each.recipient.credits for each in self.texts)

    @property
    def free_credits(self) -> list[int]:
        """Return the credits of each text that no gate refuses."""
        return [each.recipient.credits for each in self.free]

    def afford(self, balance: int) -> "Batch":
        """Return the batch without the texts, at its end, that a balance does not pay for."""
        spent = list(accumulate(each.recipient.credits for each in self.texts))
        if not spent or spent[-1] <= balance:
            return self
        return replace(self, texts=self.texts[: bisect(spent, balance)])


def _columns(texts: Sequence[Free]) -> Iterator[Sequence[object] | None]:
    """Return the arguments of `enqueue.TEXTS`: there is no column where all texts have its usual value."""
    recipients = [each.recipient for each in texts]
    senders = list(dict.fromkeys(each.sender for each in texts))
    places = {sender.id: place for place, sender in enumerate(senders, 1)}
    yield [each.id for each in recipients]
    yield [each.facts.message_id for each in recipients]
    yield [each.facts.conversation_id for each in recipients]
    yield unless_all([sms_parts.count(each.body).encoding for each in recipients], Encoding.gsm_7)
    yield unless_all([places[each.sender.id] for each in texts], 1)
    yield unless_all([each.timing.deferral and each.timing.deferral.until for each in texts], None)
    yield [sender.phone_number for sender in senders]
    yield [sender.carrier for sender in senders]
    yield unless_all([each.facts.person is not None for each in recipients], False)


async def read(
    connection: Connection,
    acceptor: SendAcceptor,
    source: Source,
    size: int,
    now: datetime,
    unwritten: Sequence[Batch] = (),
) -> Batch:
    """Return the next recipients, at most `size`; those after the batches that are not written yet."""
    version = await connection.fetchval(FIND_VERSION, source.account_id)
    account = facts.Sender(*await connection.fetchrow(accounts.FIND_SENDER, source.account_id))
    start = max((each.last_id for each in unwritten), default=0)
    rows = await connection.fetch(TAKE, source.campaign_id, size, now, source.account_id, start)
    waiting = [Waiting(*row[:OWN], facts=BulkFacts(*row[OWN:])) for row in map(tuple, rows)]
    senders = await Senders.read(connection, source.account_id, source.campaign_id, source.number_id)
    for each in chain.from_iterable(batch.texts for batch in unwritten):
        senders.load[each.sender.phone_number] += each.recipient.segments
    chosen = [senders.choose(each.phone, each.facts.usual_number, each.segments) for each in waiting]
    pairs = [(each, sender) for each, sender in zip(waiting, chosen, strict=True) if sender]
    acceptance = await acceptor.open_bulk(connection, source.account_id, (sender.carrier for _, sender in pairs))
    texts = [
        Addressed(each, sender, acceptance.decide(each.phone, each.segments, sender.carrier, each.facts))
        for each, sender in pairs
    ]
    return Batch(version, account, texts, bool(senders.numbers) or not waiting, acceptance)
