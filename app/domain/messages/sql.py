"""SQL fragments on messages for the statements of other areas."""

NEXT_ID = "SELECT nextval('messages_id_seq')"
"""Returns an id that no message has."""

FIND_CONNECTION = "SELECT carrier FROM messages WHERE id = $1 AND direction = 'outbound'"
"""Find the key of the connection of the outbound message `$1`."""


def join(message_id: str) -> str:
    """Return a join with the message `m` of an id."""
    return f"JOIN messages m ON m.id = {message_id}"


def newest_inbound_id(contact_id: str) -> str:
    """Return the id of a contact's newest inbound message, or 0."""
    return f"coalesce((SELECT max(id) FROM messages m WHERE {_inbound(contact_id)}), 0)"


def has_inbound_after(contact_id: str, message_id: str) -> str:
    """Return the condition that a contact has sent a message after another message."""
    return f"EXISTS (SELECT FROM messages m WHERE {_inbound(contact_id)} AND m.id > {message_id})"


def inbound_bodies_since(contact_id: str, instant: str, limit: int) -> str:
    """Return the bodies of a contact's messages since an instant, newest first."""
    return (
        f"ARRAY(SELECT body FROM messages m WHERE {_inbound(contact_id)} AND m.created_at >= {instant}"
        f" ORDER BY m.id DESC LIMIT {limit})"
    )


def _inbound(contact_id: str) -> str:
    return f"m.contact_id = {contact_id} AND m.direction = 'inbound'"


FIND_OF_ACTOR = "SELECT id FROM messages WHERE id = ANY($1::bigint[]) AND starts_with(actor, $2)"
"""Find those of the messages `$1` whose actor has a label that begins with `$2`."""

FIND_ACTORS = "SELECT id, actor FROM messages WHERE id = ANY($1::bigint[])"
"""Find the labels of the actors of the messages `$1`."""
