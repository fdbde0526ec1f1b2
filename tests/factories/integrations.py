"""Reads and adds integrations, events, bookings and their texts; lists the simulated scheduling tools."""

from collections.abc import Mapping
from datetime import datetime
from types import ModuleType

from app.db.engine import Pool
from tests.factories.tables import Rows
from tests.peers import calcom, calendly

INTEGRATIONS = Rows("integrations")
INTEGRATION_EVENTS = Rows("integration_events")
BOOKINGS = Rows("bookings")
BOOKING_TEXTS = Rows("booking_texts")

SECRET = "the secret of the tool"
TOOLS: Mapping[str, ModuleType] = {each.KIND: each for each in (calendly, calcom)}
"""The simulated scheduling tools; a new one is added here."""

ADD_BOOKINGS = """
WITH added AS (
  INSERT INTO bookings (account_id, integration_id, external_id, is_known, made_at, starts_at, created_at, updated_at)
  SELECT i.account_id, i.id, 'former' || n, true, at, at, at, at
  FROM integrations i, generate_series(1, $2) n, LATERAL (SELECT $3::timestamptz + n * interval '1 minute' AS at) times
  WHERE i.id = $1 RETURNING id, account_id, external_id, starts_at
), told AS (
  INSERT INTO integration_events (account_id, integration_id, key, event, body, status, due_at, booking_id, received_at)
  SELECT account_id, $1, external_id, '', '', 'applied', starts_at, id, starts_at FROM added
)
INSERT INTO booking_texts (account_id, booking_id, kind, starts_at, due_at, expires_at)
SELECT account_id, id, 'reminder_hour', starts_at, starts_at, starts_at FROM added
"""


async def add_bookings(pool: Pool, integration_id: int, count: int, first: datetime) -> None:
    """Add bookings, one in each minute, each with an event and a text that waits until then.

    The planner gets the present statistics, and indexes without the rows of earlier tests.
    """
    await pool.execute(ADD_BOOKINGS, integration_id, count, first)
    for table in ("bookings", "booking_texts", "integration_events"):
        await pool.execute(f"VACUUM ANALYZE {table}")
