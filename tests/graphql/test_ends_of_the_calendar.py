"""Instants near the ends of the calendar: read, kept and computed with like any other."""

from typing import Any

import httpx2
import pytest
from graphql import get_named_type

from app.domain.accounts.scopes import ALL
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.factories.campaigns import add_people
from tests.graphql.calls import post, serving
from tests.graphql.test_hostile_values import document, fields, needed, written

pytestmark = pytest.mark.anyio

FIRST, LAST = "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"

OPT_IN = """
mutation ($id: BigInt!) {
  record_opt_in(id: $id, method: "web_form", text: "Yes", occurred_at: "0001-01-01T00:00:00Z") { id }
}
"""
CREATE = 'mutation { create_api_key(name: "Eternal", expires_at: "9999-12-31T23:59:59.999999Z") { key expires_at } }'
PREVIEW = (
    "query ($id: BigInt!, $at: String) { preview_campaign(id: $id, local_at: $at) { recipients zones { count } } }"
)
CAMPAIGN = 'mutation { create_campaign(campaign: {name: "A", body: "Hi", audience: {everyone: true}}) { id } }'


async def ask(client: httpx2.AsyncClient, text: str, **variables: Any) -> Any:
    answer = (await post(client, {"query": text, "variables": variables})).json()
    assert "errors" not in answer, answer
    [value] = answer["data"].values()
    return value


async def test_no_root_field_fails_for_an_instant_at_an_end_of_the_calendar(services: Services, account: Opened):
    asked = [
        (document(kind, name, field), needed(dict(field.args)) | {argument: f'"{instant}"'})
        for kind, name, field in fields()
        for argument, slot in field.args.items()
        if get_named_type(slot.type).name == "DateTime"
        for instant in (FIRST, LAST)
    ]
    headers = {"Content-Type": "application/json"}
    async with serving(services, Actor(account.account_id, ALL, "key:1")) as client:
        answers = [
            await client.post("", content=f'{{"query": "{text}", "variables": {written(given)}}}', headers=headers)
            for text, given in asked
        ]

    faults = [each.text for each in answers if each.status_code >= 500 or "internal_error" in each.text]
    assert len(answers) >= 20
    assert faults == []


async def test_a_key_that_expires_at_the_end_of_the_calendar_is_a_key(
    services: Services, http: httpx2.AsyncClient, account: Opened
):
    async with serving(services, Actor(account.account_id, ALL, "user:1")) as owner:
        made = await ask(owner, CREATE)
        listed = await ask(owner, "{ api_keys { expires_at } }")

    answer = await http.get("/billing/balance", headers={"X-API-Key": made["key"]})
    assert answer.status_code == 200
    assert made["expires_at"] == "9999-11-30T00:00:00.000Z"
    assert made["expires_at"] in [each["expires_at"] for each in listed]


async def test_a_consent_of_the_first_day_of_the_calendar_is_kept(services: Services, account: Opened):
    actor = Actor(account.account_id, ALL, "user:1")
    async with serving(services, actor) as client:
        contact = await ask(client, 'mutation { create_contact(contact: {phone: "+12025550143"}) { id } }')
        await ask(client, OPT_IN, id=contact["id"])
        read = '{ phone_consent(phone: "+12025550143") { records { nodes { occurred_at } } } }'
        consent = await ask(client, read)

    assert consent["records"]["nodes"] == [{"occurred_at": "0001-02-01T00:00:00.000Z"}]


@pytest.mark.parametrize("at", ["0001-01-01T00:00", "9999-12-31T23:59"])
async def test_a_campaign_is_previewed_for_any_local_time(services: Services, account: Opened, at: str):
    await add_people(services.database.pool, 1)
    async with serving(services, Actor(account.account_id, ALL, "user:1")) as client:
        campaign = await ask(client, CAMPAIGN)
        preview = await ask(client, PREVIEW, id=campaign["id"], at=at)

    assert preview == {"recipients": 1, "zones": [{"count": 1}]}
