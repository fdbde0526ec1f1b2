"""Properties of all tools: valid arguments give a valid result, others an error and no effect."""

import re
from collections.abc import Callable
from typing import Any

import httpx2
import orjson
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from app.domain.accounts.scopes import ALL
from app.domain.agents import service as agents
from app.domain.automations import service as automations
from app.domain.campaigns import service as campaigns
from app.domain.carriers.carrier import InboundMessage
from app.domain.kernel.errors import DomainError
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.domain.segments import service as segments
from app.domain.sequences import service as sequences
from app.domain.sequences.definition import NewStep
from app.domain.templates import service as templates
from app.mcp.calls import accept
from app.mcp.catalogue import CompiledTool, catalogue
from app.services import Services
from tests.conftest import unit_of
from tests.factories.accounts import USERS
from tests.factories.contacts import CONTACTS
from tests.factories.conversations import CONVERSATIONS
from tests.factories.messages import MESSAGES
from tests.factories.snapshots import rows
from tests.mcp.arguments import faulty, is_consistent, valid
from tests.mcp.assistants import Assistant, told

TOOLS = catalogue().tools
PHONE, MARK = "+12025550143", "tell-tale"
each_tool = pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
few = settings(max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture])
some = settings(max_examples=25)

Values = dict[str, Any]


@pytest.fixture
async def known(services: Services, account: Opened) -> Values:
    """Provide the values of records that exist, by the names of parameters."""
    await services.inbox.receive("sandbox", InboundMessage("in-1", PHONE, account.phone_number, MARK))
    async with unit_of(services, Actor(account.account_id, ALL, "test")) as unit:
        sequence = await sequences.create(unit, MARK, [NewStep(0, MARK)])
        template = await templates.create(unit, MARK, MARK)
        segment = await segments.create(unit, MARK, {"field": "email", "op": "is_empty"})
        campaign = await campaigns.create(unit, {"name": MARK, "body": MARK})
        agent = await agents.create(unit, {"name": MARK, "instructions": "Be brief."})
        trigger, actions = {"kind": "missed_reply", "hours": 4}, [{"kind": "exit_drips"}]
        automation = await automations.create(unit, {"name": MARK, "trigger": trigger, "actions": actions})
    user_id = await USERS.where(account_id=account.account_id).only(services, "id")
    return {
        "to": PHONE,
        "phone": PHONE,
        "contact_id": await CONTACTS.where(account_id=account.account_id).only(services, "id"),
        "contact_ids": [await CONTACTS.only(services, "id")],
        "segment_id": segment.id,
        "conversation_id": await CONVERSATIONS.only(services, "id"),
        "read_up_to": await MESSAGES.only(services, "id"),
        "sequence_id": sequence.id,
        "template_id": template.id,
        "automation_id": automation.id,
        "campaign_id": campaign.id,
        "agent_id": agent.id,
        "from_phone_number_id": account.phone_number_id,
        "phone_number_id": account.phone_number_id,
        "assigned_to": user_id,
        "assignee_id": user_id,
    }


@each_tool
@some
@given(data=st.data())
def test_a_tool_accepts_exactly_the_arguments_of_its_schema(tool: CompiledTool, data: st.DataObject) -> None:
    schema = tool.entry["inputSchema"]
    name, arguments = data.draw(st.one_of(faulty(schema, {}), st.tuples(st.just(""), valid(schema, {}))))

    assert Draft202012Validator(schema).is_valid(arguments) is (refusal(tool, arguments) is None)
    assert refusal(tool, arguments) in (None, ("invalid_input", name))


def refusal(tool: CompiledTool, arguments: Values) -> tuple[str, str | None] | None:
    try:
        accept(tool, arguments)
    except DomainError as error:
        return error.code, parameter_of(error.field)
    return None


def parameter_of(field: str | None) -> str | None:
    """Return the parameter that a field at fault belongs to, such as tags of tags[0]."""
    return field and re.split(r"\W", field, maxsplit=1)[0]


@pytest.mark.anyio
@each_tool
@few
@given(data=st.data())
async def test_valid_arguments_give_a_result_that_fits_the_output_schema(
    tool: CompiledTool, assistant: Assistant, known: Values, new_contact: Callable[[], Any], data: st.DataObject
) -> None:
    schema, own = tool.entry["inputSchema"], dict(known)
    if tool.name == "create_contact":
        own["phone"] = await new_contact(False)
    if tool.name == "delete_contact":
        own["contact_id"] = await new_contact(True)
    if tool.name in ("send_campaign", "cancel_campaign", "delete_campaign"):
        draft = {"name": "Spring", "body": "Hi", "audience": {"everyone": True}}
        created = await assistant.ask("tools/call", {"name": "create_campaign", "arguments": draft})
        own["campaign_id"] = told(created)["id"]
    arguments = data.draw(valid(schema, own))
    if "contact_id" not in schema["required"] and {"contact_id", "phone"} <= schema["properties"].keys():
        assume(len({"contact_id", "phone"} & arguments.keys()) == 1)
    assume(is_consistent(tool.name, arguments))

    result = await assistant.ask("tools/call", {"name": tool.name, "arguments": arguments})
    if tool.announcement.confirmation and tool.announcement.confirm == "always":
        confirmation = orjson.loads(result["content"][0]["text"])["confirmation"]
        arguments["confirmation"] = confirmation
        result = await assistant.ask("tools/call", {"name": tool.name, "arguments": arguments})

    assert not result.get("isError"), (arguments, told(result))
    structured = told(result)
    Draft202012Validator(tool.entry["outputSchema"]).validate(structured)
    Draft202012Validator(tool.operation.answers).validate(structured)


@pytest.mark.anyio
@each_tool
@few
@given(data=st.data())
async def test_invalid_arguments_are_refused_without_effect(
    tool: CompiledTool, assistant: Assistant, services: Services, known: Values, data: st.DataObject
) -> None:
    name, arguments = data.draw(faulty(tool.entry["inputSchema"], known))
    before = await rows(services.database.pool)

    result = await assistant.ask("tools/call", {"name": tool.name, "arguments": arguments})

    code, field, _ = told(result)
    assert (code, parameter_of(field)) == ("invalid_input", name)
    after = await rows(services.database.pool)
    assert {table for table in before if before[table] != after[table]} <= {"api_keys"}


@pytest.mark.anyio
@each_tool
@few
@given(data=st.data())
async def test_with_the_ids_of_another_account_a_tool_changes_and_shows_nothing_of_it(
    tool: CompiledTool,
    stranger: Assistant,
    services: Services,
    account: Opened,
    known: Values,
    data: st.DataObject,
) -> None:
    arguments = data.draw(valid(tool.entry["inputSchema"], known))
    before = await rows(services.database.pool, account.account_id)

    result = await stranger.ask("tools/call", {"name": tool.name, "arguments": arguments})

    assert MARK not in orjson.dumps(result).decode()
    after = await rows(services.database.pool, account.account_id)
    assert {table for table in before if before[table] != after[table]} == set()


@pytest.fixture
async def stranger(http: httpx2.AsyncClient, new_account: Callable[..., Any]) -> Assistant:
    """Provide an assistant of another account, which has nothing."""
    return Assistant(http, (await new_account(company_name="Others")).svc_key)


@pytest.fixture
def new_contact(assistant: Assistant) -> Callable[[bool], Any]:
    """Provide a function that returns an unused phone, or adds a contact with it and returns its id."""
    phones = iter(range(1000, 9999))

    async def make(is_added: bool) -> Any:
        phone = f"+1202555{next(phones)}"
        return (await assistant.call("create_contact", phone=phone))["id"] if is_added else phone

    return make
