"""Common automations, ready to be created."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class AutomationTemplate:
    """A common automation: its purpose, and the fields with which it is created."""

    key: str
    name: str
    description: str
    trigger: dict[str, Any]
    actions: list[dict[str, Any]]


TEMPLATES = (
    AutomationTemplate(
        "missed_reply",
        "Missed reply",
        "Tag a contact who has waited four hours for an answer, and notify the owners.",
        {"kind": "missed_reply", "hours": 4},
        [
            {"kind": "add_tag", "tag": "waiting"},
            {"kind": "notify", "text": "A contact has waited four hours for an answer."},
        ],
    ),
    AutomationTemplate(
        "welcome",
        "Welcome",
        "Welcome each new contact with a text.",
        {"kind": "event", "event": "new_contact"},
        [{"kind": "send", "body": "Hi {first_name|there}, welcome! Reply STOP to opt out."}],
    ),
    AutomationTemplate(
        "birthday",
        "Birthday",
        "Congratulate contacts at ten on their birthday, a custom field of the type date.",
        {"kind": "birthday", "field": "birthday", "at": "10:00"},
        [{"kind": "send", "body": "Happy birthday, {first_name|friend}! Reply STOP to opt out."}],
    ),
    AutomationTemplate(
        "review_request",
        "Review request",
        "Ask for a review a day after a contact was won.",
        {
            "kind": "event",
            "event": "pipeline_stage_changed",
            "where": [{"field": "new_stage", "op": "eq", "value": "won"}],
        },
        [
            {"kind": "wait", "minutes": 1440},
            {"kind": "send", "body": "Hi {first_name|there}, how did we do? Answer here. Reply STOP to opt out."},
        ],
    ),
)
