"""Carriers' reports: journaled and applied in batches, in any order and any number of times.

Reports that arrive while a batch is applied form the next batch. A batch does not wait for locks: the reports on rows
that another transaction has locked wait in a queue of their account and do not delay other accounts.
"""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from app.db.engine import CONTENDED, UNREACHABLE, Database
from app.domain.kernel.account_queues import AccountQueues
from app.domain.kernel.clock import Clock
from app.domain.kernel.micro_batcher import MicroBatcher, serve_parts
from app.domain.kernel.unit_of_work import Actor, Notify, open_unit
from app.domain.messages import carrier_ids, outcome
from app.domain.messages.application import FIND, Application, Fate, Held, Said
from app.domain.messages.carrier import FailureCode, Receipt, ReceiptStatus

UNMATCHED_FOR = timedelta(hours=24)
"""The time that a receipt is stored without a matching message."""

MAX_BATCH = 128
MATCHED = 100
"""How many reports that were matched are applied at once."""

WAITING = 4
"""Default number of account queues that wait in the database concurrently; each uses a connection."""

KEEP_UNMATCHED = """
INSERT INTO unmatched_receipts (carrier, provider_message_id, status, raw_status, error_code, carrier_error, part)
VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING
"""

FIND_MATCHED = f"""
SELECT id, carrier, provider_message_id, status, raw_status, error_code, carrier_error, part
FROM unmatched_receipts WHERE message_id IS NOT NULL ORDER BY id LIMIT {MATCHED}
"""
IS_MATCHED = "SELECT EXISTS (SELECT FROM unmatched_receipts WHERE message_id IS NOT NULL)"

Verdict = Fate | Held | Exception


class Receipts:
    """Applies the reports of all carriers in batches: one at a time in a process, and one in each account's queue.

    The queues use at most `waiting` connections; the pool must have more.
    """

    def __init__(self, database: Database, clock: Clock, notify: Notify, waiting: int = WAITING) -> None:
        self._database = database
        self._clock = clock
        self._notify = notify
        self._line: MicroBatcher[Said, Verdict] = MicroBatcher(partial(self._serve, waits=False), MAX_BATCH)
        self._queues: AccountQueues[Said, Verdict]
        self._queues = AccountQueues(partial(self._serve, waits=True), MAX_BATCH, waiting)

    async def receive(self, carrier: str, receipt: Receipt) -> None:
        """Journal a report and apply it; keep it apart while its message is not known. Again changes nothing.

        Returns after the commit. A report on a message that is erased at this moment is dropped.
        """
        said = Said(carrier, receipt)
        while await self._apply(said) is Fate.unmatched and not await self._keep_unmatched(said):
            pass

    async def match(self) -> bool:
        """Apply reports that came before their messages were known, and were matched since; return True for any."""
        rows = await self._database.pool.fetch(FIND_MATCHED)
        await asyncio.gather(*(self._apply(Said(row["carrier"], _receipt(row), row["id"])) for row in rows))
        return bool(rows)

    async def due(self) -> bool:
        """Tell whether a report was matched that is not applied."""
        return await self._database.pool.fetchval(IS_MATCHED)

    async def close(self) -> None:
        """Wait until every report that was taken is applied."""
        await self._line.close()
        await self._queues.close()

    async def _apply(self, said: Said) -> Fate:
        if said.receipt.code is FailureCode.opted_out:
            await self._keep_opt_out(said)
        verdict = await self._line(said)
        if isinstance(verdict, Held):
            verdict = await self._queues(verdict.account_id, said)
        assert not isinstance(verdict, Held), "whoever waits gets what it waited for, or an error"
        if isinstance(verdict, Exception):
            raise verdict
        return verdict

    async def _serve(self, reports: Sequence[Said], *, waits: bool) -> Sequence[Verdict]:
        """Apply reports; what breaks a batch is found by applying each alone."""
        application = Application(reports, self._clock.now(), waits)
        try:
            async with self._database.pool.acquire() as connection, connection.transaction():
                fates = await application.run(connection)
        except Exception as cause:
            is_away = isinstance(cause, UNREACHABLE) and not isinstance(cause, CONTENDED)
            if len(reports) == 1 or is_away:
                return [cause] * len(reports)
            return await serve_parts(partial(self._serve, waits=waits), reports, range(len(reports)))
        if application.has_events:
            self._notify("events")
        if application.has_matched:
            self._notify("receipts")
        return fates

    async def _keep_unmatched(self, said: Said) -> bool:
        """Keep a report until its message is known; return False where a message has got its id by now."""
        ids = [said.carrier], [said.receipt.provider_message_id]
        async with self._database.pool.acquire() as connection, connection.transaction():
            if not await connection.fetch(carrier_ids.HOLD, *ids):
                return False
            await connection.execute(KEEP_UNMATCHED, said.carrier, *_columns(said.receipt))
            await connection.execute(carrier_ids.RELEASE, *ids)
        return True

    async def _keep_opt_out(self, said: Said) -> None:
        """Keep an opt-out that only the carrier knew of, before its report is applied: then none is ever lost."""
        receipt = said.receipt
        [found] = await self._database.pool.fetch(
            FIND, [said.carrier], [receipt.provider_message_id], [receipt.reference]
        )
        if found["account_id"]:
            actor = Actor(found["account_id"], frozenset(), f"carrier:{said.carrier}")
            async with open_unit(self._database.sessions, actor, self._clock, self._notify) as unit:
                await outcome.opt_out(unit, found["message_id"])


def _columns(receipt: Receipt) -> tuple[str, str, str, str | None, str, int]:
    return (
        receipt.provider_message_id,
        receipt.status.value,
        receipt.raw_status,
        receipt.code,
        receipt.carrier_error,
        receipt.part,
    )


def _receipt(row: Any) -> Receipt:
    return Receipt(
        provider_message_id=row["provider_message_id"],
        status=ReceiptStatus(row["status"]),
        raw_status=row["raw_status"],
        code=FailureCode(row["error_code"]) if row["error_code"] else None,
        carrier_error=row["carrier_error"],
        part=row["part"],
    )
