"""The bodies of deliveries, which only callers with the scope of their events read."""

import httpx2
import pytest

from app.domain.onboarding.service import Opened
from app.services import Services
from tests.factories.accounts import API_KEYS
from tests.factories.webhooks import add_attempt, add_delivery, add_subscription

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
