"""Resources, prompts, completions, and streams of changes."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

import httpx2
import orjson
import pytest

from app.domain.onboarding.service import Opened
from app.jobs import live
from app.jobs.live import Announcer
from app.mcp.prompts import PROMPTS
from app.services import Services
from app.settings import Settings
from tests.factories.accounts import API_KEYS
from tests.factories.contacts import CONTACTS
from tests.factories.conversations import CONVERSATIONS
from tests.factories.tables import ago
from tests.graphql.live import PHONE, Scene, Served, serving
from tests.mcp.assistants import Assistant
from tests.waiting import within

pytestmark = pytest.mark.anyio


@pytest.fixture
async def scene(services: Services, account: Opened) -> AsyncGenerator[Scene]:
    announcer = Announcer(services.settings.redis_url or "")
    yield Scene(services, account, announcer)
    await announcer.aclose()


async def read(assistant: Assistant, uri: str) -> Any:
    [content] = (await assistant.ask("resources/read", {"uri": uri}))["contents"]
    assert (content["uri"], content["mimeType"]) == (uri, "application/json")
    return orjson.loads(content["text"])


async def test_resources_are_listed_and_read(assistant: Assistant, services: Services, scene: Scene):
    await scene.receive("Hello")
    contact_id, conversation_id = await CONTACTS.only(services, "id"), await CONVERSATIONS.only(services, "id")

    listed = await assistant.ask("resources/list")
    templates = await assistant.ask("resources/templates/list")

    assert [each["uri"] for each in listed["resources"]] == ["sms://account"]
    assert [each["uriTemplate"] for each in templates["resourceTemplates"]] == [
        "sms://contacts/{contact_id}",
        "sms://conversations/{conversation_id}",
        "sms://jobs/{job_id}",
        "sms://templates/{template_id}",
        "sms://campaigns/{campaign_id}",
    ]
    assert (await read(assistant, "sms://account"))["company_name"] == "Blue Door"
    assert (await read(assistant, f"sms://contacts/{contact_id}"))["phone"] == PHONE
    conversation = await read(assistant, f"sms://conversations/{conversation_id}")
    assert [message["body"] for message in conversation["messages"]["nodes"]] == ["Hello"]


async def test_a_template_and_the_report_of_a_campaign_are_read_and_completed(
    assistant: Assistant, http: httpx2.AsyncClient, new_account: Callable[..., Any]
):
    template = await assistant.call("save_template", name="Welcome", body="Hi {first_name}")
    await assistant.call("create_contact", phone=PHONE)
    campaign = await assistant.call("create_campaign", name="Spring", body="Hi", audience={"everyone": True})
    uris = {name: f"sms://{name}s/{each['id']}" for name, each in (("template", template), ("campaign", campaign))}
    other = Assistant(http, (await new_account(company_name="Others")).svc_key)

    saved, report = [await read(assistant, uri) for uri in uris.values()]
    refused = [(await other.post("resources/read", {"uri": uri})).json()["error"]["data"] for uri in uris.values()]

    assert (saved["body"], saved["placeholders"]) == ("Hi {first_name}", ["first_name"])
    assert (report["name"], report["status"], report["counts"]) == ("Spring", "draft", [])
    assert [each["error_code"] for each in refused] == ["not_found"] * 2
    for name, each in (("template", template), ("campaign", campaign)):
        completed = await assistant.ask(
            "completion/complete",
            {
                "ref": {"type": "ref/resource", "uri": f"sms://{name}s/{{{name}_id}}"},
                "argument": {"name": f"{name}_id", "value": each["name"][:3]},
            },
        )
        assert completed["completion"]["values"] == [str(each["id"])]


@pytest.mark.parametrize(
    ("uri", "code"),
    [
        ("sms://contacts/99999", "not_found"),
        ("sms://contacts/ann", "invalid_input"),
        ("sms://contacts/1/2", "unknown_resource"),
        ("sms://secrets", "unknown_resource"),
        ("file:///etc/passwd", "unknown_resource"),
    ],
)
async def test_an_invalid_resource_is_an_error_of_the_protocol(assistant: Assistant, uri: str, code: str):
    error = (await assistant.post("resources/read", {"uri": uri})).json()["error"]

    assert (error["code"], error["data"]) == (-32602, {"error_code": code, "uri": uri})


async def test_a_resource_of_another_account_does_not_exist(
    http: httpx2.AsyncClient, services: Services, scene: Scene, new_account: Callable[..., Any]
):
    await scene.receive("Hello")
    other = Assistant(http, (await new_account(company_name="Others")).svc_key)

    uri = f"sms://contacts/{await CONTACTS.only(services, 'id')}"

    assert (await other.post("resources/read", {"uri": uri})).json()["error"]["data"]["error_code"] == "not_found"


async def test_a_resource_needs_the_scopes_of_its_query(with_scopes: Callable[..., Any]):
    narrow = await with_scopes("contacts:read")

    answer = await narrow.post("resources/read", {"uri": "sms://account"})

    assert (answer.status_code, answer.json()["error_code"]) == (403, "insufficient_scope")
    assert (await narrow.ask("resources/list"))["resources"] == []
    assert len((await narrow.ask("resources/templates/list"))["resourceTemplates"]) == 2


async def test_each_prompt_is_filled_in(assistant: Assistant):
    listed = (await assistant.ask("prompts/list"))["prompts"]
    assert [prompt["name"] for prompt in listed] == [
        "draft_campaign",
        "reply_to_conversation",
        "weekly_report",
        "clean_contacts",
        "onboarding",
    ]

    for prompt in PROMPTS:
        arguments = {each.name: f"<{each.name}>" for each in prompt.arguments}
        given = await assistant.ask("prompts/get", {"name": prompt.name, "arguments": arguments})
        [message] = given["messages"]
        assert message["role"] == "user"
        assert all(value in message["content"]["text"] for value in arguments.values())


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("draft_campaign", {}, "invalid_input"),
        ("draft_campaign", {"goal": "x" * 2001}, "invalid_input"),
        ("draft_campaign", {"goal": "x", "colour": "red"}, "invalid_input"),
        ("no_prompt", {}, "not_found"),
    ],
)
async def test_an_unknown_prompt_or_an_invalid_argument_is_refused(
    assistant: Assistant, name: str, arguments: dict[str, str], code: str
):
    error = (await assistant.post("prompts/get", {"name": name, "arguments": arguments})).json()["error"]

    assert (error["code"], error["data"]["error_code"]) == (-32602, code)


async def complete(assistant: Assistant, argument: str, value: str) -> list[str]:
    asked = {
        "ref": {"type": "ref/prompt", "name": "clean_contacts"},
        "argument": {"name": argument, "value": value},
    }
    return (await assistant.ask("completion/complete", asked))["completion"]["values"]


async def test_arguments_are_completed(
    assistant: Assistant, services: Services, scene: Scene, with_scopes: Callable[..., Any]
):
    await scene.receive("Hello")
    contact_id, conversation_id = await CONTACTS.only(services, "id"), await CONVERSATIONS.only(services, "id")
    await assistant.call("update_contact", contact_id=contact_id, first_name="Ann", tags=["vip", "Vienna", "new"])

    assert await complete(assistant, "tag", "vi") == ["Vienna", "vip"]
    assert await complete(assistant, "contact_id", "Ann") == [str(contact_id)]
    assert await complete(assistant, "conversation_id", "") == [str(conversation_id)]
    assert await complete(assistant, "goal", "x") == []
    assert await complete(await with_scopes("account:read"), "tag", "") == []


@asynccontextmanager
async def listening(served: Served, key: str, *uris: str) -> AsyncGenerator[Any]:
    """Open a stream for changes of resources; give its messages."""
    async with httpx2.AsyncClient(base_url=served.base_url, timeout=60) as http:
        assistant = Assistant(http, key)
        request = assistant.http.build_request("POST", "/mcp", **assistant.listen(*uris))
        response = await http.send(request, stream=True)
        lines = response.aiter_lines()

        async def messages() -> AsyncGenerator[Any]:
            async for line in lines:
                if line.startswith("data:"):
                    yield orjson.loads(line.removeprefix("data:"))

        async with aclosing(messages()) as each:
            yield each
        await response.aclose()


@pytest.fixture
async def served(settings: Settings, services: Services) -> AsyncGenerator[Served]:
    async with serving(settings) as served:
        yield served


async def test_a_change_of_a_resource_is_told_to_its_listeners(
    served: Served, services: Services, scene: Scene, account: Opened
):
    await scene.receive("Hello")
    uri = f"sms://conversations/{await CONVERSATIONS.only(services, 'id')}"

    async with listening(served, account.svc_key, uri) as messages:
        begun = await within("the beginning", anext(messages))
        await scene.receive("Is anybody there?")
        changed = await within("the change", anext(messages))

    assert begun["method"] == "notifications/subscriptions/acknowledged"
    assert (changed["method"], changed["params"]["uri"]) == ("notifications/resources/updated", uri)


async def test_changes_of_contacts_campaigns_and_jobs_are_told_without_a_text(
    served: Served, assistant: Assistant, scene: Scene, account: Opened
):
    contact = await assistant.call("create_contact", phone=PHONE)
    campaign = await assistant.call("create_campaign", name="Spring", body="Hi", audience={"everyone": True})
    await scene.dispatch()
    job = await assistant.call("export_contacts")
    uris = [f"sms://contacts/{contact['id']}", f"sms://campaigns/{campaign['id']}", f"sms://jobs/{job['job_id']}"]
    told = list[str]()

    async with listening(served, account.svc_key, *uris) as messages:
        await within("the beginning", anext(messages))
        await assistant.call("update_contact", contact_id=contact["id"], tags=["vip"])
        await assistant.call("update_campaign", campaign_id=campaign["id"], name="Summer")
        await scene.dispatch()
        for _ in uris:
            told.append((await within("a change", anext(messages)))["params"]["uri"])

    assert sorted(told) == sorted(uris)


async def test_only_resources_whose_changes_are_sent_are_acknowledged(
    served: Served, with_scopes: Callable[..., Any], account: Opened
):
    narrow = await with_scopes("messages:read", "contacts:read")
    asked = ["sms://contacts/7", "sms://contacts/07", "sms://contacts/x", "sms://conversations/7", "sms://account"]
    asked += ["sms://templates/7", "sms://campaigns/7", "sms://jobs/7", "sms://no/7"]
    acknowledged = list[list[str]]()

    for key in (narrow.credential, account.svc_key):
        async with listening(served, key, *asked) as messages:
            begun = await within("the beginning", anext(messages))
            acknowledged.append(begun["params"]["notifications"]["resourceSubscriptions"])

    assert acknowledged == [
        ["sms://contacts/7", "sms://jobs/7"],
        ["sms://contacts/7", "sms://conversations/7", "sms://campaigns/7", "sms://jobs/7"],
    ]


async def test_a_stream_ends_with_its_credential(served: Served, services: Services, scene: Scene, account: Opened):
    await scene.receive("Hello")
    uri = f"sms://conversations/{await CONVERSATIONS.only(services, 'id')}"

    async with listening(served, account.svc_key, uri) as messages:
        await within("the beginning", anext(messages))
        await API_KEYS.change(services, revoked_at=ago())
        await scene.receive("A secret")
        ended = await within("the end", anext(messages))

    assert "result" in ended


@pytest.mark.parametrize("uris", [("sms://account",), ()])
async def test_a_stream_ends_with_the_process(served: Served, account: Opened, uris: tuple[str, ...]):
    async with listening(served, account.svc_key, *uris) as messages:
        await within("the beginning", anext(messages))
        stopping = asyncio.create_task(served.stop())
        ended = await within("the end", anext(messages))

    await within("the stop", stopping)
    assert "result" in ended


async def test_changes_need_the_scopes_of_the_updates(served: Served, with_scopes: Callable[..., Any]):
    narrow = await with_scopes("contacts:read")

    async with listening(served, narrow.credential, "sms://contacts/1") as messages:
        told = [message async for message in messages]

    assert told[-1]["error"]["data"] == {"error_code": "insufficient_scope"}


async def test_a_stream_for_no_resource_counts_as_a_live_stream_and_ends_with_its_credential(
    served: Served, services: Services, scene: Scene, account: Opened, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(live, "MAX_STREAMS", 1)

    async with listening(served, account.svc_key) as messages:
        await within("the beginning", anext(messages))
        async with listening(served, account.svc_key) as refused:
            told = [message async for message in refused]
        await API_KEYS.change(services, revoked_at=ago())
        await scene.receive("A secret")
        ended = await within("the end", anext(messages))

    assert told[-1]["error"]["data"] == {"error_code": "too_many_streams"}
    assert "result" in ended
