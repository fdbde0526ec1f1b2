"""SQL fragments on messages for the statements of other areas."""

from collections.abc import Iterable

NEXT_ID = "SELECT nextval('messages_id_seq')"
"""Returns an id that no message has."""

FIND_CONNECTION = "SELECT carrier FROM messages WHERE id = $1 AND direction = 'outbound'"
"""Find the key of the connection of the outbound message `$1`."""


FIND_RESULTS = "SELECT id, status, error_code FROM messages WHERE id = ANY($1::bigint[])"
"""Find the status and error code of the messages `$1`."""

LOCK_RESULTS = f"{FIND_RESULTS} ORDER BY id FOR SHARE"
"""Find the same, which does not change until the transaction ends: a later change has its event after that."""


def join(message_id: str) -> str:
    """Return a join with the message `m` of an id."""
    return f"JOIN messages m ON m.id = {message_id}"


def is_put_off(id: str, instant: str) -> str:
    """Return the condition that the text of a message waits for hours of its recipient that begin after an instant."""
    return (
        f"EXISTS (SELECT FROM outgoing o JOIN messages m ON m.id = o.message_id WHERE o.message_id = {id}"
        f" AND o.due_at > {instant} AND m.deferred_until > {instant})"
    )


def newest_inbound_id(contact_id: str) -> str:
    """Return the id of a contact's newest inbound message, or 0."""
    return f"coalesce((SELECT max(id) FROM messages m WHERE {_inbound(contact_id)}), 0)"


def has_inbound_after(contact_id: str, message_id: str) -> str:
    """Return the condition that a contact has sent a message after another message."""
    return f"EXISTS (SELECT FROM messages m WHERE {_inbound(contact_id)} AND m.id > {message_id})"


def has_written_last_from(contact_id: str, phone: str) -> str:
    """Return the condition that the newest message of a contact came from a phone."""
    newest = f"SELECT m.from_number FROM messages m WHERE {_inbound(contact_id)} ORDER BY m.id DESC LIMIT 1"
    return f"coalesce(({newest}) = {phone}, false)"


def inbound_bodies_since(contact_id: str, instant: str, limit: int) -> str:
    """Return the bodies of a contact's messages since an instant, newest first."""
    return (
        f"ARRAY(SELECT body FROM messages m WHERE {_inbound(contact_id)} AND m.created_at >= {instant}"
        f" ORDER BY m.id DESC LIMIT {limit})"
    )


def last_text_before(contact_id: str, number: str, instant: str) -> str:
    """Return the time of the newest text from a number to a contact before an instant, without compliance replies."""
    return (
        f"(SELECT m.sent_at FROM messages m WHERE m.contact_id = {contact_id} AND m.direction = 'outbound'"
        f" AND m.from_number = {number} AND m.purpose <> 'compliance' AND m.sent_at <= {instant}"
        " ORDER BY m.id DESC LIMIT 1)"
    )


DIRECTION, STATUS, CREATED_AT = "m.direction", "m.status", "m.created_at"
"""The columns of a message `m` by which `count_of` may count."""


def count_of(account_id: str, contact_id: str, conditions: Iterable[str]) -> str:
    """Return the number of the messages `m` from and to a contact that satisfy conditions."""
    own = f"m.contact_id = {contact_id}", f"m.account_id = {account_id}"
    return f"(SELECT count(*) FROM messages m WHERE {' AND '.join([*own, *conditions])})"


def _inbound(contact_id: str) -> str:
    return f"m.contact_id = {contact_id} AND m.direction = 'inbound'"


FIND_OF_ACTOR = "SELECT id FROM messages WHERE id = ANY($1::bigint[]) AND starts_with(actor, $2)"
"""Find those of the messages `$1` whose actor has a label that begins with `$2`."""


def is_of_campaign(message_id: str) -> str:
    """Return the condition that a message is the text of a campaign.

    As EXISTS, a plan of a time with few messages would read all of them once, to compare many ids.
    """
    return f"coalesce(starts_with((SELECT m.actor FROM messages m WHERE m.id = {message_id}), 'campaign:'), false)"


def began_with_campaign(contact_id: str) -> str:
    """Return the condition that the first message of a contact is the text of a campaign."""
    first = f"(SELECT m.actor FROM messages m WHERE m.contact_id = {contact_id} ORDER BY m.id LIMIT 1)"
    return f"coalesce(starts_with({first}, 'campaign:'), false)"


FIND_ACTORS = "SELECT id, actor FROM messages WHERE id = ANY($1::bigint[])"
"""Find the labels of the actors of the messages `$1`."""
