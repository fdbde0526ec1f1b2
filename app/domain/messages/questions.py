"""Questions to carriers about messages whose state is unknown."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from app.db.engine import Pool
from app.domain.carriers.carrier import Accepted, Ambiguous, Answer, FailureCode, OutboundMessage, Rejected
from app.domain.carriers.connections import OpenConnections
from app.domain.kernel.clock import Clock
from app.domain.kernel.time_limit import TimeLimit
from app.domain.messages.outgoing import ClaimedText
from app.domain.messages.receipts import carrier_ids
from app.domain.messages.recording import Gone, Result, Unconfirmed


@dataclass(frozen=True, slots=True)
class Questions:
    """Asks carriers whether they have messages, each question within a time limit."""

    pool: Pool
    connections: OpenConnections
    clock: Clock
    limit: TimeLimit
    unconfirmed_after: timedelta

    async def ask(self, text: ClaimedText) -> Result:
        """Return the carrier's answer about a message, or the conclusion once it has been asked for long enough."""
        if text.body is None:
            return Gone()
        found = await self._find(text)
        if found is None and not self._is_listed(text):
            return Ambiguous("the carrier may not list the message yet")
        since = text.unanswered_since
        if since is None or self.clock.now() < since + self.unconfirmed_after:
            return found
        match found:
            case Ambiguous():
                return Unconfirmed()
            case None:
                return Rejected(FailureCode.expired)
            case _:
                return found

    async def _find(self, text: ClaimedText) -> Answer | None:
        """Ask the carrier; None stands for "it does not list it", `Ambiguous` for "it cannot be asked"."""
        connection = await self.connections.seek(text.carrier)
        if connection is None:
            return Ambiguous("the carrier is not set up any more")
        try:
            async with connection:
                found = await self.limit.run(connection.carrier.find(message_of(text), text.created_at))
            return await self._choose(text, found)
        except (ConnectionError, TimeoutError):
            return Ambiguous("the carrier cannot be asked")
        except Exception as error:  # a defect of an adapter ends no question about another text
            report(text, error)
            return Ambiguous("the carrier's answer was not understood")

    async def _choose(self, text: ClaimedText, found: Sequence[Accepted | Rejected]) -> Accepted | Rejected | None:
        """Return the first answer that is certainly ours, or whose id no other message has, and take that id.

        Two texts with the same words between the same numbers may be asked for at the same time.
        """
        for answer in found:
            id = answer.provider_message_id
            is_certain = id is None if isinstance(answer, Rejected) else answer.is_ours
            if is_certain or await carrier_ids.take(self.pool, text.carrier, id or "", text.message_id):
                return answer
        return None

    def _is_listed(self, text: ClaimedText) -> bool:
        """Tell whether the carrier certainly lists the message by now if it has it."""
        known, now = self.connections.find(text.carrier), self.clock.now()
        return known is not None and now - (text.asked_since or now) >= known.carrier.capabilities.lists_within


def message_of(text: ClaimedText) -> OutboundMessage:
    """Return a text as its carrier is given it."""
    return OutboundMessage(text.message_id, text.from_number, text.to_number, text.body or "", text.segments)


def report(text: ClaimedText, error: Exception) -> None:
    """Have a defect of a carrier's adapter logged; the carrier may have the message all the same."""
    message = f"message {text.message_id} was given to its carrier, with no answer"
    asyncio.get_running_loop().call_exception_handler({"message": message, "exception": error})
