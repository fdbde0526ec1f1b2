"""Contacts over GraphQL."""

from typing import Any

import httpx2
import pytest
from sqlalchemy import Engine, event

from app.domain.carriers.carrier import InboundMessage
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.factories.contacts import id_of_contact
from tests.graphql.calls import post

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
