"""Notices about failing subscriptions: a row for the account, and a notice to its owners."""

from app.db.engine import Connection
from app.domain.events import outbox
from app.domain.events.outbox import Recorded
from app.domain.notices.events import OwnersNotified
from app.domain.notices.models import NoticeKind as NoticeOf
from app.domain.webhooks.models import NoticeKind
from app.domain.webhooks.rows import Owned
from app.urls import split

STATES = {
    NoticeKind.failing: (
        "is failing",
        "Fix the endpoint: it must answer with a status from 200 to 299. Pending deliveries are then sent "
        "automatically; replay_webhook_deliveries sends the failed ones again.",
    ),
    NoticeKind.disabled: (
        "was disabled",
        "Fix the endpoint, activate the webhook (update_webhook with active: true), then send the skipped deliveries "
        "(replay_webhook_deliveries).",
    ),
    NoticeKind.removed: (
        "was removed",
        "Its pending deliveries are canceled. To receive its events again, subscribe again.",
    ),
}
"""For each kind of notice: the state in the mail's subject, and the advice in its text."""

ADD = "INSERT INTO webhook_notices (account_id, subscription_id, kind, text) VALUES ($1, $2, $3, $4)"


async def notify(connection: Connection, subscription: Owned, kind: NoticeKind, what: str) -> None:
    """Insert a notice about a subscription, and record the event for the owners, in the caller's transaction."""
    id, account_id, url = subscription.id, subscription.account_id, subscription.target_url
    state, advice = STATES[kind]
    text = f"{url} {what}."
    await connection.execute(ADD, account_id, id, kind, text)
    subject = f"Webhook {id} to {split(url).netloc} {state}"
    event = OwnersNotified(kind=NoticeOf.webhook, title=subject, body=f"{text} {advice}", subject_id=id)
    await outbox.record_all(connection, [Recorded(account_id, event)])
