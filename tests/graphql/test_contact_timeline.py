"""The timeline of a contact: what happened, from all areas, in one order."""

from typing import Any

import httpx2
import pytest

from app.domain.carriers.carrier import InboundMessage
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.factories.accounts import API_KEYS
from tests.factories.contacts import CONTACTS
from tests.factories.messages import MESSAGES
from tests.factories.planting import plant
from tests.graphql.calls import codes, post
from tests.graphql.test_linked_records import session_statements

pytestmark = pytest.mark.anyio

PHONE = "+12025550143"
CREATE = 'mutation { create_contact(contact: {phone: "+12025550143", source: "web"}) { id } }'
CHANGES = [
    f"mutation ($id: BigInt!) {{ {change} {{ id }} }}"
    for change in (
        "update_contact(id: $id, changes: {pipeline_stage: qualified})",
        'add_tag(id: $id, tag: "vip")',
        'remove_tag(id: $id, tag: "vip")',
        "update_contact(id: $id, changes: {dnd_sms: true})",
        "update_contact(id: $id, changes: {dnd_sms: false})",
    )
]
CONVERSATION = "{ conversations { nodes { id } } }"
NOTE = 'mutation ($id: BigInt!) { add_note(conversation_id: $id, body: "Call back") { id } }'
CLOSE = "mutation ($id: BigInt!) { update_conversation(id: $id, changes: {status: closed}) { id } }"
MAKE_SEQUENCE = """
mutation { create_sequence(name: "Welcome", steps: [{delay_minutes: 60, body: "Hi"}]) { id } }
"""
ENROLL = (
    "mutation ($id: BigInt!, $contact: BigInt!) { enroll(sequence_id: $id, contact_id: $contact) { enrollment_id } }"
)
LEAVE = "mutation ($id: BigInt!) { unenroll(enrollment_id: $id) { id } }"
SHOW = """
query ($id: BigInt!, $first: Int! = 50, $after: String) {
  contact_timeline(id: $id, first: $first, after: $after) {
    entries { kind detail record_id at actor { kind } message { body } note { body } }
    end_cursor
  }
}
"""
BRIEF = "query ($id: BigInt!) { contact_timeline(id: $id, first: 100) { entries { kind detail } end_cursor } }"


async def ask(api: httpx2.AsyncClient, query: str, **variables: Any) -> Any:
    """Return the data of an answer without errors."""
    answer = (await post(api, {"query": query, "variables": variables})).json()
    assert "errors" not in answer, answer
    return answer["data"]


@pytest.fixture
async def contact_id(api: httpx2.AsyncClient, services: Services, account: Opened) -> int:
    """Add a contact with whom something of each area happened; return its id."""
    id = (await ask(api, CREATE))["create_contact"]["id"]
    for change in CHANGES:
        await ask(api, change, id=id)
    await services.inbox.receive("sandbox", InboundMessage("in-1", PHONE, account.phone_number, "Hello there"))
    conversation = (await ask(api, CONVERSATION))["conversations"]["nodes"][0]["id"]
    await ask(api, NOTE, id=conversation)
    await ask(api, CLOSE, id=conversation)
    sequence = (await ask(api, MAKE_SEQUENCE))["create_sequence"]["id"]
    enrolled = (await ask(api, ENROLL, id=sequence, contact=id))["enroll"]
    await ask(api, LEAVE, id=enrolled["enrollment_id"])
    await services.inbox.receive("sandbox", InboundMessage("in-2", PHONE, account.phone_number, "STOP"))
    return id


def kinds(entries: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(each["kind"], each["detail"]) for each in entries]


async def test_a_timeline_shows_the_entries_of_all_areas_newest_first(api: httpx2.AsyncClient, contact_id: int):
    shown = (await ask(api, SHOW, id=contact_id))["contact_timeline"]

    found = kinds(shown["entries"])
    assert found[-6:] == [
        ("dnd_lifted", ""),
        ("dnd_set", ""),
        ("tag_removed", "vip"),
        ("tag_added", "vip"),
        ("stage_changed", "qualified"),
        ("added", "web"),
    ]
    assert sorted(found[:-6]) == [
        ("consent", "attested"),
        ("consent", "opt_out"),
        ("conversation", "closed"),
        ("conversation", "reopened"),
        ("enrolled", "Welcome"),
        ("enrollment_ended", "Welcome"),
        ("message", "inbound"),
        ("message", "inbound"),
        ("message", "outbound"),
        ("note", ""),
    ]
    assert [each["at"] for each in shown["entries"]] == sorted((each["at"] for each in shown["entries"]), reverse=True)
    assert {each["note"]["body"] for each in shown["entries"] if each["note"]} == {"Call back"}
    assert {"Hello there", "STOP"} <= {each["message"]["body"] for each in shown["entries"] if each["message"]}
    assert shown["end_cursor"] is None


@pytest.mark.parametrize("size", [1, 3])
async def test_pages_by_cursor_show_each_entry_once(api: httpx2.AsyncClient, contact_id: int, size: int):
    whole = (await ask(api, SHOW, id=contact_id))["contact_timeline"]["entries"]
    entries, after, pages = list[Any](), None, 0
    while pages < len(whole) and (pages == 0 or after):
        page = (await ask(api, SHOW, id=contact_id, first=size, after=after))["contact_timeline"]
        entries, after, pages = entries + page["entries"], page["end_cursor"], pages + 1

    assert entries == whole
    assert after is None


async def test_entries_of_one_instant_are_shown_once_each(
    api: httpx2.AsyncClient, services: Services, account: Opened, contact_id: int
):
    await MESSAGES.change(services, created_at=services.clock.now())
    whole = (await ask(api, SHOW, id=contact_id))["contact_timeline"]["entries"]
    first = (await ask(api, SHOW, id=contact_id, first=2))["contact_timeline"]
    rest = (await ask(api, SHOW, id=contact_id, after=first["end_cursor"]))["contact_timeline"]

    assert first["entries"] + rest["entries"] == whole


async def test_a_timeline_omits_entries_that_the_caller_may_not_read(
    api: httpx2.AsyncClient, services: Services, contact_id: int
):
    await API_KEYS.change(services, scopes=["contacts:read"])

    shown = (await ask(api, BRIEF, id=contact_id))["contact_timeline"]["entries"]

    assert {each["kind"] for each in shown} == {
        "added", "stage_changed", "tag_added", "tag_removed", "dnd_set", "dnd_lifted", "consent",
    }  # fmt: skip
    assert codes(await post(api, {"query": SHOW, "variables": {"id": contact_id}})) == ["insufficient_scope"]


async def test_a_wrong_cursor_and_an_unknown_contact_are_refused(api: httpx2.AsyncClient, contact_id: int):
    other = {"query": SHOW, "variables": {"id": contact_id + 1}}
    wrong = {"query": SHOW, "variables": {"id": contact_id, "after": "nonsense"}}

    assert codes(await post(api, other)) == ["not_found"]
    assert codes(await post(api, wrong)) == ["invalid_input"]


async def test_a_timeline_of_many_entries_takes_as_many_statements_as_one_of_few(
    api: httpx2.AsyncClient, services: Services, account: Opened
):
    ids = await plant(services.database.pool, account.account_id, "word")
    await CONTACTS.where(id=ids["contacts"]).change(services, phone=PHONE)
    counts = list[int]()
    for texts in (1, 30):
        for number in range(texts):
            text = InboundMessage(f"{texts}-{number}", PHONE, account.phone_number, "Hello")
            await services.inbox.receive("sandbox", text)
        with session_statements() as statements:
            await ask(api, SHOW.replace("message { body }", "message { body contact { phone } }"), id=ids["contacts"])
        counts.append(len(statements))

    assert counts[0] == counts[1]
