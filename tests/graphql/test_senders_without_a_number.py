"""Contacts of senders that have no phone number: a short code, a name, and an unfinished number."""

from typing import Any

import httpx2
import pytest

from app.cli.documents import operations
from app.domain.bulk import exports
from app.domain.bulk.exports import ExportFormat
from app.domain.bulk.selection import Selection
from app.domain.carriers.carrier import InboundMessage
from app.domain.contacts.queries import ContactFilter
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.bulk.test_exported_files import import_file
from tests.domain.conftest import UnitFor
from tests.domain.conftest import unit_for as unit_for
from tests.factories.contacts import CONTACTS, id_of_contact
from tests.factories.jobs import advance, read_file
from tests.graphql.calls import post
from tests.mcp.assistants import Assistant
from tests.rest.answers import data

pytestmark = pytest.mark.anyio

PAGE = "phone label validation line_type region state can_send blocked_by { reason } score custom_fields { key }"
LIST = f"{{ contacts {{ nodes {{ {PAGE} }} }} conversations {{ nodes {{ contact {{ {PAGE} }} }} }} }}"
ONE = f"query ($id: BigInt!) {{ contact(id: $id) {{ {PAGE} conversation {{ id }} }} }}"
CHECK = "query ($ids: [BigInt!]!) { validate_contacts(contact_ids: $ids) { phone validation line_type carrier } }"


@pytest.fixture(params=["72345", "ACME", "+1"])
async def sender(request: pytest.FixtureRequest, services: Services, account: Opened) -> str:
    """Receive a text from a sender without a number; return the sender."""
    inbound = InboundMessage("in-1", request.param, account.phone_number, "Your code is 12")
    await services.inbox.receive("sandbox", inbound)
    return request.param


async def ask(api: httpx2.AsyncClient, query: str, **variables: Any) -> Any:
    answer = (await post(api, {"query": query, "variables": variables})).json()
    assert "errors" not in answer, answer
    return answer["data"]


async def test_a_contact_without_a_number_is_shown_and_listed(
    api: httpx2.AsyncClient, services: Services, sender: str
) -> None:
    shown = await ask(api, LIST)
    [listed], [thread] = shown["contacts"]["nodes"], shown["conversations"]["nodes"]

    facts = [listed[name] for name in ("phone", "label", "validation", "line_type", "region", "state")]
    assert facts == [sender, sender, "invalid", "unknown", None, None]
    assert thread["contact"] == listed
    assert (await ask(api, ONE, id=await id_of_contact(services)))["contact"]["line_type"] == "unknown"


@pytest.mark.parametrize("command", ["contact list", "contact show"])
async def test_the_command_line_shows_a_contact_without_a_number(
    api: httpx2.AsyncClient, services: Services, sender: str, command: str
) -> None:
    [operation] = [each for each in operations() if each.command == command]
    variables = {"contact": await id_of_contact(services)} if command == "contact show" else {}

    assert sender in str(await ask(api, operation.text, **variables))


async def test_the_check_of_a_contact_without_a_number_says_that_it_is_invalid(
    api: httpx2.AsyncClient, services: Services, sender: str
) -> None:
    [checked] = (await ask(api, CHECK, ids=[await id_of_contact(services)]))["validate_contacts"]

    assert checked == {"phone": sender, "validation": "invalid", "line_type": "unknown", "carrier": None}


async def test_a_contact_without_a_number_is_listed_over_rest_and_found_by_assistants(
    api: httpx2.AsyncClient, account: Opened, sender: str
) -> None:
    [listed] = data(await api.get("/contacts"))
    assert listed["phone"] == sender

    assistant = Assistant(api, account.svc_key)
    [found] = (await assistant.call("search_contacts", search=sender))["contacts"]
    assert found["phone"] == sender
    assert (await assistant.call("get_contact", contact_id=found["id"]))["phone"] == sender


@pytest.mark.parametrize("format", ExportFormat)
async def test_a_contact_without_a_number_is_exported(
    services: Services, unit_for: UnitFor, account: Opened, sender: str, format: ExportFormat
) -> None:
    async with unit_for(account) as unit:
        job = await exports.begin(unit, Selection(filter=ContactFilter()), format)
    await advance(services)

    assert sender in (await read_file(services, job.id)).decode()


@pytest.mark.parametrize("format", [ExportFormat.csv, ExportFormat.vcard])
async def test_an_import_of_a_contact_without_a_number_says_why_its_row_is_invalid(
    services: Services, unit_for: UnitFor, account: Opened, sender: str, format: ExportFormat
) -> None:
    async with unit_for(account) as unit:
        job = await exports.begin(unit, Selection(filter=ContactFilter()), format)
    await advance(services)

    report = await import_file(services, unit_for, account, await read_file(services, job.id))

    assert ",invalid," in report.splitlines()[1]
    assert "is not a phone number we can text" in report
    assert await CONTACTS.count(services) == 1


async def test_a_contact_without_a_number_is_changed_and_deleted(
    api: httpx2.AsyncClient, services: Services, sender: str
) -> None:
    id = await id_of_contact(services)

    changed = data(await api.put(f"/contacts/{id}", json={"first_name": "Alerts", "tags": ["codes"]}))
    assert (changed["phone"], changed["first_name"], changed["tags"]) == (sender, "Alerts", ["codes"])

    data(await api.delete(f"/contacts/{id}"))
    assert await CONTACTS.count(services) == 0
