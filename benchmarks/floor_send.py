"""The baseline of a send, `python -m benchmarks.floor_send POOL`: raw ASGI and one statement.

It writes the same rows as the product, and checks only the balance: no key and no gate.
"""

import gc
import os
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import asyncpg
import orjson
import uvicorn

SEND = """
WITH debited AS (
  UPDATE accounts SET balance = balance - 1 WHERE id = $1 AND balance >= 1 RETURNING id, balance, rate
), known AS (
  SELECT id FROM contacts WHERE account_id = $1 AND phone = $2
), added AS (
  INSERT INTO contacts (account_id, phone, source)
  SELECT id, $2, 'api' FROM debited WHERE NOT EXISTS (SELECT FROM known)
  ON CONFLICT (account_id, phone) DO UPDATE SET phone = excluded.phone RETURNING id
), conversation AS (
  INSERT INTO conversations (account_id, contact_id, last_message_at)
  SELECT debited.id, contact.id, now() FROM debited, (TABLE known UNION ALL TABLE added) AS contact
  ON CONFLICT (contact_id) DO UPDATE SET last_message_at = excluded.last_message_at RETURNING id, contact_id
), number AS (
  SELECT phone_number, carrier FROM phone_numbers WHERE account_id = $1 AND status = 'active'
  ORDER BY is_primary DESC, id LIMIT 1
), sent AS (
  INSERT INTO messages (account_id, contact_id, conversation_id, direction, from_number, to_number, body, status,
    purpose, segments, encoding, credits, cost, carrier, actor)
  SELECT debited.id, contact_id, conversation.id, 'outbound', phone_number, $2, $3, 'pending',
    'transactional', 1, 'GSM-7', 1, rate, carrier, 'floor'
  FROM debited, conversation, number RETURNING id, account_id, from_number, carrier
), queued AS (
  INSERT INTO outgoing (message_id, account_id, lane, number, carrier, segments, due_at)
  SELECT id, account_id, 2, from_number, carrier, 1, now() FROM sent
), entered AS (
  INSERT INTO ledger_entries (account_id, type, amount, balance_after, message_id, description, actor)
  SELECT debited.id, 'debit', -1, balance, sent.id, 'Message ' || sent.id, 'floor' FROM debited, sent
), attested AS (
  INSERT INTO consents (account_id, phone, kind, method, message_id, actor)
  SELECT $1, $2, 'attested', 'api_attestation', id, 'floor' FROM sent
)
SELECT sent.id, balance FROM sent, debited
"""

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class Floor:
    """An ASGI application. A header contains the account."""

    def __init__(self, url: str, size: int) -> None:
        self._url = url
        self._size = size

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a send."""
        if scope["type"] == "lifespan":
            await self._start(receive, send)
            return
        asked = orjson.loads((await receive())["body"])
        account_id = int(dict(scope["headers"])[b"x-account-id"])
        id, balance = await self._pool.fetchrow(SEND, account_id, asked["to"], asked["message"])
        answer = {"message_id": str(id), "segments": 1, "status": "pending", "credits_remaining": balance}
        body = orjson.dumps({"success": True, "data": answer})
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _start(self, receive: Receive, send: Send) -> None:
        """Connect, then configure the garbage collector as the product does. The process is ended with a signal."""
        await receive()
        self._pool = await asyncpg.create_pool(self._url, min_size=1, max_size=self._size, reset=_keep)
        gc.collect()
        gc.freeze()
        gc.set_threshold(20_000, 50, 100)
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})


async def _keep(_connection: Any) -> None:
    """Release a connection without a reset, as the product does."""


if __name__ == "__main__":
    uvicorn.run(
        Floor(os.environ["DATABASE_URL"], int(sys.argv[1])),
        port=int(os.environ["PORT"]),
        loop="uvloop",
        http="httptools",
        lifespan="on",
        access_log=False,
        log_level="warning",
        server_header=False,
    )
