"""Replies in conversations."""

from typing import Any

import httpx2
import pytest

from app.domain.accounts.scopes import Scope
from app.domain.carriers.carrier import InboundMessage
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.factories.contacts import CONTACTS
from tests.factories.conversations import CONVERSATIONS
from tests.factories.events import EVENTS, IDEMPOTENCY_KEYS, event_names
from tests.factories.messages import MESSAGES
from tests.factories.numbers import PHONE_NUMBERS, add_number
from tests.graphql.calls import codes, post, serving
from tests.graphql.live import MESSAGE, PHONE, UPDATES, Scene, Served, talking

pytestmark = pytest.mark.anyio

REPLY = """
mutation ($id: BigInt!, $body: String! = "Yes", $attested: Boolean, $key: String) {
  reply(conversation_id: $id, body: $body, consent_attested: $attested, idempotency_key: $key) {
    message_id
    credits_remaining
    message { from_number to_number body status conversation { id } }
  }
}
"""
SEND = f'mutation {{ send_message(to: "{PHONE}", body: "Hi", consent_attested: true) {{ message_id }} }}'
SECOND = "+15002000009"
OUTBOUND = MESSAGES.where(direction="outbound")


async def receive(services: Services, account: Opened, body: str = "Is it open?", to: str | None = None) -> int:
    """Have a contact text in, and return the id of the conversation."""
    id = f"in-{await MESSAGES.count(services)}"
    await services.inbox.receive("sandbox", InboundMessage(id, PHONE, to or account.phone_number, body))
    return await CONVERSATIONS.only(services, "id")


async def reply(api: httpx2.AsyncClient, **variables: Any) -> httpx2.Response:
    return await post(api, {"query": REPLY, "variables": variables})


async def test_a_reply_goes_to_the_contact_from_the_number_that_the_contact_wrote_to(
    api: httpx2.AsyncClient, services: Services, account: Opened
) -> None:
    await add_number(services, account.account_id, SECOND)
    conversation = await receive(services, account, to=SECOND)

    answer = (await reply(api, id=conversation)).json()

    shown = answer["data"]["reply"]
    assert shown["credits_remaining"] == 999
    assert shown["message"] == {
        "from_number": SECOND,
        "to_number": PHONE,
        "body": "Yes",
        "status": "pending",
        "conversation": {"id": conversation},
    }
    assert await OUTBOUND.only(services, "purpose") == "conversational"
    consents = await post(api, {"query": "{ contacts { nodes { consents { kind } } } }"})
    assert consents.json()["data"]["contacts"]["nodes"] == [{"consents": []}]


async def test_a_reply_leaves_from_the_primary_number_once_the_other_is_not_active(
    api: httpx2.AsyncClient, services: Services, account: Opened
) -> None:
    await add_number(services, account.account_id, SECOND)
    conversation = await receive(services, account, to=SECOND)
    await PHONE_NUMBERS.where(phone_number=SECOND).change(services, status="released")

    await reply(api, id=conversation)

    assert await OUTBOUND.only(services, "from_number") == account.phone_number


async def test_a_reply_after_24_hours_needs_the_certification_of_consent(
    api: httpx2.AsyncClient, services: Services, account: Opened
) -> None:
    conversation = await receive(services, account)
    await MESSAGES.age(services, "created_at", hours=24)

    refused = await reply(api, id=conversation)
    written = await OUTBOUND.count(services)
    accepted = await reply(api, id=conversation, attested=True)

    assert (codes(refused), written) == (["api_consent_attested_required"], 0)
    assert accepted.json()["data"]["reply"]["message"]["status"] == "pending"
    assert await OUTBOUND.only(services, "purpose") == "transactional"


@pytest.mark.parametrize(
    ("body", "code"),
    [("STOP", ["contact_opted_out"]), ("STOP what time is the showing", None)],
    ids=["stop", "unclear"],
)
async def test_a_reply_passes_a_hold_and_no_opt_out(
    api: httpx2.AsyncClient, services: Services, account: Opened, body: str, code: list[str] | None
) -> None:
    conversation = await receive(services, account, body)

    answer = await reply(api, id=conversation)

    assert (codes(answer) if "errors" in answer.json() else None) == code
    assert await MESSAGES.where(body="Yes").count(services) == (0 if code else 1)


async def test_a_reply_that_is_repeated_with_its_key_leaves_once_though_the_contact_wrote_again(
    api: httpx2.AsyncClient, services: Services, account: Opened
) -> None:
    await add_number(services, account.account_id, SECOND)
    conversation = await receive(services, account)

    first = await reply(api, id=conversation, key="k")
    await receive(services, account, to=SECOND)
    again = await reply(api, id=conversation, key="k")
    other = await reply(api, id=conversation, key="k", body="No")

    assert again.headers["idempotent-replayed"] == "true"
    assert first.json()["data"]["reply"]["message_id"] == again.json()["data"]["reply"]["message_id"]
    assert codes(other) == ["idempotency_key_reused"]
    assert (await OUTBOUND.count(services), await IDEMPOTENCY_KEYS.count(services)) == (1, 1)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"status": "opted_out"}, "contact_opted_out"),
        ({"dnd_sms": True}, "contact_dnd"),
        ({"phone": "+442079460958"}, "landline"),
        ({"phone": "+15555550100"}, "invalid_phone"),
    ],
    ids=["opted_out", "dnd", "landline", "unused"],
)
async def test_a_refused_reply_does_not_tell_the_phone_to_a_caller_that_may_only_send(
    services: Services, account: Opened, change: dict[str, Any], code: str
) -> None:
    conversation = await receive(services, account)
    await CONTACTS.change(services, **change)
    phone = await CONTACTS.only(services, "phone")

    async with serving(services, Actor(account.account_id, frozenset({Scope.messages_send}))) as api:
        field = 'reply(conversation_id: $id, body: "Hi", consent_attested: true) { message_id }'
        query = f"mutation ($id: BigInt!) {{ {field} }}"
        refused = await post(api, {"query": query, "variables": {"id": conversation}})

    assert codes(refused) == [code]
    assert (phone in refused.text, "field" in refused.json()["errors"][0]["extensions"]) == (False, False)
    assert await OUTBOUND.count(services) == 0


async def test_a_conversation_that_does_not_exist_has_no_reply(api: httpx2.AsyncClient, services: Services) -> None:
    assert codes(await reply(api, id=10**12)) == ["not_found"]
    assert await EVENTS.count(services) == 0


async def test_a_reply_in_a_conversation_is_shown_live_when_accepted_and_other_sends_are_not(
    served: Served, scene: Scene, api: httpx2.AsyncClient
) -> None:
    await scene.receive("Is it open?")
    conversation = await CONVERSATIONS.only(scene.services, "id")
    async with talking(served.address, scene.account.svc_key) as talk:
        await talk.subscribe(UPDATES % f"kind ... on MessageStatusUpdate {{ {MESSAGE} }}", kinds=["message_status"])

        replied = int((await reply(api, id=conversation)).json()["data"]["reply"]["message_id"])
        await post(api, {"query": SEND})
        await scene.dispatch()
        shown = await talk.next()
        await scene.receive("STOP")
        failed, also_failed, confirmed = await talk.next(), await talk.next(), await talk.next()

    assert shown["message"] == {"id": replied, "body": "Yes", "status": "pending"}
    assert [each["message"]["status"] for each in (failed, also_failed, confirmed)] == ["failed", "failed", "pending"]
    assert confirmed["message"]["body"].endswith("Reply START to resubscribe.")
    assert await event_names(scene.services, "message_accepted") == ["message_accepted"] * 2
