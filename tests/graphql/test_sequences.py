"""Drip sequences over GraphQL."""

from typing import Any

import httpx2
import pytest

from app.domain.accounts.scopes import Scope
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.factories.accounts import API_KEYS
from tests.factories.contacts import CONTACTS
from tests.graphql.calls import codes, post, serving

pytestmark = pytest.mark.anyio

MAKE = """
mutation ($name: String!, $steps: [NewSequenceStep!]!) {
  create_sequence(name: $name, steps: $steps) {
    id name status creator { kind } steps { position delay_minutes at body }
  }
}
"""
STEPS = [
    {"delay_minutes": 60, "body": "Welcome, {first_name}!", "at": "10:30"},
    {"delay_minutes": 0, "body": "Bye", "at": None},
]
ADD = 'mutation ($phone: String!) { create_contact(contact: {phone: $phone, first_name: "Ann"}) { id } }'
ENROLL = """
mutation ($sequence: BigInt!, $contact: BigInt) {
  enroll(sequence_id: $sequence, contact_id: $contact) { enrollment_id already_enrolled next_send_at }
}
"""
LIST = """
query ($sequence: BigInt!, $status: EnrollmentStatus) {
  enrollments(sequence_id: $sequence, status: $status) {
    total_count
    nodes { id status exit_reason position sequence_name creator { kind } next_send_at contact { first_name } }
  }
}
"""
END = "mutation ($id: BigInt!) { unenroll(enrollment_id: $id) { status exit_reason next_send_at } }"
STATUS = "mutation ($id: BigInt!, $to: SequenceStatus!) { update_sequence_status(id: $id, status: $to) { status } }"
ALL = "query ($status: SequenceStatus) { sequences(status: $status) { total_count nodes { name steps { body } } } }"


async def ask(api: httpx2.AsyncClient, query: str, **variables: Any) -> Any:
    answer = (await post(api, {"query": query, "variables": variables})).json()
    assert "errors" not in answer, answer
    return answer["data"]


async def make(api: httpx2.AsyncClient, name: str = "Welcome") -> Any:
    return (await ask(api, MAKE, name=name, steps=STEPS))["create_sequence"]


async def test_a_sequence_is_made_active_with_its_steps(api: httpx2.AsyncClient) -> None:
    made = await make(api)

    steps = [{"position": place, **step} for place, step in enumerate(STEPS, 1)]
    assert made == {"id": made["id"], "name": "Welcome", "status": "active", "creator": {"kind": "key"}, "steps": steps}


async def test_a_sequence_that_could_not_be_sent_is_refused(api: httpx2.AsyncClient) -> None:
    steps = [{"delay_minutes": 0, "body": "Hi {name}"}]

    answer = await post(api, {"query": MAKE, "variables": {"name": "Welcome", "steps": steps}})

    assert codes(answer) == ["invalid_input"]
    assert (await ask(api, ALL))["sequences"]["total_count"] == 0


@pytest.mark.parametrize("change", [{"status": "opted_out"}, {"dnd_sms": True}], ids=["opted_out", "dnd"])
async def test_a_refused_enrollment_does_not_tell_the_phone_to_a_caller_that_may_only_enroll(
    api: httpx2.AsyncClient, services: Services, account: Opened, change: dict[str, Any]
) -> None:
    sequence, contact = await make(api), (await ask(api, ADD, phone="+12025550143"))["create_contact"]["id"]
    await CONTACTS.change(services, **change)

    async with serving(services, Actor(account.account_id, frozenset({Scope.campaigns_send}))) as narrow:
        refused = await post(narrow, {"query": ENROLL, "variables": {"sequence": sequence["id"], "contact": contact}})

    assert codes(refused) in (["contact_opted_out"], ["contact_dnd"])
    assert "2025550143" not in refused.text


async def test_sequences_are_listed_the_newest_first_and_by_their_status(api: httpx2.AsyncClient) -> None:
    first, _ = await make(api, "First"), await make(api, "Second")
    paused = await ask(api, STATUS, id=first["id"], to="paused")

    steps = [{"body": step["body"]} for step in STEPS]
    every, waiting = await ask(api, ALL), await ask(api, ALL, status="paused")
    assert paused == {"update_sequence_status": {"status": "paused"}}
    assert every["sequences"] == {
        "total_count": 2,
        "nodes": [{"name": "Second", "steps": steps}, {"name": "First", "steps": steps}],
    }
    assert waiting["sequences"] == {"total_count": 1, "nodes": [{"name": "First", "steps": steps}]}


async def test_an_enrollment_is_listed_and_ended(api: httpx2.AsyncClient) -> None:
    sequence = (await make(api))["id"]
    contact = (await ask(api, ADD, phone="+12025550143"))["create_contact"]["id"]
    enrolled = (await ask(api, ENROLL, sequence=sequence, contact=contact))["enroll"]

    [listed] = (await ask(api, LIST, sequence=sequence))["enrollments"]["nodes"]
    ended = (await ask(api, END, id=enrolled["enrollment_id"]))["unenroll"]
    active = (await ask(api, LIST, sequence=sequence, status="active"))["enrollments"]
    exited = (await ask(api, LIST, sequence=sequence, status="exited"))["enrollments"]

    assert enrolled["already_enrolled"] is False
    assert listed == {
        "id": enrolled["enrollment_id"],
        "status": "active",
        "exit_reason": "",
        "position": 1,
        "sequence_name": "Welcome",
        "creator": {"kind": "key"},
        "next_send_at": enrolled["next_send_at"],
        "contact": {"first_name": "Ann"},
    }
    assert ended == {"status": "exited", "exit_reason": "removed", "next_send_at": None}
    assert (active, exited["total_count"]) == ({"total_count": 0, "nodes": []}, 1)


async def test_the_enrollments_of_a_sequence_that_is_not_there_are_not_found(api: httpx2.AsyncClient) -> None:
    assert codes(await post(api, {"query": LIST, "variables": {"sequence": 10**12}})) == ["not_found"]


async def test_a_draft_is_previewed_with_the_scope_for_contacts_because_its_parts_tell_about_them(
    api: httpx2.AsyncClient, services: Services
) -> None:
    contact = (await ask(api, ADD, phone="+12025550101"))["create_contact"]["id"]
    preview = """query ($steps: [NewSequenceStep!]!, $contact: BigInt!) {
      preview_sequence_draft(steps: $steps, contact_id: $contact) { segments missing }
    }"""
    given = {"steps": [{"delay_minutes": 0, "body": "{email}" + 153 * "a"}], "contact": contact}
    shown = await ask(api, preview, **given)
    await API_KEYS.change(services, scopes=["campaigns:read"])

    refused = await post(api, {"query": preview, "variables": given})

    assert shown == {"preview_sequence_draft": [{"segments": 1, "missing": ["email"]}]}
    assert codes(refused) == ["insufficient_scope"]
