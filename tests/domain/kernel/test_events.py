"""The register of events, their payloads, and how instants are written."""

import re
from dataclasses import fields
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, cast, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.contacts.events import NewContact
from app.domain.conversations.events import NewConversation
from app.domain.kernel.errors import Conflict, DomainError, NotFound, catalogue
from app.domain.kernel.events import EVENTS, Event, UpdateKind, event, timestamp
from app.domain.messages.events import NewMessage

INSTANTS = st.datetimes(
    *(datetime.fromisoformat(day) for day in ("1970-01-02", "2200-12-31")), timezones=st.timezones()
)
WHO = "contact_id first_name last_name phone email"
OUTBOUND = (
    "message_id provider_message_id from_number to_number body status segments cost delivered_at contact_id"
    " contact_first_name contact_last_name"
)
SPECIFIED = {
    "new_message": "id direction from_number to_number body status contact_id contact_first_name contact_last_name"
    " contact_phone contact_email conversation_id segments sent_at",
    "new_contact": "id first_name last_name phone email tags pipeline_stage source status created_at",
    "new_conversation": f"conversation_id {WHO} first_message from_number to_number started_at",
    "new_opt_out": f"{WHO} opted_out_at keyword",
    "message_delivered": OUTBOUND,
    "message_failed": f"{OUTBOUND} status_description",
    "pipeline_stage_changed": f"{WHO} old_stage new_stage changed_at",
    "contact_tag_added": f"{WHO} tag all_tags added_at",
    "contact_tag_removed": f"{WHO} tag all_tags removed_at",
    "contact_dnd_changed": f"{WHO} dnd_sms changed_at",
}
TOPICS = {
    "message_sent": "message.sent",
    "message_delivered": "message.delivered",
    "message_failed": "message.failed",
    "new_message": "message.inbound",
    "new_contact": "contact.created",
    "new_opt_out": "contact.opted_out",
}
OWN_TOPICS = {"automation_webhook": "automation.webhook"}
FEATURES = Path(__file__).parents[3] / "dashboard" / "src" / "features"

MESSAGES, CONTACTS, CONVERSATIONS = "messages:read", "contacts:read", "conversations:read"
DECLARED = {
    "agent_state": ("agents:read", UpdateKind.agent_state),
    "balance_changed": ("billing:read", UpdateKind.balance_changed),
    "contact_changed": (CONTACTS, UpdateKind.contact_changed),
    "automation_webhook": (CONTACTS, None),
    "campaign_progress": ("campaigns:read", UpdateKind.campaign_progress),
    "contact_dnd_changed": (CONTACTS, UpdateKind.contact_changed),
    "contact_merged": (CONTACTS, UpdateKind.contact_changed),
    "contact_tag_added": (CONTACTS, UpdateKind.contact_changed),
    "contact_tag_removed": (CONTACTS, UpdateKind.contact_changed),
    "conversation_changed": (MESSAGES, UpdateKind.conversation_changed),
    "drip_completed": (CONTACTS, None),
    "job_progress": (CONTACTS, UpdateKind.job_progress),
    "keyword_reply": (MESSAGES, None),
    "low_balance": ("billing:read", None),
    "message_accepted": (MESSAGES, UpdateKind.message_status),
    "message_delivered": (MESSAGES, UpdateKind.message_status),
    "message_failed": (MESSAGES, UpdateKind.message_status),
    "message_sent": (MESSAGES, UpdateKind.message_status),
    "new_contact": (CONTACTS, None),
    "new_conversation": (MESSAGES, UpdateKind.conversation_changed),
    "new_message": (MESSAGES, UpdateKind.new_message),
    "new_opt_out": (CONTACTS, UpdateKind.contact_changed),
    "note_added": (CONVERSATIONS, UpdateKind.note_added),
    "note_changed": (CONVERSATIONS, UpdateKind.note_added),
    "notices_added": ("account:read", UpdateKind.notice),
    "notices_read": ("account:read", UpdateKind.notice),
    "owners_notified": ("account:read", None),
    "opt_in_confirmed": (CONTACTS, UpdateKind.contact_changed),
    "pipeline_stage_changed": (CONTACTS, UpdateKind.contact_changed),
    "send_blocked": (MESSAGES, None),
}


def test_each_event_declares_the_scope_of_its_subscriptions_and_the_kind_of_its_live_update() -> None:
    assert {name: (each.scope, each.live_kind) for name, each in EVENTS.items()} == DECLARED


@pytest.mark.parametrize("missing", ["scope", "live_kind"])
def test_an_event_that_declares_no_scope_or_no_live_kind_is_refused(missing: str) -> None:
    declared = {"name": "silent", "example": {}, "scope": MESSAGES, "live_kind": None}
    silent = type("Silent", (Event,), {key: value for key, value in declared.items() if key != missing})

    with pytest.raises(TypeError, match=rf"^Silent declares no {missing}$"):
        event(silent)

    assert "silent" not in EVENTS


@pytest.mark.parametrize("name", SPECIFIED)
def test_a_payload_has_the_keys_that_the_specification_lists(name: str) -> None:
    payload = EVENTS[name](**EVENTS[name].example).payload()

    assert sorted(payload) == sorted(SPECIFIED[name].split())
    assert EVENTS[name].subscribable


def test_dotted_names_are_those_of_the_specification_and_that_of_automations() -> None:
    assert {name: each.topic for name, each in EVENTS.items() if each.topic} == TOPICS | OWN_TOPICS


def test_the_dashboard_offers_automations_each_event_of_hooks_with_fields_of_its_payload() -> None:
    rows = re.findall(r"(\w+): \[(.*)\]", events_in("automations"))
    offered = {name: re.findall(r"'(\w+)'", keys) for name, keys in rows}

    assert sorted(offered) == sorted(name for name, each in EVENTS.items() if each.subscribable)
    assert [key for name, keys in offered.items() for key in keys if key not in EVENTS[name].keys] == []


def test_the_dashboard_offers_webhooks_each_dotted_name() -> None:
    assert sorted(re.findall(r"'([\w.]+)'", events_in("webhooks"))) == sorted((TOPICS | OWN_TOPICS).values())


def events_in(feature: str) -> str:
    """Return the source of the list `EVENTS` of a feature of the dashboard."""
    return (FEATURES / feature / "model.ts").read_text().partition("export const EVENTS")[2].partition(";")[0]


@pytest.mark.parametrize("name", EVENTS)
def test_an_example_has_a_value_of_the_right_type_for_every_field(name: str) -> None:
    example, types = EVENTS[name].example, get_type_hints(EVENTS[name])

    assert example.keys() == {field.name for field in fields(EVENTS[name])}
    assert [field for field, value in example.items() if not _fits(value, types[field])] == []


@pytest.mark.parametrize("name", EVENTS)
def test_names_phones_and_addresses_in_an_example_are_texts(name: str) -> None:
    texts = {
        field: value
        for field, value in EVENTS[name].example.items()
        if field.endswith(("_name", "phone", "email", "_number", "_at")) and field != "delivered_at"
    }

    assert [field for field, value in texts.items() if not isinstance(value, str)] == []


def test_a_failed_message_was_never_delivered_and_costs_nothing() -> None:
    example = EVENTS["message_failed"].example

    assert (example["status"], example["delivered_at"], example["cost"]) == ("failed", None, 0)


def test_an_event_bears_the_name_under_which_it_is_registered() -> None:
    assert {name: each.name for name, each in EVENTS.items()} == {name: name for name in EVENTS}
    assert {NewContact.name, NewMessage.name, NewConversation.name} <= EVENTS.keys()


def test_an_event_whose_name_is_taken_is_refused() -> None:
    class Imposter(Event):
        name = "new_contact"
        scope = CONTACTS
        live_kind = None
        example: Any = {}  # noqa: RUF012

    with pytest.raises(LookupError, match=r"^Imposter and NewContact share the name new_contact$"):
        event(Imposter)

    assert EVENTS["new_contact"] is NewContact


def test_an_event_whose_example_does_not_fit_is_refused() -> None:
    class Unfit(Event):
        name = "unfit"
        example: Any = {"no_such_field": 1}  # noqa: RUF012

    with pytest.raises(TypeError):
        event(Unfit)

    assert "unfit" not in EVENTS


@pytest.mark.parametrize(
    ("instant", "written"),
    [
        (datetime(2026, 11, 21, 9, 30, tzinfo=UTC), "2026-11-21T09:30:00.000Z"),
        (datetime(2026, 11, 21, 9, 30, 0, 999_999, tzinfo=UTC), "2026-11-21T09:30:00.999Z"),
        (datetime(2026, 11, 21, 1, 0, tzinfo=timezone(timedelta(hours=2))), "2026-11-20T23:00:00.000Z"),
    ],
)
def test_an_instant_is_written_in_utc_to_the_millisecond(instant: datetime, written: str) -> None:
    assert timestamp(instant) == written


@given(INSTANTS)
def test_a_written_instant_is_the_same_instant_to_the_millisecond(instant: datetime) -> None:
    read = datetime.fromisoformat(timestamp(instant))

    assert timedelta(0) <= instant - read < timedelta(milliseconds=1)


def test_errors_are_found_by_their_code() -> None:
    known = catalogue()

    assert (known["internal_error"], known["not_found"], known["conflict"]) == (DomainError, NotFound, Conflict)
    assert {code: error.code for code, error in known.items()} == {code: code for code in known}


def test_two_errors_with_one_code_are_refused() -> None:
    class Root:
        code = "root"

    class First(Root):
        code = "twin"

    class Second(Root):
        code = "twin"

    with pytest.raises(LookupError, match=r"^Second and First share the code twin$"):
        catalogue(cast(Any, Root))

    assert (First.code, Second.code) == ("twin", "twin")


def _fits(value: Any, type: Any) -> bool:
    if type == list[str]:
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    if type in (int, float):
        return isinstance(value, type) and not isinstance(value, bool)
    return isinstance(value, type)
