"""The rows that go with an account, table by table, in the order in which they are deleted: children first."""

from dataclasses import dataclass

BATCH = 1000
"""How many rows of a table one transaction deletes, with what hangs from them, such as the receipts of messages."""

DELETE = "DELETE FROM {table} WHERE ctid = ANY($1::tid[])"


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of one table that are an account's, by their own column or by `key`, their parent's id.

    `order` are the columns, unique together, of an index that begins with the account, or with the parent: a batch goes
    on where the one before it ended, and does not step over what that has deleted. A part without it is small. What
    becomes of a batch is said by `statements`, whose `$1` are places of locked rows, and `$2` the present instant.
    """

    table: str
    order: tuple[str, ...] = ()
    parent: str = ""
    key: str = ""
    which: str = "true"
    statements: tuple[str, ...] = (DELETE,)

    def select(self, limit: int, *, first: bool) -> str:
        """Return what locks the next batch: its rows' places, then where it ended. It skips what others have locked."""
        return self._select_of_parent(limit, first=first) if self.parent else self._select_own(limit, first=first)

    def exists(self) -> str:
        """Return what tells whether any row is left, locked or not."""
        if self.parent:
            child = f"SELECT FROM {self.table} WHERE {self.key} = p.id AND {self.which}"
            return f"SELECT EXISTS (SELECT FROM {self.parent} p WHERE p.account_id = $1 AND EXISTS ({child} OFFSET 0))"
        return f"SELECT EXISTS (SELECT FROM {self.table} WHERE account_id = $1 AND {self.which})"

    def changes(self) -> list[str]:
        """Return what is done with a batch."""
        return [statement.format(table=self.table) for statement in self.statements]

    def _select_own(self, limit: int, *, first: bool) -> str:
        columns = ", ".join(self.order)
        after = "" if first or not self.order else f" AND ({columns}) > ({_places(len(self.order))})"
        listed, ordering = (f", {columns}", f" ORDER BY {columns}") if self.order else ("", "")
        return (
            f"SELECT ctid{listed} FROM {self.table} WHERE account_id = $1 AND {self.which}{after}{ordering}"
            f" LIMIT {limit} FOR UPDATE SKIP LOCKED"
        )

    def _select_of_parent(self, limit: int, *, first: bool) -> str:
        after = "" if first else " AND p.id >= $2"
        of_parent = "" if first else " AND id > CASE WHEN p.id = $2 THEN $3::bigint ELSE 0 END"
        listed, ordering = (", p.id, t.id", " ORDER BY id") if self.order else ("", "")
        child = f"SELECT ctid{', id' if self.order else ''} FROM {self.table} WHERE {self.key} = p.id AND {self.which}"
        return (
            f"SELECT t.ctid{listed} FROM {self.parent} p CROSS JOIN LATERAL"
            f" ({child}{of_parent}{ordering} LIMIT {limit} FOR UPDATE SKIP LOCKED) t"
            f" WHERE p.account_id = $1{after} ORDER BY p.id LIMIT {limit}"
        )


def _places(count: int) -> str:
    return ", ".join(f"${number}" for number in range(2, count + 2))


END_SUBSCRIPTIONS = """
UPDATE webhook_subscriptions SET status = 'removed', wake_at = NULL, leased_until = NULL, lease = lease + 1
WHERE ctid = ANY($1::tid[])
"""
NOTE_CARRIED = """
INSERT INTO carrier_erasures (message_id, carrier, provider_message_id, due_at)
SELECT id, carrier, provider_message_id, greatest($2::timestamptz, claimed_until) FROM messages
WHERE ctid = ANY($1::tid[]) ON CONFLICT DO NOTHING
"""
DELETE_RECEIPTS = """
DELETE FROM receipts WHERE message_id = ANY(ARRAY(SELECT id FROM messages WHERE ctid = ANY($1::tid[])))
"""
EMPTY_ENTRIES = "UPDATE ledger_entries SET description = '', actor = '' WHERE ctid = ANY($1::tid[])"
EMPTY_SUPPRESSIONS = "UPDATE suppressions SET keyword = '' WHERE ctid = ANY($1::tid[])"

UNLINK_SUCCESSORS = "UPDATE api_keys SET successor_id = NULL WHERE ctid = ANY($1::tid[])"

BY_ID = ("id",)
PARTS = (
    Part("webhook_subscriptions", which="status <> 'removed'", statements=(END_SUBSCRIPTIONS,)),
    Part("phone_numbers"),
    Part("sequence_enrollments", BY_ID, parent="sequences", key="sequence_id"),
    Part("sequence_steps", parent="sequences", key="sequence_id"),
    Part("sequences", BY_ID),
    Part("messages", BY_ID, statements=(NOTE_CARRIED, DELETE_RECEIPTS, DELETE)),
    Part("conversations", ("last_message_at", "id")),
    Part("contacts", ("phone",)),
    Part("contact_totals"),
    Part("consents", ("phone", "id")),
    Part("suppressions", ("phone", "scope_type", "scope_id"), which="keyword <> ''", statements=(EMPTY_SUPPRESSIONS,)),
    Part("holds", ("phone",)),
    Part("watched_keywords", ("keyword",)),
    Part("webhook_deliveries", BY_ID, parent="webhook_subscriptions", key="subscription_id"),
    Part("webhook_notices", BY_ID),
    Part("webhook_subscriptions"),
    Part("events", ("name", "id")),
    Part("idempotency_keys", ("key",)),
    Part("oauth_codes", parent="oauth_grants", key="grant_id"),
    Part("oauth_refresh_tokens", parent="oauth_grants", key="grant_id"),
    Part("oauth_grants", BY_ID),
    Part("oauth_clients"),
    Part("waiting_mails"),
    Part("invitations"),
    Part("makers", which="key_id IS NOT NULL"),
    Part("makers", which="key_id IS NULL"),
    Part("api_keys", which="successor_id IS NOT NULL", statements=(UNLINK_SUCCESSORS,)),
    Part("api_keys"),
    Part("password_links", parent="users", key="user_id"),
    Part("sessions", parent="users", key="user_id"),
    Part("audit_entries", BY_ID),
    Part("users"),
    Part("ledger_entries", BY_ID, which="(description <> '' OR actor <> '')", statements=(EMPTY_ENTRIES,)),
)
"""Webhooks end first, and numbers go before what comes in on them, so that little is added meanwhile.

A carrier is asked to forget messages once they are gone here (`carriers`). The attempts of a delivery go with it.
"""
