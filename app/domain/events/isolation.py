"""Finds the events of a batch that make a reaction fail, and runs the reaction for the others."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.db.engine import CONTENDED, UNREACHABLE
from app.domain.events.reactions import AccountsBusy, Batch, OutboxEvent, Reaction


@dataclass(frozen=True, slots=True)
class Failure:
    """An event, the reaction that failed for it, and the error."""

    event: OutboxEvent
    reaction: str
    error: Exception


async def isolate(reaction: Reaction, batch: Batch) -> Sequence[Failure]:
    """Run a reaction in a savepoint; if it fails, run it for each half of the batch, down to single events.

    Raises `AccountsBusy` for an account whose rows another transaction has locked.
    """
    try:
        async with batch.connection.transaction():
            await reaction.run(batch)
    except CONTENDED:
        if len(accounts := batch.find_accounts()) == 1:
            raise AccountsBusy(accounts) from None
    except (AccountsBusy, *UNREACHABLE):
        raise
    except Exception as error:
        if len(batch.events) == 1:
            return [Failure(batch.events[0], reaction.name, error)]
    else:
        return ()
    first, second = _split(batch)
    return [*await isolate(reaction, first), *await isolate(reaction, second)]


def _split(batch: Batch) -> tuple[Batch, Batch]:
    events = sorted(batch.events, key=lambda event: (event.account_id, event.id))
    middle = len(events) // 2
    return replace(batch, events=events[:middle]), replace(batch, events=events[middle:])
