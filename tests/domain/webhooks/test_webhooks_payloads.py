"""Payloads for subscribers, with the names of the specification."""

from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from app.domain.kernel.events import EVENTS
from app.domain.webhooks import payloads
from app.domain.webhooks.errors import UnknownEvent

AT = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
WHO = {"contact_id": int, "first_name": str, "last_name": str, "phone": str, "email": str}
OUTBOUND = {
    "message_id": int,
    "provider_message_id": str,
    "from_number": str,
    "to_number": str,
    "body": str,
    "status": str,
    "segments": int,
    "cost": float,
    "contact_id": int,
    "contact_first_name": str,
    "contact_last_name": str,
}
SHAPES: dict[str, dict[str, type]] = {
    "new_message": {
        "id": int,
        "direction": str,
        "from_number": str,
        "to_number": str,
        "body": str,
        "status": str,
        "contact_id": int,
        "contact_first_name": str,
        "contact_last_name": str,
        "contact_phone": str,
        "contact_email": str,
        "conversation_id": int,
        "segments": int,
        "sent_at": str,
    },
    "new_contact": {
        "id": int,
        "first_name": str,
        "last_name": str,
        "phone": str,
        "email": str,
        "tags": list,
        "pipeline_stage": str,
        "source": str,
        "status": str,
        "created_at": str,
    },
    "new_conversation": {
        "conversation_id": int,
        **WHO,
        "first_message": str,
        "from_number": str,
        "to_number": str,
        "started_at": str,
    },
    "new_opt_out": {**WHO, "opted_out_at": str, "keyword": str},
    "message_delivered": {**OUTBOUND, "delivered_at": str},
    "message_failed": {**OUTBOUND, "delivered_at": type(None), "status_description": str},
    "pipeline_stage_changed": {**WHO, "old_stage": str, "new_stage": str, "changed_at": str},
    "contact_tag_added": {**WHO, "tag": str, "all_tags": list, "added_at": str},
    "contact_tag_removed": {**WHO, "tag": str, "all_tags": list, "removed_at": str},
    "contact_dnd_changed": {**WHO, "dnd_sms": bool, "changed_at": str},
    "drip_completed": {**WHO, "sequence_id": int, "sequence_name": str, "completed_at": str},
    "keyword_reply": {
        **WHO,
        "keyword": str,
        "body": str,
        "from_number": str,
        "to_number": str,
        "received_at": str,
    },
}
TOPICS = {
    "message.sent": "message_sent",
    "message.delivered": "message_delivered",
    "message.failed": "message_failed",
    "message.inbound": "new_message",
    "contact.created": "new_contact",
    "contact.opted_out": "new_opt_out",
}


def shape(value: dict[str, Any]) -> dict[str, type]:
    return {key: type(each) for key, each in value.items()}


def test_exactly_the_twelve_events_can_be_subscribed_to() -> None:
    assert set(payloads.hook_names()) == set(SHAPES)


@pytest.mark.parametrize("name", SHAPES)
def test_a_sample_has_the_keys_and_types_of_the_specification(name: str) -> None:
    sample = orjson.loads(payloads.sample("hook", name, AT))

    assert shape(sample) == SHAPES[name]


def test_the_six_dotted_names_stand_for_these_events() -> None:
    assert payloads.topics() == {**TOPICS, "automation.webhook": "automation_webhook"}


@pytest.mark.parametrize(("topic", "name"), TOPICS.items())
def test_a_dashboard_webhook_receives_the_flat_payload_in_the_envelope(topic: str, name: str) -> None:
    sample = orjson.loads(payloads.sample("endpoint", name, AT))

    assert list(sample) == ["type", "timestamp", "data"]
    assert (sample["type"], sample["timestamp"]) == (topic, "2026-11-21T09:30:00.000Z")
    assert sample["data"] == EVENTS[name].example


def test_the_payloads_of_sent_and_delivered_differ_only_in_the_key_of_the_time() -> None:
    sent = orjson.loads(payloads.sample("endpoint", "message_sent", AT))["data"]

    assert shape(sent) == {**OUTBOUND, "sent_at": str}


def test_an_unknown_event_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownEvent) as hook:
        payloads.find_hook("message_sent")
    with pytest.raises(UnknownEvent) as topic:
        payloads.find_topics(["message.sent", "new_message"])

    assert str(hook.value).startswith("There is no event message_sent. Known events: ")
    assert all(name in str(hook.value) for name in SHAPES)
    assert all(name in str(topic.value) for name in TOPICS)


def test_a_dotted_name_given_twice_counts_once() -> None:
    assert payloads.find_topics(["message.sent", "contact.created", "message.sent"]) == ["message_sent", "new_contact"]
