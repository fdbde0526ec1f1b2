"""The catalogue of tools: names, words, hints, and the budget of tokens that its list may cost."""

import re

import orjson
import pytest
from jsonschema import Draft202012Validator

from app.domain.accounts.scopes import Scope
from app.mcp import prompts
from app.mcp.catalogue import CompiledTool, catalogue
from app.mcp.prompts import PROMPTS, Prompt
from app.mcp.server import INSTRUCTIONS
from app.operations.surface import CATEGORIES

TOOLS = catalogue().tools
CHARACTERS_PER_TOKEN = 4
MEAN_TOKENS, MOST_TOKENS = 220, 450
ALL_TOOLS, LIST_BYTES = 58, 61_500
MOST_DESCRIPTION, MOST_PROPERTIES = 300, 10

SPECIFIED = {
    "messaging": ["send_sms", "ai_generate_message", "get_message_logs", "get_delivery_rate"],
    "conversations": ["list_conversations", "get_messages", "update_conversation", "assign_conversation"],
    "contacts": [
        "search_contacts",
        "get_contact",
        "create_contact",
        "update_contact",
        "delete_contact",
        "bulk_tag",
        "bulk_assign",
        "carrier_lookup",
        "validate_contacts",
        "export_contacts",
    ],
    "campaigns": [
        "list_campaigns",
        "ai_compose",
        "create_campaign",
        "update_campaign",
        "send_campaign",
        "cancel_campaign",
        "preview_campaign",
        "campaign_breakdown",
        "diagnose_campaign",
        "delete_campaign",
    ],
    "drip_sequences": [
        "list_drip_sequences",
        "create_drip_sequence",
        "enroll_in_drip_sequence",
        "update_status",
        "get_enrollments",
    ],
    "phone_numbers": [
        "list_phone_numbers",
        "check_deliverability",
        "check_spam",
        "set_primary",
        "rename_phone_number",
    ],
    "ai_agents": ["list_ai_agents", "create_ai_agent", "update_ai_agent", "test_ai_agent", "set_status"],
    "segments": ["list_segments", "create_segment", "preview_segment"],
    "billing": ["get_balance", "spend_history", "transactions", "billing_status", "payment_method", "subscriptions"],
    "system": [
        "test_connection",
        "get_setup_status",
        "templates",
        "automations",
        "save_template",
        "set_automation_status",
    ],
}
"""The names of the 58 tools by category."""


def tokens(tool: CompiledTool) -> int:
    """Return what the model of an assistant reads of a tool, at four characters a token."""
    entry = tool.entry
    text = entry["name"] + entry["description"] + orjson.dumps(entry["inputSchema"]).decode()
    return len(text) // CHARACTERS_PER_TOKEN


def test_the_names_are_those_that_were_specified():
    assert list(SPECIFIED) == list(CATEGORIES)
    assert sum(map(len, SPECIFIED.values())) == ALL_TOOLS
    assert {name for names in SPECIFIED.values() for name in names} == {tool.name for tool in TOOLS}
    assert [tool.name for tool in TOOLS if tool.name not in SPECIFIED[tool.announcement.category]] == []


def test_the_list_costs_an_assistant_few_tokens():
    costs = {tool.name: tokens(tool) for tool in TOOLS}
    sizes = {tool.name: len(orjson.dumps(tool.entry)) for tool in TOOLS}
    mean, whole = sum(costs.values()) / len(costs), len(orjson.dumps([tool.entry for tool in TOOLS]))
    for name, cost in sorted(costs.items(), key=lambda each: -each[1]):
        print(f"{name:28} {cost:4} tokens {sizes[name]:6} bytes")  # noqa: T201
    print(f"mean {mean:.0f} tokens; the list of {len(TOOLS)} tools: {whole / 1000:.1f} kB")  # noqa: T201

    assert mean <= MEAN_TOKENS
    assert max(costs.values()) <= MOST_TOKENS
    assert whole <= LIST_BYTES


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_tool_is_described(tool: CompiledTool):
    entry, schema = tool.entry, tool.entry["inputSchema"]

    assert 0 < len(entry["description"]) <= MOST_DESCRIPTION
    assert entry["title"][0].isupper()
    assert len(schema["properties"]) <= MOST_PROPERTIES
    assert [name for name, each in schema["properties"].items() if not each.get("description")] == []
    assert set(entry["annotations"]) == {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
    Draft202012Validator.check_schema(schema)
    Draft202012Validator.check_schema(entry["outputSchema"])


def test_a_tool_that_sends_texts_asks_for_consent():
    sending = {Scope.messages_send, Scope.campaigns_send}
    tools = [tool for tool in TOOLS if tool.scopes & sending and not tool.operation.reads_only]

    assert len(tools) >= 2
    unasked = [tool.name for tool in tools if "consent_attested" not in tool.entry["inputSchema"]["required"]]
    assert unasked == ["cancel_campaign"]  # it ends the sending


def test_the_tools_after_which_texts_may_leave_reach_out_of_the_service():
    reaching = {tool.name for tool in TOOLS if tool.entry["annotations"]["openWorldHint"]}

    assert {"send_sms", "send_campaign", "enroll_in_drip_sequence", "set_status", "set_automation_status"} <= reaching


def test_an_export_only_reads():
    reading = {tool.name for tool in TOOLS if tool.entry["annotations"]["readOnlyHint"]}

    assert reading - {tool.name for tool in TOOLS if tool.operation.reads_only} == {"export_contacts"}
    assert len(reading) == 31


def test_every_tool_names_its_scopes():
    assert [tool.name for tool in TOOLS if not tool.scopes] == []


def test_the_service_ships_no_tool_of_a_test():
    own = ("test_ai_agent", "test_connection")
    assert [tool.name for tool in TOOLS if tool.name.startswith("test_") and tool.name not in own] == []


@pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: prompt.name)
def test_a_prompt_names_tools_and_what_they_take_and_return(prompt: Prompt):
    words = set(re.findall(r"[a-z]+(?:_[a-z]+)+", re.sub(r"\{\w+\}", "", prompt.text)))
    tools = [tool for tool in TOOLS if tool.name in words]
    shown = " ".join(orjson.dumps([tool.entry["inputSchema"], tool.entry["outputSchema"]]).decode() for tool in tools)
    known = {tool.name for tool in tools} | set(re.findall(r"\w+", shown))

    assert sorted(words - known) == []


@pytest.mark.parametrize(
    ("name", "used"),
    [
        ("draft_campaign", {"create_campaign", "preview_campaign"}),
        ("weekly_report", {"get_delivery_rate", "spend_history"}),
        ("onboarding", {"get_setup_status"}),
    ],
)
def test_a_prompt_uses_the_tool_that_does_the_work(name: str, used: set[str]):
    text = prompts.get(name).text

    assert [tool for tool in used if tool not in text] == []
    assert "page_info" not in text


@pytest.mark.parametrize("category", sorted(set(CATEGORIES) - {"messaging", "billing", "system"}))
def test_the_instructions_name_the_records_of_each_category(category: str):
    records = {"phone_numbers": "numbers", "ai_agents": "AI agents"}.get(category, category.replace("_", " "))

    assert records in INSTRUCTIONS
    assert all(each in INSTRUCTIONS for each in ("templates", "automations"))


def test_the_instructions_are_short():
    assert len(INSTRUCTIONS) <= 1024
