"""Requests of form tools to the routes of automations: empty texts for empty fields, ids as texts."""

from typing import Any

import httpx2
import pytest

from app.db.engine import Pool
from app.services import Services
from tests.factories.events import event_names
from tests.factories.numbers import PHONE_NUMBERS
from tests.factories.sequences import SEQUENCE_ENROLLMENTS
from tests.rest.answers import data, refusal

pytestmark = pytest.mark.anyio

ACTIONS = "/automation/actions"
SEARCH = "/automation/search/contact"
PHONE = "+12025550143"
ANN = {"phone": PHONE, "first_name": "Ann", "email": "ann@example.com", "tags": ["vip"], "source": "crm"}
WHICH = "Give either the id or the phone of the contact."
MAKE_SEQUENCE = """
mutation { create_sequence(name: "Welcome", steps: [{delay_minutes: 30, body: "Hi"}]) { id } }
"""


@pytest.fixture
def pool(services: Services) -> Pool:
    """Give the database."""
    return services.database.pool


@pytest.fixture
async def ann(api: httpx2.AsyncClient) -> dict[str, Any]:
    """Give a contact."""
    return data(await api.post(f"{ACTIONS}/create-contact", json=ANN))


@pytest.fixture
async def sequence_id(api: httpx2.AsyncClient) -> int:
    """Give a sequence."""
    return (await api.post("/graphql", json={"query": MAKE_SEQUENCE})).json()["data"]["create_sequence"]["id"]


@pytest.fixture
def named_by(ann: dict[str, Any], sequence_id: int) -> dict[str, str]:
    """Give what names the contact and the sequence, and a tag, as texts."""
    return {"contact_id": str(ann["id"]), "phone": PHONE, "tag": "new", "sequence_id": str(sequence_id)}


@pytest.mark.parametrize("given", ["contact_id", "phone"])
@pytest.mark.parametrize(
    ("method", "path", "blank"),
    [
        ("PUT", "update-contact", ""),
        ("POST", "add-tag", " "),
        ("POST", "remove-tag", "   "),
        ("POST", "add-to-campaign", ""),
    ],
)
async def test_of_id_and_phone_the_empty_one_counts_as_left_out(
    api: httpx2.AsyncClient, named_by: dict[str, str], method: str, path: str, given: str, blank: str
) -> None:
    body = {**named_by, "contact_id": blank, "phone": blank, given: named_by[given]}

    done = data(await api.request(method, f"{ACTIONS}/{path}", json=body))

    assert int(named_by["contact_id"]) in (done.get("id"), done.get("contact_id"))


async def test_both_empty_is_neither(api: httpx2.AsyncClient, ann: dict[str, Any]) -> None:
    answer = await api.post(f"{ACTIONS}/add-tag", json={"contact_id": "", "phone": "", "tag": "new"})

    assert refusal(answer) == (422, "invalid_input", WHICH)


async def test_empty_form_fields_do_not_change_a_contact(
    api: httpx2.AsyncClient, ann: dict[str, Any], pool: Pool
) -> None:
    fields = ("first_name", "last_name", "email", "tags", "pipeline_stage", "source", "dnd_sms", "status")
    empty = {**dict.fromkeys(fields, ""), "tags": ["", " "]}
    for method, path in (("PUT", "update-contact"), ("POST", "create-contact")):
        for tags in ("", ["", " "]):
            after = data(await api.request(method, f"{ACTIONS}/{path}", json=empty | {"phone": PHONE, "tags": tags}))
            assert after == ann | {"updated_at": after["updated_at"]}

    assert await event_names(pool, "contact_tag_removed", "contact_dnd_changed", "new_opt_out") == []


async def test_null_and_an_empty_list_still_empty_a_field(api: httpx2.AsyncClient, ann: dict[str, Any]) -> None:
    change = {"contact_id": ann["id"], "first_name": None, "tags": []}

    after = data(await api.put(f"{ACTIONS}/update-contact", json=change))

    assert (after["first_name"], after["tags"], after["email"]) == ("", [], "ann@example.com")


async def test_a_new_contact_of_empty_fields_has_the_defaults(api: httpx2.AsyncClient) -> None:
    body = {"phone": PHONE, "email": "", "tags": "", "pipeline_stage": "", "source": "", "status": "", "dnd_sms": ""}

    made = data(await api.post(f"{ACTIONS}/create-contact", json=body))

    assert (made["pipeline_stage"], made["source"], made["status"]) == ("new_lead", "automation", "active")


@pytest.mark.parametrize(("text", "meant"), [("true", True), (" 1", True), ("false", False), ("0", False)])
async def test_a_boolean_may_be_a_text(api: httpx2.AsyncClient, ann: dict[str, Any], text: str, meant: bool) -> None:
    after = data(await api.put(f"{ACTIONS}/update-contact", json={"phone": PHONE, "dnd_sms": text}))

    assert after["dnd_sms"] is meant


@pytest.mark.parametrize("number", ["", " ", None])
async def test_no_sending_number_is_the_first_one(api: httpx2.AsyncClient, number: str | None) -> None:
    body = {"to": PHONE, "message": "Hello", "from_phone_number_id": number}

    assert data(await api.post(f"{ACTIONS}/send-sms", json=body))["status"] == "sent"


async def test_a_sending_number_may_be_named_by_a_text(api: httpx2.AsyncClient, pool: Pool) -> None:
    id = await PHONE_NUMBERS.only(pool, "id")
    body = {"to": PHONE, "message": "Hello", "from_phone_number_id": f" {id} "}

    assert data(await api.post(f"{ACTIONS}/send-sms", json=body))["status"] == "sent"
    wrong = await api.post(f"{ACTIONS}/send-sms", json=body | {"from_phone_number_id": str(id + 1000)})
    assert refusal(wrong)[:2] == (404, "not_found")


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("", "sequence_id must be an integer."),
        (" ", "sequence_id must be an integer."),
        (None, "sequence_id must not be null."),
        ("one", "sequence_id must be an integer."),
        ("1.5", "sequence_id must be an integer."),
        ("9" * 19, f"sequence_id must be an integer from {-(2**63)} to {2**63 - 1}."),
        ("9" * 5000, "sequence_id must be an integer."),
    ],
)
async def test_a_sequence_that_is_not_named_is_asked_for_by_name(
    api: httpx2.AsyncClient, ann: dict[str, Any], pool: Pool, value: Any, problem: str
) -> None:
    answer = await api.post(f"{ACTIONS}/add-to-campaign", json={"contact_id": ann["id"], "sequence_id": value})

    assert refusal(answer) == (422, "invalid_input", problem)
    assert await SEQUENCE_ENROLLMENTS.count(pool) == 0


@pytest.mark.parametrize("asked", [{"phone": PHONE, "email": ""}, {"phone": "", "email": "ANN@example.com"}])
async def test_a_search_ignores_empty_fields(
    api: httpx2.AsyncClient, ann: dict[str, Any], asked: dict[str, str]
) -> None:
    assert data(await api.get(SEARCH, params=asked)) == [ann]
    assert data(await api.post(SEARCH, json=asked)) == [ann]


async def test_a_search_for_nothing_but_empty_texts_is_refused(api: httpx2.AsyncClient, ann: dict[str, Any]) -> None:
    sentence = "Give a phone or an email to search for."
    for answer in (await api.get(f"{SEARCH}?phone=&email=+"), await api.post(SEARCH, json={"phone": "", "email": " "})):
        assert refusal(answer) == (422, "invalid_input", sentence)


async def test_elsewhere_a_text_is_no_number_and_an_empty_text_empties(api: httpx2.AsyncClient) -> None:
    ann = data(await api.post("/contacts", json=ANN))
    text = {"to": PHONE, "message": "Hello", "consent_attested": True, "from_phone_number_id": "1"}

    assert refusal(await api.post("/sms/send", json=text))[:2] == (422, "invalid_input")
    assert data(await api.put(f"/contacts/{ann['id']}", json={"first_name": ""}))["first_name"] == ""
