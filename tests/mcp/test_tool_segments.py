"""Tools of segments, of changes of many contacts and of exports."""

from typing import Any

import orjson
import pytest

from app.services import Services
from tests.factories.accounts import USERS
from tests.factories.contacts import CONTACTS
from tests.factories.jobs import advance
from tests.mcp.assistants import Assistant, told

pytestmark = pytest.mark.anyio

VIP = {"field": "tags", "op": "has_any", "value": ["vip"]}


async def read_job(assistant: Assistant, uri: str) -> Any:
    [content] = (await assistant.ask("resources/read", {"uri": uri}))["contents"]
    return orjson.loads(content["text"])


async def test_an_assistant_makes_a_segment_changes_its_contacts_and_reads_their_export(
    assistant: Assistant, services: Services
) -> None:
    for number, tags in enumerate((["vip"], ["vip"], [])):
        await assistant.call("create_contact", phone=f"+1202555014{number}", tags=tags)

    previewed = await assistant.call("preview_segment", filter=VIP)
    segment = await assistant.call("create_segment", name="Best", filter=VIP)
    listed = await assistant.call("list_segments", search="best")
    assert (previewed["total_count"], previewed["sendable_count"]) == (2, 2)
    assert (segment["summary"], listed["segments"][0]["id"]) == ("tags has any of vip", segment["id"])

    tagged = await assistant.call("bulk_tag", segment_id=segment["id"], add=["gold"])
    user_id, contact_id = await USERS.only(services, "id"), previewed["samples"][0]["id"]
    assigned = await assistant.call("bulk_assign", contact_ids=[contact_id], assignee_id=user_id)
    assert (tagged["status"], assigned["status"], assigned["changed"]) == ("waiting", "done", 1)
    await advance(services)
    assert (await read_job(assistant, f"sms://jobs/{tagged['job_id']}"))["changed"] == 2
    assert await CONTACTS.where(tags=["vip", "gold"]).count(services) == 2

    params = {"name": "export_contacts", "arguments": {"segment_id": segment["id"]}}
    result = await assistant.ask("tools/call", params)
    [link] = [each for each in result["content"] if each["type"] == "resource_link"]
    assert link["uri"] == f"sms://jobs/{told(result)['job_id']}"
    assert (await read_job(assistant, link["uri"]))["file"] is None
    await advance(services)
    exported = await read_job(assistant, link["uri"])
    assert (exported["status"], exported["file"]["is_whole"]) == ("done", True)
    assert [line.split(",")[1] for line in exported["file"]["text"].splitlines()] == [
        "phone",
        "+12025550140",
        "+12025550141",
    ]


async def test_numbers_are_validated_with_the_reason_against_them(assistant: Assistant) -> None:
    contact = await assistant.call("create_contact", phone="+12025550140")

    found = await assistant.call(
        "validate_contacts", phones=["07911 123456"], contact_ids=[contact["id"]], country="GB"
    )

    assert [(each["e164"], each["valid"], each["contact_id"]) for each in found["results"]] == [
        ("+447911123456", True, None),
        ("+12025550140", True, contact["id"]),
    ]


async def test_a_wrong_filter_is_refused_with_its_place(assistant: Assistant) -> None:
    result = await assistant.ask(
        "tools/call", {"name": "preview_segment", "arguments": {"filter": {"any": [{"field": "scor", "op": "gt"}]}}}
    )

    assert told(result)[:2] == ("invalid_input", "filter.any[0].field")


@pytest.mark.parametrize(
    ("arguments", "field", "reason"),
    [
        ({}, "contact_ids", "Give exactly one of contact_ids and segment_id."),
        ({"contact_ids": [1], "segment_id": 1}, "contact_ids", "Give exactly one of contact_ids and segment_id."),
        ({"contact_ids": []}, "contact_ids", "contact_ids must be 1 to 500. Choose more contacts by a segment."),
    ],
)
@pytest.mark.parametrize(("tool", "change"), [("bulk_tag", {"add": ["vip"]}), ("bulk_assign", {"assignee_id": 1})])
async def test_an_error_about_the_chosen_contacts_names_the_arguments_of_the_tool(
    assistant: Assistant, tool: str, change: dict[str, Any], arguments: dict[str, Any], field: str, reason: str
) -> None:
    if "segment_id" in arguments:
        segment = await assistant.call("create_segment", name="Best", filter=VIP)
        arguments = {**arguments, "segment_id": segment["id"]}

    assert await assistant.call(tool, **change, **arguments) == ("invalid_input", field, reason)


async def test_an_export_of_a_segment_with_a_filter_names_the_segment(assistant: Assistant) -> None:
    segment = await assistant.call("create_segment", name="Best", filter=VIP)

    refused = await assistant.call("export_contacts", segment_id=segment["id"], tag="vip")

    reason = "segment_id must not be given together with a filter."
    assert refused == ("invalid_input", "segment_id", reason)


@pytest.mark.parametrize(("tool", "field"), [("ai_compose", "goal"), ("ai_generate_message", "description")])
async def test_instructions_that_are_not_understood_are_named_by_their_argument(
    assistant: Assistant, tool: str, field: str
) -> None:
    code, named, _ = await assistant.call(tool, **{field: "Write something nice for my customers please"})

    assert (code, named) == ("brief_not_understood", field)


@pytest.mark.parametrize(
    ("tool", "arguments", "field"),
    [
        ("get_contact", {}, "contact_id"),
        ("update_contact", {"phone": "+12025550140", "email": "x"}, "email"),
        ("create_contact", {"phone": "+12025550141", "tags": ["a" * 65]}, "tags[0]"),
        ("create_campaign", {"name": "Spring", "body": "{nickname}"}, "body"),
        ("create_campaign", {"name": "Spring", "body": "Hi", "audience": {"tags": ["a" * 65]}}, "audience.tags"),
        (
            "create_drip_sequence",
            {"name": "Spring", "steps": [{"delay_minutes": -1, "body": "Hi"}]},
            "steps[0].delay_minutes",
        ),
        ("send_sms", {"to": "+12025550140", "message": "a" * 1601, "consent_attested": True}, "message"),
        ("send_sms", {"to": "7", "message": "Hi", "consent_attested": True}, "to"),
        ("list_conversations", {"limit": 201}, "limit"),
        ("list_conversations", {"search": "a" * 500}, "search"),
        ("preview_segment", {}, "segment_id"),
    ],
)
async def test_an_error_names_the_argument_of_the_tool(
    assistant: Assistant, tool: str, arguments: dict[str, Any], field: str
) -> None:
    await assistant.call("create_contact", phone="+12025550140")

    assert (await assistant.call(tool, **arguments))[1] == field
