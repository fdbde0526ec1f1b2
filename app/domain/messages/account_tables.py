"""Tables of the area that the deletion of an account empties, and an export of it contains."""

from app.domain.kernel.account_tables import BY_ID, DELETE, DeletedTable, ExportedTable

NOTE_CARRIED = """
INSERT INTO carrier_erasures (message_id, carrier, provider_message_id, due_at)
SELECT id, carrier, provider_message_id,
  greatest($2::timestamptz, (SELECT claimed_until FROM outgoing WHERE message_id = m.id FOR UPDATE)) FROM messages m
WHERE ctid = ANY($1::tid[]) ON CONFLICT DO NOTHING
"""
DELETE_QUEUED = """
DELETE FROM outgoing WHERE message_id = ANY(ARRAY(SELECT id FROM messages WHERE ctid = ANY($1::tid[])))
"""
DELETE_RECEIPTS = """
DELETE FROM receipts WHERE message_id = ANY(ARRAY(SELECT id FROM messages WHERE ctid = ANY($1::tid[])))
"""
DELETE_UNMATCHED = """
DELETE FROM unmatched_receipts WHERE message_id = ANY(ARRAY(SELECT id FROM messages WHERE ctid = ANY($1::tid[])))
"""
DELETE_CARRIER_IDS = """
DELETE FROM carrier_ids n USING messages m WHERE m.ctid = ANY($1::tid[])
  AND n.carrier = m.carrier AND n.provider_message_id = m.provider_message_id AND n.direction = m.direction
"""

DELETED = (
    DeletedTable(
        "messages",
        BY_ID,
        statements=(NOTE_CARRIED, DELETE_QUEUED, DELETE_RECEIPTS, DELETE_UNMATCHED, DELETE_CARRIER_IDS, DELETE),
    ),
    DeletedTable("outgoing", parent="messages", key="message_id"),
)

EXPORTED = (ExportedTable("messages", order=BY_ID),)
