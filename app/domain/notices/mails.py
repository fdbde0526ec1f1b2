"""Mails notices that were not read in time."""

from dataclasses import dataclass

from app.db.engine import Database
from app.domain.accounts import mail_outbox
from app.domain.conversations import sql as conversations
from app.domain.kernel.clock import Clock
from app.domain.kernel.unit_of_work import Notify

BATCH = 100

# A notice that was read meanwhile is not mailed.
TAKE = f"""
WITH due AS (
  SELECT id FROM notices WHERE mail_at <= $1 ORDER BY mail_at, id LIMIT {BATCH} FOR UPDATE SKIP LOCKED
), taken AS (
  UPDATE notices n SET mail_at = NULL FROM due WHERE n.id = due.id RETURNING n.*
)
SELECT t.account_id, t.user_id, t.title, t.body, t.read_at IS NULL AS is_unread, {conversations.ID} AS conversation_id
FROM taken t {conversations.join("t.contact_id")} ORDER BY t.id
"""
IS_DUE = "SELECT EXISTS (SELECT FROM notices WHERE mail_at <= $1)"

IN_THREAD = "Open the conversation to read it, and to answer."
CHOSEN = "You get this mail by your choice of notices, which you change in the settings."


@dataclass(frozen=True, slots=True)
class NoticeMails:
    """Moves due notices to the outbox of mails, in one transaction."""

    database: Database
    clock: Clock
    notify: Notify

    async def run(self) -> bool:
        """Mail one batch; return whether more may be due."""
        async with self.database.pool.acquire() as connection, connection.transaction():
            taken = await connection.fetch(TAKE, self.clock.now())
            for row in taken:
                if row["is_unread"]:
                    thread = row["conversation_id"]
                    words = {
                        "subject": row["title"],
                        "opening": row["body"] or IN_THREAD,
                        "closing": CHOSEN,
                        "path": f"app/inbox/{thread}" if thread else "app/",
                    }
                    await mail_outbox.post_notice(connection, row["account_id"], row["user_id"], words)
        if taken:
            self.notify(mail_outbox.TOPIC)
        return len(taken) == BATCH

    async def due(self) -> bool:
        """Return whether a notice is to be mailed."""
        return await self.database.pool.fetchval(IS_DUE, self.clock.now())
