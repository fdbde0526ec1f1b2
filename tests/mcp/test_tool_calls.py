"""Calls of tools: results, errors in the words of the other surfaces, and no effect of a refused call."""

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import httpx2
import pytest

from app.domain.onboarding.service import Opened
from app.services import Services
from tests.factories.campaigns import CAMPAIGNS
from tests.factories.contacts import CONTACTS
from tests.factories.messages import MESSAGES
from tests.factories.numbers import PHONE_NUMBERS
from tests.factories.sequences import SEQUENCE_ENROLLMENTS
from tests.mcp.assistants import Assistant, read_event

pytestmark = pytest.mark.anyio

PHONE = "+12025550143"
ATTEST = (
    "Set consent_attested to true to certify that the recipient has given prior express written consent to be texted."
)


async def test_a_tool_answers_structured_content_and_the_same_as_a_text(assistant: Assistant):
    assert await assistant.call("get_balance") == {
        "balance": 1000,
        "rate": 0.01,
        "currency": "USD",
        "account_type": "prepaid",
        "daily_avg_send": 0,
        "estimated_days_left": 9999,
    }


async def test_a_text_is_sent_once_for_each_idempotency_key(assistant: Assistant, services: Services):
    sent = {"to": PHONE, "message": "Hi", "consent_attested": True, "idempotency_key": "one"}

    first, second = [await assistant.call("send_sms", **sent) for _ in range(2)]

    assert first == second
    assert (first["segments"], first["status"], first["credits_remaining"]) == (1, "pending", 999)
    assert await MESSAGES.count(services) == 1


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({}, ("api_consent_attested_required", "consent_attested", ATTEST)),
        ({"consent_attested": False}, ("api_consent_attested_required", "consent_attested", ATTEST)),
        ({"consent_attested": True, "message": ""}, ("invalid_input", "message", "message must not be empty.")),
        (
            {"consent_attested": True, "message": "x" * 1601},
            ("invalid_input", "message", "message must have at most 1600 characters."),
        ),
        ({"consent_attested": True, "to": 5}, ("invalid_input", "to", "to must be a string.")),
        (
            {"consent_attested": True, "text": "Hi"},
            ("invalid_input", "text", "text is not known."),
        ),
    ],
)
async def test_a_refused_call_says_the_field_and_sends_nothing(
    assistant: Assistant, services: Services, wrong: dict[str, object], error: tuple[str, str, str]
):
    assert await assistant.call("send_sms", **({"to": PHONE, "message": "Hi"} | wrong)) == error
    assert await MESSAGES.count(services) == 0


async def test_an_error_of_the_domain_names_the_parameter_of_the_tool(assistant: Assistant):
    assert await assistant.call("get_contact", contact_id=5) == ("not_found", None, "No contact with id 5.")
    code, field, _ = await assistant.call("get_contact", phone="12")
    assert (code, field) == ("invalid_phone", "phone")


async def test_a_null_counts_as_left_out(assistant: Assistant):
    found = await assistant.call("search_contacts", search=None, stage=None, after=None)

    assert found == {"contacts": [], "total_count": 0, "page_info": {"has_next_page": False, "end_cursor": None}}


async def test_the_test_of_a_connection_names_the_version_and_the_scopes(assistant: Assistant, account: Opened):
    answer = await assistant.call("test_connection")

    assert (answer["ok"], answer["version"]) == (True, version("messaging"))
    assert (answer["company_name"], answer["email"]) == ("Blue Door", account.email)
    assert "messages:send" in answer["scopes"]


async def test_an_alias_is_called_but_not_listed(assistant: Assistant):
    assert (await assistant.call("contacts_search"))["total_count"] == 0
    assert "contacts_search" not in await assistant.list()


async def test_a_tool_that_does_not_exist_is_an_error_of_the_protocol(assistant: Assistant):
    answer = await assistant.post("tools/call", {"name": "drop_tables", "arguments": {}})

    assert answer.json()["error"]["code"] == -32602
    assert answer.json()["error"]["message"] == "There is no tool drop_tables. tools/list lists the tools."


async def test_the_list_has_one_page(assistant: Assistant):
    answer = await assistant.post("tools/list", {"cursor": "next"})

    assert answer.json()["error"]["code"] == -32602


async def test_the_versions_of_2025_call_tools_as_well(assistant: Assistant):
    begun = read_event(await assistant.shake_hands())
    called = read_event(await assistant.post_legacy("tools/call", {"name": "get_balance", "arguments": {}}))

    assert begun["result"]["serverInfo"]["name"] == "messaging"
    assert called["result"]["structuredContent"]["balance"] == 1000


async def test_contacts_of_another_account_do_not_exist(
    assistant: Assistant,
    services: Services,
    http: httpx2.AsyncClient,
    account: Opened,
    new_account: Callable[..., Any],
):
    await http.post("/contacts", json={"phone": PHONE}, headers={"X-API-Key": account.svc_key})
    id = await CONTACTS.only(services, "id")
    other = Assistant(http, (await new_account(company_name="Others")).svc_key)

    assert (await assistant.call("get_contact", contact_id=id))["phone"] == PHONE
    assert (await other.call("get_contact", contact_id=id))[0] == "not_found"
    assert (await other.call("search_contacts"))["total_count"] == 0


async def test_the_messages_of_a_conversation_that_is_not_there_are_not_found(assistant: Assistant):
    refused = await assistant.call("get_messages", conversation_id=404)

    assert refused == ("not_found", None, "No conversation with id 404.")


@pytest.fixture
async def sequence_id(assistant: Assistant) -> int:
    """Provide the id of a drip sequence."""
    return (await assistant.call("create_drip_sequence", name="Hello", steps=[{"delay_minutes": 60, "body": "Hi"}]))[
        "id"
    ]


async def test_several_contacts_are_enrolled_in_one_call(assistant: Assistant, services: Services, sequence_id: int):
    ids = [(await assistant.call("create_contact", phone=f"+1202555014{number}"))["id"] for number in range(3)]
    await CONTACTS.where(id=ids[2]).change(services, dnd_sms=True)
    call = {"sequence_id": sequence_id, "contact_ids": [*ids, 404, ids[0]]}

    refused = await assistant.call("enroll_in_drip_sequence", **call, consent_attested=False)
    before = await SEQUENCE_ENROLLMENTS.count(services)
    answer = await assistant.call("enroll_in_drip_sequence", **call, consent_attested=True)
    again = await assistant.call("enroll_in_drip_sequence", **call, consent_attested=True)

    assert (refused[0], before) == ("api_consent_attested_required", 0)
    assert [each["contact_id"] for each in answer["enrollments"]] == ids[:2]
    assert [problem.partition(":")[0] for problem in answer["problems"]] == [f"Contact {ids[2]}", "Contact 404"]
    assert [each["already_enrolled"] for each in again["enrollments"]] == [True, True]
    assert await SEQUENCE_ENROLLMENTS.read(services, "contact_id") == ids[:2]


@pytest.mark.parametrize("others", [{"contact_id": 1}, {"phone": PHONE}])
async def test_one_contact_and_several_are_not_enrolled_together(
    assistant: Assistant, services: Services, sequence_id: int, others: dict[str, Any]
):
    call = {"sequence_id": sequence_id, "contact_ids": [1], "consent_attested": True}

    refused = await assistant.call("enroll_in_drip_sequence", **call, **others)

    assert refused[:2] == ("invalid_input", "contact_ids")
    assert await SEQUENCE_ENROLLMENTS.count(services) == 0


async def test_a_limit_and_a_number_of_a_campaign_are_cleared(assistant: Assistant, services: Services):
    number_id = min(await PHONE_NUMBERS.read(services, "id"))
    limits = {"phone_number_id": number_id, "max_credits": 5}
    campaign_id = (await assistant.call("create_campaign", name="Spring", body="Hi", **limits))["id"]
    found = list[Any]()

    for clear in ({}, {"clear_max_credits": True}, {"clear_phone_number_id": True, "clear_max_credits": False}):
        await assistant.call("update_campaign", campaign_id=campaign_id, **clear)
        found.append(await CAMPAIGNS.only(services, "phone_number_id", "max_credits"))
    refused = await assistant.call("update_campaign", campaign_id=campaign_id, clear_max_credits=True, max_credits=9)

    assert found == [(number_id, 5), (number_id, None), (None, None)]
    assert refused == ("invalid_input", "clear_max_credits", "max_credits is both set and cleared.")
    assert await CAMPAIGNS.only(services, "phone_number_id", "max_credits") == (None, None)
