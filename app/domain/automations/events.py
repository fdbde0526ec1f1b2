"""Events of watched keywords."""

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
