"""Events of drip sequences."""

from dataclasses import dataclass

from app.domain.contacts.events import ANN, AT, ContactEvent
from app.domain.kernel.events import event


@event
@dataclass(frozen=True, slots=True, kw_only=True)
class DripCompleted(ContactEvent):
    """The carrier accepted the last message of a drip sequence to a contact."""

    name = "drip_completed"
    live_kind = None
    example = {**ANN, "sequence_id": 37, "sequence_name": "Welcome", "completed_at": AT}

    sequence_id: int
    sequence_name: str
    completed_at: str
