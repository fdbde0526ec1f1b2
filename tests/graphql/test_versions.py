"""Two people who change one record: a change of a version that was changed meanwhile is refused."""

from typing import NamedTuple

import httpx2
import pytest

from app.services import Services
from tests.factories.agents import AGENTS
from tests.factories.automations import AUTOMATIONS
from tests.factories.segments import SEGMENTS
from tests.factories.tables import Rows
from tests.factories.webhooks import WEBHOOK_SUBSCRIPTIONS
from tests.graphql.calls import post

pytestmark = pytest.mark.anyio


class Versioned(NamedTuple):
    """A record with versions: its creation, its type of changes, the field that is changed, and its rows."""

    create: str
    update: str
    field: str
    kind: str
    rows: Rows


SEGMENT = Versioned(
    'create_segment(name: "One", filter: {field: "score", op: gt, value: ["40"]})',
    "update_segment",
    "name",
    "segment",
    SEGMENTS,
)
AUTOMATION = Versioned(
    'create_automation(automation: {name: "One", trigger: {kind: event, event: "new_message"}, '
    'actions: [{kind: add_tag, tag: "vip"}]})',
    "update_automation",
    "name",
    "automation",
    AUTOMATIONS,
)
AGENT = Versioned(
    'create_ai_agent(name: "One", instructions: "Be kind.")', "update_ai_agent", "name", "AI agent", AGENTS
)
WEBHOOK = Versioned(
    'create_webhook(target_url: "https://127.0.0.1/hook", events: ["message.inbound"], description: "One")',
    "update_webhook",
    "description",
    "webhook",
    WEBHOOK_SUBSCRIPTIONS,
)
RECORDS = [pytest.param(each, id=each.kind) for each in (SEGMENT, AUTOMATION, AGENT, WEBHOOK)]


async def create(api: httpx2.AsyncClient, record: Versioned) -> int:
    answer = (await post(api, {"query": f"mutation {{ made: {record.create} {{ id version }} }}"})).json()
    assert answer["data"]["made"]["version"] == 1
    return answer["data"]["made"]["id"]


async def change(
    api: httpx2.AsyncClient, record: Versioned, id: int, value: str, version: int | None = None
) -> int | tuple[str, str, str]:
    expected = "" if version is None else f", expected_version: {version}"
    changes = f'changes: {{{record.field}: "{value}"}}'
    answer = (
        await post(api, {"query": f"mutation {{ done: {record.update}(id: {id}, {changes}{expected}) {{ version }} }}"})
    ).json()
    if "errors" in answer:
        [error] = answer["errors"]
        return error["extensions"]["code"], error["extensions"]["field"], error["message"]
    return answer["data"]["done"]["version"]


@pytest.mark.parametrize("record", RECORDS)
async def test_a_change_of_a_version_that_was_changed_is_refused(
    api: httpx2.AsyncClient, services: Services, record: Versioned
) -> None:
    id = await create(api, record)

    assert await change(api, record, id, "Two", 1) == 2
    refusal = await change(api, record, id, "Three", 1)

    sentence = f"The {record.kind} has version 2, not 1: it was changed. Read it again."
    assert refusal == ("conflict", "expected_version", sentence)
    assert await record.rows.read(services, record.field, "version") == [("Two", 2)]


@pytest.mark.parametrize("record", RECORDS)
async def test_a_change_to_the_same_values_keeps_the_version(
    api: httpx2.AsyncClient, services: Services, record: Versioned
) -> None:
    id = await create(api, record)

    assert await change(api, record, id, "One", 1) == 1
    assert await change(api, record, id, "Two", 1) == 2
    assert await change(api, record, id, "Two", 2) == 2
    assert await change(api, record, id, "Three") == 3
    assert await record.rows.read(services, record.field, "version") == [("Three", 3)]


async def test_a_webhook_that_is_disabled_has_a_new_version(api: httpx2.AsyncClient) -> None:
    id = await create(api, WEBHOOK)

    disable = f"mutation {{ update_webhook(id: {id}, changes: {{active: false}}) {{ version }} }}"
    answer = await post(api, {"query": disable})

    assert answer.json()["data"]["update_webhook"] == {"version": 2}
