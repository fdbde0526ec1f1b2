"""Reads and changes messages, receipts and the rows of the sandbox carrier."""

from datetime import datetime
from typing import Any

from tests.factories.tables import Rows, Source, ago, open_pool

CARRIER_ERASURES = Rows("carrier_erasures")
CARRIER_IDS = Rows("carrier_ids")
ERASED_CALLS = Rows("erased_calls")
ERASED_TEXTS = Rows("erased_texts")
INBOUND_LISTINGS = Rows("inbound_listings")
MESSAGES = Rows("messages")
MESSAGE_MARKS = Rows("message_marks")
OPT_IN_REQUESTS = Rows("opt_in_requests")
OUTGOING = Rows("outgoing")
RECEIPTS = Rows("receipts")
SANDBOX_CALLBACKS = Rows("sandbox_callbacks")
SANDBOX_MESSAGES = Rows("sandbox_messages")
STATUS_QUERIES = Rows("status_queries")
TOKEN_BUCKETS = Rows("token_buckets")
UNMATCHED_CALLBACKS = Rows("unmatched_callbacks")
UNMATCHED_RECEIPTS = Rows("unmatched_receipts")

INBOUND = MESSAGES.where(direction="inbound")
OUTBOUND = MESSAGES.where(direction="outbound")


async def id_of_message(source: Source) -> int:
    """Return the id of the only message."""
    return await MESSAGES.only(source, "id")


async def bodies(source: Source, **which: Any) -> list[str]:
    """Return the body of each message, in the order of acceptance."""
    return await MESSAGES.where(**which).read(source, "body")


async def states(source: Source) -> list[tuple[str, str | None]]:
    """Return the status and error code of every outbound message, in the order of acceptance."""
    return await OUTBOUND.read(source, "status", "error_code")


async def calls(source: Source) -> list[tuple[str, int]]:
    """Return the bodies that reached the carrier, with the number of hand-offs of each."""
    handed_over = await SANDBOX_MESSAGES.read(source, "reference", "body", "calls")
    return [(body, times) for _, body, times in sorted(handed_over)]


async def add_backlog(source: Source, account_id: int, number: str, count: int) -> None:
    """Queue texts of one part from a number, without their messages."""
    queued = (
        "INSERT INTO outgoing (message_id, account_id, lane, number, carrier, due_at)"
        " SELECT id, $1, 2, $2, 'sandbox', '2020-01-01' FROM generate_series(1, $3::bigint) AS id"
    )
    await open_pool(source).execute(queued, account_id, number, count)


async def add_texts(source: Source) -> None:
    """Add a pending text to the contact of each conversation."""
    added = (
        "INSERT INTO messages (account_id, contact_id, conversation_id, direction, from_number, to_number, body,"
        " status, segments, encoding, credits, cost, carrier, actor)"
        " SELECT c.account_id, c.id, v.id, 'outbound', '+15002000001', c.phone, 'Hi', 'pending', 1, 'GSM-7', 1, 0.01,"
        " 'sandbox', 'test' FROM contacts c JOIN conversations v ON v.contact_id = c.id"
    )
    await open_pool(source).execute(added)


async def add_unmatched_receipt(source: Source, provider_message_id: str, **values: Any) -> int:
    """Insert an unmatched receipt with status `sent`; return its id."""
    defaults = {"carrier": "sandbox", "status": "sent", "raw_status": "sent", "carrier_error": "", "part": 1}
    return await UNMATCHED_RECEIPTS.insert(source, provider_message_id=provider_message_id, **(defaults | values))


async def add_handed_over(source: Source, reference: int, at: datetime | None) -> None:
    """Insert a message that the sandbox accepted at an instant; with None its receipt is still due."""
    texts = {"provider_message_id": "", "from_number": "", "to_number": "", "body": "", "outcome": "accepted"}
    await SANDBOX_MESSAGES.insert(source, reference=reference, accepted_at=at, received_at=at or ago(), **texts)
    if at is None:
        await SANDBOX_CALLBACKS.insert(source, reference=reference, kind="status", payload={}, due_at=ago())
