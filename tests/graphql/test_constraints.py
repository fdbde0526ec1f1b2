"""The limits that the contract states are the ones that are enforced."""

from typing import Any

import httpx2
import pytest

from app.main import rest_operations
from app.services import Services
from tests.factories.contacts import CONTACTS

pytestmark = pytest.mark.anyio

OPERATIONS = {operation.name: operation for operation in rest_operations()}
PHONE = "+12025550143"


def limit(operation: str, variable: str, keyword: str) -> int:
    single = OPERATIONS[operation].variables[variable].single
    return single[keyword]


@pytest.mark.parametrize("name", ["first_name", "last_name", "source", "tags"])
async def test_a_text_of_a_contact_is_taken_up_to_its_stated_length(
    api: httpx2.AsyncClient, services: Services, name: str
) -> None:
    longest = "x" * limit("create_contact", name, "maxLength")

    refused = await api.post("/contacts", json={"phone": PHONE, name: f"{longest}x"})
    assert (refused.status_code, refused.json()["error_code"]) == (422, "invalid_input")
    assert await CONTACTS.count(services) == 0

    assert (await api.post("/contacts", json={"phone": PHONE, name: longest})).status_code == 200


@pytest.mark.parametrize(("variable", "keyword", "step"), [("limit", "maximum", 1), ("limit", "minimum", -1)])
async def test_a_page_is_as_large_as_stated(api: httpx2.AsyncClient, variable: str, keyword: str, step: int) -> None:
    bound = limit("list_contacts", variable, keyword)

    assert (await api.get(f"/contacts?{variable}={bound}")).status_code == 200
    assert (await api.get(f"/contacts?{variable}={bound + step}")).status_code == 422


@pytest.mark.parametrize(
    ("operation", "path", "variable", "code", "sent"),
    [
        ("generate_sms", "/sms/generate", "description", "invalid_input", {}),
        ("send_sms", "/sms/send", "message", "message_too_long", {"to": PHONE, "consent_attested": True}),
    ],
)
async def test_a_text_beyond_its_stated_length_is_refused(
    api: httpx2.AsyncClient, operation: str, path: str, variable: str, code: str, sent: dict[str, Any]
) -> None:
    longest = "x" * limit(operation, variable, "maxLength")

    refused = await api.post(path, json={**sent, variable: f"{longest}x"})
    empty = await api.post(path, json={**sent, variable: ""})

    assert (refused.status_code, refused.json()["error_code"]) == (422, code)
    assert (empty.status_code, empty.json()["error_code"]) == (422, "invalid_input")
    assert limit(operation, variable, "minLength") == 1
