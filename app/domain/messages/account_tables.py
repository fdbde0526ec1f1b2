"""Tables of the area that the deletion of an account empties, and an export of it contains."""

from app.domain.kernel.account_tables import BY_ID, DELETE, PHYSICAL, DeletedTable, ExportedTable

NOTE_CARRIED = """
INSERT INTO carrier_erasures (message_id, carrier, provider_message_id, due_at)
SELECT id, carrier, provider_message_id,
  greatest($2::timestamptz, (SELECT claimed_until FROM outgoing WHERE message_id = m.id FOR UPDATE)) FROM messages m
WHERE id = ANY($1::bigint[]) ON CONFLICT DO NOTHING
"""
DELETE_QUEUED = "DELETE FROM outgoing WHERE message_id = ANY($1::bigint[])"
DELETE_RECEIPTS = "DELETE FROM receipts WHERE message_id = ANY($1::bigint[])"
DELETE_UNMATCHED = "DELETE FROM unmatched_receipts WHERE message_id = ANY($1::bigint[])"
DELETE_STATUS_QUERIES = "DELETE FROM status_queries WHERE message_id = ANY($1::bigint[])"
DELETE_CARRIER_IDS = """
DELETE FROM carrier_ids n USING messages m WHERE m.id = ANY($1::bigint[])
  AND n.carrier = m.carrier AND n.provider_message_id = m.provider_message_id AND n.direction = m.direction
  AND n.message_id = m.id
"""
DELETE_PART_IDS = "DELETE FROM carrier_ids WHERE message_id = ANY($1::bigint[]) AND parts > 1"

DELETED = (
    DeletedTable(
        "messages",
        BY_ID,
        statements=(
            NOTE_CARRIED,
            DELETE_QUEUED,
            DELETE_RECEIPTS,
            DELETE_UNMATCHED,
            DELETE_STATUS_QUERIES,
            DELETE_PART_IDS,
            DELETE_CARRIER_IDS,
            DELETE,
        ),
    ),
    DeletedTable("outgoing", parent="messages", key="message_id", row=PHYSICAL),
    DeletedTable("erased_calls", ("message_id",), row=PHYSICAL),
    DeletedTable("scheduled_texts", ("send_at", "message_id"), row=PHYSICAL),
)

EXPORTED = (ExportedTable("messages", order=BY_ID),)
