"""Placeholders of bookings: saved templates and checks accept them, other texts refuse them."""

import httpx2
import pytest

from app.services import Services
from tests.factories.templates import TEMPLATES
from tests.graphql.calls import post
from tests.graphql.test_templates import CREATE, FALLBACK, ask

pytestmark = pytest.mark.anyio

BODY = "Hi {first_name}, {booking.title|your visit} begins at {booking.start:date(h:mm a)}."
NAMES = ["first_name", "booking.title", "booking.start"]
CHECK = "query ($body: String!) { check_text(body: $body, template: true) { rule text } }"
MEASURE = "query ($body: String!) { measure_text(body: $body, template: true) { body { as_typed { segments } } } }"
LIST = "query ($of: Boolean!) { placeholders(of_bookings: $of) { name } }"
OTHERS = {
    "campaign": 'mutation ($body: String!) { create_campaign(campaign: { name: "A", body: $body }) { id } }',
    "sequence": 'mutation ($body: String!) { create_sequence(name: "A", steps: [{ delay_minutes: 60, body: $body }])'
    " { id } }",
    "keyword": 'mutation ($body: String!) { watch_keyword(keyword: "HOURS", rules: { reply: $body }) { id } }',
}


async def test_a_saved_template_and_a_check_accept_the_placeholders_of_a_booking(
    api: httpx2.AsyncClient, services: Services
) -> None:
    made = await ask(api, CREATE, name="Reminder", body=BODY)

    assert made["placeholders"] == NAMES
    assert await TEMPLATES.only(services, "body") == BODY
    assert [each for each in await ask(api, CHECK, body=BODY) if each["rule"] == "placeholder"] == []
    [fault] = [each for each in await ask(api, CHECK, body="{booking.titel}") if each["rule"] == "placeholder"]
    assert "Did you mean {booking.title}?" in fault["text"]
    assert (await ask(api, MEASURE, body=BODY))["body"]["as_typed"]["segments"] == 1
    assert await ask(api, FALLBACK, name="booking.title", fallback="visit") == {
        "name": "booking.title",
        "fallback": "visit",
    }


async def test_placeholders_of_bookings_are_listed_on_request(api: httpx2.AsyncClient) -> None:
    listed = [[each["name"] for each in await ask(api, LIST, of=of)] for of in (False, True)]

    assert [name for name in listed[0] if name.startswith("booking.")] == []
    assert [name for name in listed[1] if name not in listed[0]] == [
        f"booking.{name}"
        for name in ("title", "start", "end", "time_zone", "name", "location", "cancel_url", "reschedule_url")
    ]


@pytest.mark.parametrize("kind", OTHERS)
async def test_a_text_that_is_not_about_a_booking_refuses_its_placeholders(api: httpx2.AsyncClient, kind: str) -> None:
    answer = (await post(api, {"query": OTHERS[kind], "variables": {"body": "See you {booking.start}"}})).json()

    assert "{booking.start} at character 9 is filled in only in texts about bookings." in answer["errors"][0]["message"]
