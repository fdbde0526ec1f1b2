"""Hostile bodies at the address of an inbound webhook: clear answers, and no more than a failed event."""

from typing import Any

import httpx2
import orjson
import pytest

from app.bootstrap import open_applier
from app.domain.accounts.scopes import Scope
from app.domain.integrations import service
from app.domain.integrations.hook_actions import Actions
from app.domain.integrations.models import Integration
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.conftest import unit_of
from tests.factories.contacts import CONTACTS
from tests.factories.integrations import INTEGRATION_EVENTS

pytestmark = pytest.mark.anyio

SECRET = "the secret of the shop"
HEADERS = {"X-Webhook-Secret": SECRET}
DEEP = ".".join("a" * 50) + ".a[9999]" * 12
PATHS = {"phone": "phone", "first_name": DEEP, "last_name": "last[0][0][0]", "email": "email"}
PHONE = "+12025550143"
FAILING: dict[str, Any] = {
    "phone": ["9" * 200_000, [PHONE], {"a": PHONE}, True, 1e300, -1, "\u0000", "\u202e" * 50, "+1202555" * 9],
    "email": ["@" * 200_000, "a@" + "b" * 200_000 + ".com", 17, "ann@example.com\r\nBcc: x@example.com"],
    "last": [[[["L" * 200_000]]], [[["\u0007"]]], [[["\u2028\u0000"]]]],
}


@pytest.fixture
async def hook(services: Services, account: Opened) -> Integration:
    """Provide a webhook with expensive paths."""
    async with unit_of(services, Actor(account.account_id, frozenset(Scope), "test")) as unit:
        actions: Actions = {"paths": PATHS}
        return (await service.add_webhook(unit, services.intake.ports, "Shop", actions, SECRET))[0]


async def post(http: httpx2.AsyncClient, hook: Integration, body: bytes, **headers: str) -> httpx2.Response:
    return await http.post(f"/integrations/webhook/{hook.address}", content=body, headers=headers or HEADERS)


async def test_hostile_values_fail_their_event_with_a_short_reason_and_stored_values_are_bounded(
    services: Services, http: httpx2.AsyncClient, hook: Integration
) -> None:
    bodies = [{"phone": PHONE, name: value} for name, values in FAILING.items() for value in values]
    wide = {"phone": PHONE, **{f"k{number}": number for number in range(10_000)}}
    nested = b'{"a":' * 900 + b"1" + b"}" * 900
    contents = [*map(orjson.dumps, [*bodies, wide]), nested, b"[]", b"1", b'"text"', b"null", b'{"phone":"\\ud800"}']

    answers = [(await post(http, hook, content)).status_code for content in contents]
    applier = open_applier(services)
    while await applier.due():
        await applier.run()

    assert set(answers) <= {202, 400}
    events = await INTEGRATION_EVENTS.read(services, "status", "result", "attempts")
    assert {status for status, *_ in events} == {"applied", "failed"}
    assert max(len(result) for _, result, _ in events) <= 1000
    assert [result for _, result, _ in events if result.startswith("It could not be applied")] == []
    [(first, last, email)] = await CONTACTS.where(phone=PHONE).read(services, "first_name", "last_name", "email")
    assert max(map(len, (first, last))) <= 100
    assert "\n" not in email
