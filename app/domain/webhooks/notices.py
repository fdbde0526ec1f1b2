"""Telling an account of a subscription in trouble: in its list of notices, and by mail to its owners."""

from app.db.engine import Connection
from app.domain.accounts import mail_outbox
from app.domain.webhooks.models import NoticeKind
from app.domain.webhooks.rows import Owned
from app.urls import split

STATES = {
    NoticeKind.failing: (
        "is failing",
        "Fix the endpoint: it must answer with a status from 200 to 299. What waits for it is sent by itself then; "
        "replay_webhook_deliveries sends what has failed for good.",
    ),
    NoticeKind.disabled: (
        "was disabled",
        "Fix the endpoint, revive the webhook (update_webhook with active: true), then have what was skipped sent "
        "(replay_webhook_deliveries).",
    ),
    NoticeKind.removed: (
        "was removed",
        "What waited for it is canceled. If its events are still wanted, subscribe again.",
    ),
}
"""What a mail's subject says of each kind, and what its reader is to do."""

ADD = "INSERT INTO webhook_notices (account_id, subscription_id, kind, text) VALUES ($1, $2, $3, $4)"


async def notify(connection: Connection, subscription: Owned, kind: NoticeKind, what: str) -> None:
    """Note what happened to a subscription, and have its account's owners mailed, in the caller's transaction."""
    id, account_id, url = subscription.id, subscription.account_id, subscription.target_url
    state, advice = STATES[kind]
    text = f"{url} {what}."
    await connection.execute(ADD, account_id, id, kind, text)
    subject = f"Webhook {id} to {split(url).netloc} {state}"
    await mail_outbox.post_notice(connection, account_id, subject=subject, opening=f"{text} {advice}")
