"""Contacts over GraphQL."""

from typing import Any

import httpx2
import pytest
from sqlalchemy import Engine, event

from app.domain.carriers.carrier import InboundMessage
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.factories.accounts import API_KEYS
from tests.factories.contacts import CONTACTS, id_of_contact
from tests.factories.jobs import ACCOUNT_JOBS
from tests.graphql.calls import codes, post

pytestmark = pytest.mark.anyio

ADD = "mutation ($phone: String!) { create_contact(contact: {phone: $phone}) { id } }"
STOP = 'mutation ($id: BigInt!) { record_opt_out(id: $id, method: "letter", text: "Stop") { status } }'
CONSENTS = "{ contacts { nodes { phone consents { method } } } }"
MOVE = 'mutation ($id: BigInt!) { update_contact(id: $id, changes: {phone: "+12025550199"}) { held_until } }'
AGREE = 'mutation ($id: BigInt!) { record_opt_in(id: $id, method: "verbal", text: "Go on.") { held_until } }'
FLAG = "{ conversations { nodes { possible_opt_out } } }"


async def ask(api: httpx2.AsyncClient, query: str, **variables: Any) -> Any:
    answer = (await post(api, {"query": query, "variables": variables})).json()
    assert "errors" not in answer, answer
    return answer["data"]


async def test_the_consents_of_a_list_of_contacts_are_read_at_once(api: httpx2.AsyncClient) -> None:
    phones = [f"+1202555014{last}" for last in range(3)]
    for phone in phones:
        id = (await ask(api, ADD, phone=phone))["create_contact"]["id"]
        await ask(api, STOP, id=id)
    statements: list[str] = []

    def note(*arguments: object) -> None:
        statements.append(str(arguments[2]))

    event.listen(Engine, "before_cursor_execute", note)
    shown = (await ask(api, CONSENTS))["contacts"]["nodes"]
    event.remove(Engine, "before_cursor_execute", note)

    assert {node["phone"]: node["consents"] for node in shown} == {phone: [{"method": "letter"}] for phone in phones}
    assert len([statement for statement in statements if "consents" in statement]) == 1


@pytest.mark.parametrize("lift", [STOP, AGREE, MOVE])
async def test_ending_a_hold_clears_the_flag_of_the_conversation(
    api: httpx2.AsyncClient, services: Services, account: Opened, lift: str
) -> None:
    unclear = InboundMessage("in-1", "+12025550143", account.phone_number, "STOP what time is the showing")
    await services.inbox.receive("sandbox", unclear)
    assert (await ask(api, FLAG))["conversations"]["nodes"] == [{"possible_opt_out": True}]

    await ask(api, lift, id=await id_of_contact(services))

    assert (await ask(api, FLAG))["conversations"]["nodes"] == [{"possible_opt_out": False}]


@pytest.mark.parametrize(
    ("query", "variables", "field"),
    [
        (
            "mutation ($to: ConversationStatus) { update_conversation(id: 1, changes: {status: $to}) { id } }",
            {"to": None},
            "status",
        ),
        (
            "mutation ($to: ConversationChanges!) { update_conversation(id: 1, changes: $to) { id } }",
            {"to": {"read_up_to": None}},
            "read_up_to",
        ),
        ("mutation { update_conversation(id: 1, changes: {status: null}) { id } }", {}, "status"),
        ("mutation { update_webhook(id: 1, changes: {events: null}) { id } }", {}, "events"),
    ],
)
async def test_null_for_a_required_field_is_refused_by_its_name(
    api: httpx2.AsyncClient, query: str, variables: dict[str, Any], field: str
) -> None:
    [error] = (await post(api, {"query": query, "variables": variables})).json()["errors"]

    assert error["extensions"]["code"] == "invalid_input"
    assert error["message"] == f"{field} must not be null. Leave it out to keep the present value."


LISTED = """query (
  $filter: SegmentFilter, $segment: BigInt, $tags: [String!], $since: DateTime, $sort: ContactSort! = name_asc
) {
  contacts(filter: $filter, segment_id: $segment, tags: $tags, updated_since: $since, sort: $sort) {
    total_count
    nodes { first_name state last_message_at can_send blocked_by { gate verdict error_code reason remedy } }
  }
}"""
NEW = "mutation ($contact: NewContact!) { create_contact(contact: $contact) { id updated_at } }"
SEGMENT = 'mutation ($filter: SegmentFilter!) { create_segment(name: "VIP", filter: $filter) { id } }'
VIP = {"field": "tags", "op": "has_any", "value": ["vip"]}


async def test_contacts_are_listed_by_a_filter_a_segment_tags_and_the_time_of_a_change(api: httpx2.AsyncClient) -> None:
    phones = iter(["+12025550143", "+442079460001", "+12125550145"])
    for name, tags in {"Ann": ["vip"], "Bob": ["new"], "Cid": ["old"]}.items():
        contact = {"first_name": name, "phone": next(phones), "tags": tags}
        last = (await ask(api, NEW, contact=contact))["create_contact"]
    segment = (await ask(api, SEGMENT, filter=VIP))["create_segment"]["id"]

    asked: dict[str, Any] = {
        "Ann": {"filter": VIP},
        "Ann, again": {"segment": segment},
        "Bob, Cid": {"tags": ["new", "old"]},
        "Cid": {"since": last["updated_at"]},
        "Bob": {"filter": {"none": [VIP]}, "tags": ["new", "vip"]},
        "Cid, Bob, Ann": {"sort": "date_updated"},
        "Ann, Bob, Cid": {"filter": {}},
        "": {"sort": "last_message"},
    }
    for names, variables in asked.items():
        found = (await ask(api, LISTED, **variables))["contacts"]
        assert ", ".join(each["first_name"] for each in found["nodes"]) == names.removesuffix(", again"), variables
        assert found["total_count"] == len(found["nodes"])


async def test_a_filter_that_is_not_valid_is_refused_with_its_place(api: httpx2.AsyncClient) -> None:
    wrong = {"all": [VIP, {"field": "scor", "op": "gt", "value": ["1"]}]}

    (error,) = (await post(api, {"query": LISTED, "variables": {"filter": wrong}})).json()["errors"]

    assert error["message"] == "scor is not a field. Did you mean score?"
    assert (error["extensions"]["code"], error["extensions"]["field"]) == ("invalid_input", "filter.all[1].field")


async def test_a_contact_says_its_state_its_last_message_and_whether_it_can_be_texted(
    api: httpx2.AsyncClient, services: Services, account: Opened
) -> None:
    await ask(api, NEW, contact={"first_name": "Ann", "phone": "+12025550143"})
    await ask(api, NEW, contact={"first_name": "Bob", "phone": "+442079460001"})
    await ask(api, NEW, contact={"first_name": "Cid", "phone": "+12125550145", "status": "opted_out"})
    await ask(api, NEW, contact={"first_name": "Dan", "phone": "+12125550146", "dnd_sms": True})
    held = InboundMessage("in-1", "+12125550147", account.phone_number, "STOP what time is the showing")
    await services.inbox.receive("sandbox", held)

    nodes = (await ask(api, LISTED))["contacts"]["nodes"]

    assert [(each["first_name"], each["state"], each["can_send"]) for each in nodes] == [
        ("", "NY", False),
        ("Ann", "DC", True),
        ("Bob", None, False),
        ("Cid", "NY", False),
        ("Dan", "NY", False),
    ]
    blocked = [each["blocked_by"] and (each["blocked_by"]["gate"], each["blocked_by"]["error_code"]) for each in nodes]
    assert blocked == [
        ("hold", "contact_held"),
        None,
        ("line_type", "landline"),
        ("opt_out", "contact_opted_out"),
        ("dnd", "contact_dnd"),
    ]
    assert nodes[4]["blocked_by"]["remedy"] == "Set dnd_sms of the contact to false."
    assert [bool(each["last_message_at"]) for each in nodes] == [True, False, False, False, False]


TAGS = "{ tags { name contact_count contact_count_is_exact } }"
RENAME = "mutation ($tag: String!, $name: String!) { rename_tag(tag: $tag, name: $name) { kind status total } }"


async def test_tags_are_counted_in_one_statement_and_renamed_by_a_job(api: httpx2.AsyncClient) -> None:
    for number, tags in enumerate([["vip", "old"], ["vip"], []]):
        await ask(api, NEW, contact={"phone": f"+1202555014{number}", "tags": tags})
    statements: list[str] = []

    def note(*arguments: object) -> None:
        statements.append(str(arguments[2]))

    event.listen(Engine, "before_cursor_execute", note)
    shown = (await ask(api, TAGS))["tags"]
    event.remove(Engine, "before_cursor_execute", note)

    assert [(each["name"], each["contact_count"], each["contact_count_is_exact"]) for each in shown] == [
        ("old", 1, True),
        ("vip", 2, True),
    ]
    assert len([statement for statement in statements if "contact_tags" in statement]) == 2
    job = (await ask(api, RENAME, tag="vip", name="gold"))["rename_tag"]
    assert job == {"kind": "rename_tag", "status": "waiting", "total": 2}
    refused = await post(api, {"query": RENAME, "variables": {"tag": "none", "name": "gold"}})
    assert refused.json()["errors"][0]["extensions"]["code"] == "not_found"


FILTERED = 'filter: {field: "message_count", op: gt, value: "0"}'
BEYOND_CONTACTS = {
    f"{{ contacts({FILTERED}) {{ total_count }} }}": "campaigns:read",
    "{ contacts(segment_id: 1) { total_count } }": "campaigns:read",
    "mutation { export_contacts(segment_id: 1) { id } }": "campaigns:read",
    'mutation { bulk_tag(contacts: {segment_id: 1}, add: "vip") { id } }': "campaigns:read",
    "{ contacts(sort: last_message) { total_count } }": "conversations:read",
    "{ contacts { nodes { last_message_at } } }": "conversations:read",
}


@pytest.mark.parametrize(("query", "scope"), BEYOND_CONTACTS.items())
async def test_a_list_of_contacts_that_tells_of_messages_needs_the_scope_for_those(
    services: Services, account: Opened, api: httpx2.AsyncClient, query: str, scope: str
) -> None:
    await services.inbox.receive("sandbox", InboundMessage("in-1", "+12025550143", account.phone_number, "Hi"))
    await API_KEYS.change(services, scopes=["contacts:write"])
    refused = await post(api, {"query": query})
    await API_KEYS.change(services, scopes=["contacts:write", scope])
    allowed = await post(api, {"query": query})

    assert (codes(refused), scope in refused.text) == (["insufficient_scope"], True)
    assert "insufficient_scope" not in allowed.text


UNKNOWN = {"key": "nope", "value": "Bonn"}
WRONG = {"key": "born", "value": "yesterday"}
BLANK = {"key": "born", "value": " "}
OF_VALUES = (
    "query ($of: [CustomValue!]) { contacts(custom: $of) { total_count } }",
    "mutation ($of: [CustomValue!]) { export_contacts(filter: {custom: $of}) { id } }",
    "mutation ($of: [CustomValue!]) { bulk_stage(contacts: {filter: {custom: $of}}, stage: won) { id } }",
    "mutation ($of: [CustomValue!]) { bulk_delete(contacts: {filter: {custom: $of}}) { id } }",
)


@pytest.mark.parametrize("value", [UNKNOWN, WRONG, BLANK, {"key": "born"}])
@pytest.mark.parametrize("query", OF_VALUES)
async def test_a_filter_by_a_value_that_no_contact_can_have_is_refused_at_once_and_reaches_no_contact(
    services: Services, api: httpx2.AsyncClient, query: str, value: dict[str, str]
) -> None:
    await ask(api, 'mutation { create_custom_field(key: "born", type: date) { id } }')
    await ask(api, ADD, phone="+12025550143")

    refused = await post(api, {"query": query, "variables": {"of": [value]}})

    assert codes(refused) == ["invalid_input"]
    assert refused.json()["errors"][0]["extensions"]["field"].endswith(f"custom.{value['key']}")
    assert await ACCOUNT_JOBS.count(services) == 0


ADD_WITH_VALUES = """
mutation ($of: [CustomValue!]) { create_contact(contact: {phone: "+12025550143", custom_fields: $of}) { id } }
"""


@pytest.mark.parametrize("query", [*OF_VALUES, ADD_WITH_VALUES])
async def test_two_values_of_one_custom_field_are_refused_and_change_nothing(
    services: Services, api: httpx2.AsyncClient, query: str
) -> None:
    await ask(api, 'mutation { create_custom_field(key: "city", type: text) { id } }')
    twice = [{"key": "city", "value": "Bonn"}, {"key": "city", "value": "Berlin"}]

    refused = await post(api, {"query": query, "variables": {"of": twice}})

    assert codes(refused) == ["invalid_input"]
    assert refused.json()["errors"][0]["message"] == "custom.city is given twice. Give each field once."
    assert (await ACCOUNT_JOBS.count(services), await CONTACTS.count(services)) == (0, 0)


@pytest.mark.parametrize("text", ["", "  "])
@pytest.mark.parametrize("name", ["search", "tag"])
@pytest.mark.parametrize(
    "query",
    [
        "mutation ($of: ContactFilter!) { export_contacts(filter: $of) { id } }",
        "mutation ($of: ContactFilter!) { bulk_delete(contacts: {filter: $of}) { id } }",
    ],
)
async def test_a_blank_text_in_the_filter_of_a_job_is_refused_and_reaches_no_contact(
    services: Services, api: httpx2.AsyncClient, query: str, name: str, text: str
) -> None:
    await ask(api, ADD, phone="+12025550143")

    refused = await post(api, {"query": query, "variables": {"of": {name: text}}})

    assert codes(refused) == ["invalid_input"]
    assert refused.json()["errors"][0]["message"].startswith(f"{name} is blank. Leave it out")
    assert await ACCOUNT_JOBS.count(services) == 0
