"""Events of watched keywords and automations."""

from dataclasses import dataclass

from app.domain.accounts.scopes import Scope
from app.domain.contacts.events import ANN, AT, ContactEvent
from app.domain.kernel.events import event


@event
@dataclass(frozen=True, slots=True, kw_only=True)
class KeywordReply(ContactEvent):
    """An inbound message equals a watched keyword; `body` is the original text."""

    name = "keyword_reply"
    live_kind = None
    scope = Scope.messages_read
    example = {
        **ANN,
        "keyword": "menu",
        "body": "Menu!",
        "from_number": "+12025550143",
        "to_number": "+15002000001",
        "received_at": AT,
    }

    keyword: str
    body: str
    from_number: str
    to_number: str
    received_at: str


@event
@dataclass(frozen=True, slots=True, kw_only=True)
class AutomationWebhook(ContactEvent):
    """An action of an automation reports to the webhooks that subscribe to it; `text` is the action's own.

    It starts no automation.
    """

    name = "automation_webhook"
    topic = "automation.webhook"
    live_kind = None
    subscribable = False
    example = {**ANN, "automation_id": 12, "run_id": 3401, "text": "Ask for a review", "acted_at": AT}

    automation_id: int
    run_id: int
    text: str
    acted_at: str
