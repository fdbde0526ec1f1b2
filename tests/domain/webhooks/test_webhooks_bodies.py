"""The bodies of deliveries, which only callers with the scope of their events read, and which end with a contact."""

import httpx2
import pytest
from aiohttp import web

from app.domain.contacts import service as contacts
from app.domain.erasure import service as erasure
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.webhooks.harness import Harness
from tests.domain.webhooks.receivers import Post
from tests.factories.accounts import API_KEYS
from tests.factories.contacts import CONTACTS
from tests.factories.webhooks import WEBHOOK_ATTEMPTS, WEBHOOK_DELIVERIES, add_attempt, add_delivery, add_subscription
from tests.waiting import until

pytestmark = pytest.mark.anyio

LIST = {"query": "{ webhook_deliveries { nodes { event body attempts { number body } } } }"}
MANAGES = ["account:write", "messages:read", "webhooks:manage"]


async def read(api: httpx2.AsyncClient) -> dict[str, tuple[str | None, list[str]]]:
    """Return the body of each delivery and those of its answers, by event."""
    nodes = (await api.post("/graphql", json=LIST)).json()["data"]["webhook_deliveries"]["nodes"]
    return {node["event"]: (node["body"], [each["body"] for each in node["attempts"]]) for node in nodes}


async def test_bodies_are_read_with_the_scope_of_their_event(
    services: Services, account: Opened, api: httpx2.AsyncClient
) -> None:
    webhook = await add_subscription(services, account.account_id)
    for event in ("contact.created", "new_contact", "message.sent"):
        delivery = await add_delivery(services, account.account_id, webhook, event=event, body=b'{"first":"Ann"}')
        await add_attempt(services, delivery, body="Ann is known")

    await API_KEYS.change(services, scopes=MANAGES)
    without = await read(api)
    await API_KEYS.change(services, scopes=[*MANAGES, "contacts:read"])
    with_scope = await read(api)

    whole = ('{"first":"Ann"}', ["Ann is known"])
    assert without == {"contact.created": (None, [""]), "new_contact": (None, [""]), "message.sent": whole}
    assert with_scope == dict.fromkeys(("contact.created", "new_contact", "message.sent"), whole)


@pytest.mark.parametrize(("status", "final"), [(200, "delivered"), (500, "canceled")])
async def test_the_answer_to_a_post_is_not_stored_when_the_contact_was_erased_meanwhile(
    harness: Harness, status: int, final: str
) -> None:
    async def answer(post: Post) -> web.Response:
        async with harness.act() as unit:
            await erasure.erase(unit, post.body["id"])
        return web.Response(status=status, text="You said: Ann", headers={"x-said": "Ann"})

    harness.receiver.respond = answer
    await harness.subscribe(event="new_contact")
    async with harness.act() as unit:
        await contacts.create(unit, {"phone": "+12025550143", "first_name": "Ann"})

    async with harness.at_work():
        await harness.receiver.expect(1)
        await until(harness.is_at_rest)

    assert await CONTACTS.count(harness.pool) == 0
    assert await WEBHOOK_DELIVERIES.only(harness.pool, "status", "body") == (final, None)
    assert await WEBHOOK_ATTEMPTS.only(harness.pool, "status", "body", "headers") == (status, "", {})
