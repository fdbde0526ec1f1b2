"""Stops the numbers that their carriers refuse as not registered: each further text would cost money for nothing."""

from collections.abc import Iterable
from dataclasses import dataclass

from app.domain.carriers.carrier import FailureCode
from app.domain.events import outbox
from app.domain.events.outbox import Recorded
from app.domain.events.reactions import Batch, OutboxEvent, Reaction
from app.domain.messages import sql as messages
from app.domain.messages.events import MessageDelivered, MessageFailed
from app.domain.notices.events import OwnersNotified
from app.domain.notices.models import NoticeKind
from app.domain.numbers import sql as numbers

TITLE = "The number {number} is paused"
BODY = (
    "Its carrier refused the last {count} texts because the number is not registered for business texts. Texts leave "
    "from your other numbers. Finish the registration with the carrier, then resume the number."
)


@dataclass(slots=True)
class Tally:
    """The refusals of a number since the last delivery in a batch of events, if it has one."""

    is_delivered: bool = False
    refusals: int = 0


async def stop(batch: Batch) -> None:
    """Count the refusals of numbers in a batch of events, and pause those with too many in a row."""
    failed = [event.payload["message_id"] for event in batch.events if event.name == MessageFailed.name]
    results = await batch.connection.fetch(messages.FIND_RESULTS, failed) if failed else []
    refused = {row["id"] for row in results if row["error_code"] == FailureCode.unregistered_sender}
    tallies = _count(batch.events, refused)
    if not tallies:
        return
    rows = await batch.connection.fetch(
        numbers.COUNT_REFUSALS,
        [account_id for account_id, _ in tallies],
        [number for _, number in tallies],
        [tally.is_delivered for tally in tallies.values()],
        [tally.refusals for tally in tallies.values()],
    )
    stopped = [row for row in rows if row["is_newly_refused"]]
    if stopped:
        notices = [Recorded(row["account_id"], _notice(row["id"], row["phone_number"])) for row in stopped]
        await outbox.record_all(batch.connection, notices)
        batch.notify("events")


REACTIONS = (Reaction("refusals", stop),)


def _count(events: Iterable[OutboxEvent], refused: set[int]) -> dict[tuple[int, str], Tally]:
    tallies: dict[tuple[int, str], Tally] = {}
    for event in events:
        if event.name == MessageDelivered.name or event.payload.get("message_id") in refused:
            tally = tallies.setdefault((event.account_id, event.payload["from_number"]), Tally())
            tally.is_delivered = tally.is_delivered or event.name == MessageDelivered.name
            tally.refusals = 0 if event.name == MessageDelivered.name else tally.refusals + 1
    return tallies


def _notice(id: int, number: str) -> OwnersNotified:
    title, body = TITLE.format(number=number), BODY.format(count=numbers.MOST_REFUSALS)
    return OwnersNotified(kind=NoticeKind.number, title=title, body=body, subject_id=id)
