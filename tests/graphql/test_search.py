"""The search of the records of an account by a part of a name or of a phone."""

from typing import Any

import httpx2
import pytest

from app.domain.contacts import queries as contacts
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.factories.accounts import API_KEYS
from tests.factories.campaigns import CAMPAIGNS
from tests.factories.contacts import CONTACTS
from tests.factories.jobs import ACCOUNT_JOBS
from tests.factories.planting import plant
from tests.graphql.calls import codes, post

pytestmark = pytest.mark.anyio

SEARCH = "query ($text: String!) { search(text: $text) { kind id name detail } }"
KINDS = ["contact", "conversation", "campaign", "sequence", "segment", "template", "automation", "agent", "number"]


async def search(api: httpx2.AsyncClient, text: str) -> list[dict[str, Any]]:
    """Return what a search finds."""
    return (await post(api, {"query": SEARCH, "variables": {"text": text}})).json()["data"]["search"]


@pytest.fixture
async def ids(services: Services, account: Opened) -> dict[str, int]:
    """Add a record of each kind whose name is Springtime."""
    ids = await plant(services.database.pool, account.account_id, "Springtime")
    await CONTACTS.where(id=ids["contacts"]).change(
        services, phone="+12025550143", first_name="Springtime", last_name=""
    )
    return ids


async def test_a_search_finds_each_kind_of_record_by_a_part_of_its_name(api: httpx2.AsyncClient, ids: dict[str, int]):
    found = await search(api, "  prinGTI ")

    assert [each["kind"] for each in found] == KINDS
    assert [each["id"] for each in found][:4] == [
        ids["contacts"],
        ids["conversations"],
        ids["campaigns"],
        ids["sequences"],
    ]
    assert found[0] == {"kind": "contact", "id": ids["contacts"], "name": "Springtime", "detail": "+12025550143"}
    assert found[-1]["id"] == ids["phone_numbers"]


async def test_a_contact_is_found_by_its_phone_and_a_number_by_its_digits(
    api: httpx2.AsyncClient, account: Opened, ids: dict[str, int]
):
    assert [each["id"] for each in await search(api, "(202) 555-0143")] == [ids["contacts"], ids["conversations"]]
    assert [each["kind"] for each in await search(api, account.phone_number[-7:])] == ["number"]


async def test_a_search_finds_only_records_within_the_scopes_of_the_caller(
    api: httpx2.AsyncClient, services: Services, ids: dict[str, int]
):
    await API_KEYS.change(services, scopes=["account:read", "contacts:read"])
    assert [each["kind"] for each in await search(api, "Springtime")] == ["contact", "automation"]

    await API_KEYS.change(services, scopes=["contacts:read"])
    assert codes(await post(api, {"query": SEARCH, "variables": {"text": "Springtime"}})) == ["insufficient_scope"]


async def test_contacts_are_searched_from_three_letters_in_a_row_and_an_empty_text_is_refused(
    api: httpx2.AsyncClient, ids: dict[str, int]
):
    assert "contact" not in {each["kind"] for each in await search(api, "Sp")}
    assert "contact" not in {each["kind"] for each in await search(api, "Sp ri")}
    assert "contact" in {each["kind"] for each in await search(api, "Spr")}
    assert codes(await post(api, {"query": SEARCH, "variables": {"text": "  "}})) == ["invalid_input"]


async def test_of_many_the_first_of_each_kind_are_found(api: httpx2.AsyncClient, services: Services, account: Opened):
    for number in range(8):
        await CONTACTS.insert(
            services, account_id=account.account_id, phone=f"+1202555000{number}", first_name=f"Same {number}"
        )

    assert [each["name"] for each in await search(api, "same")] == ["Same 7", "Same 6", "Same 5", "Same 4", "Same 3"]


async def test_a_search_that_takes_long_finds_those_among_the_newest_contacts(
    api: httpx2.AsyncClient, services: Services, account: Opened, monkeypatch: pytest.MonkeyPatch
):
    for number in range(4):
        await CONTACTS.insert(
            services, account_id=account.account_id, phone=f"+1202555000{number}", first_name=f"Sam{number % 2}"
        )

    async def takes_long(self: UnitOfWork, seconds: float, *_: Any) -> None:
        assert seconds <= 1

    monkeypatch.setattr(UnitOfWork, "try_within", takes_long)
    monkeypatch.setattr(contacts, "NEWEST", 3)

    assert [each["detail"] for each in await search(api, "sam1")] == ["+12025550003", "+12025550001"]
    assert [each["detail"] for each in await search(api, "sam0")] == ["+12025550002"]


LONG = "example.com " * 20


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("query ($text: String!) { contacts(search: $text) { total_count } }", "search"),
        ("query ($text: String!) { contacts(tag: $text) { total_count } }", "tag"),
        ("query ($text: String!) { conversations(search: $text) { total_count } }", "search"),
        ("mutation ($text: String!) { bulk_stage(contacts: {filter: {search: $text}}, stage: won) { id } }", "search"),
        ("mutation ($text: String!) { export_contacts(filter: {tag: $text}) { id } }", "tag"),
    ],
)
async def test_a_long_text_is_searched_nowhere(api: httpx2.AsyncClient, services: Services, text: str, field: str):
    [error] = (await post(api, {"query": text, "variables": {"text": LONG}})).json()["errors"]

    assert error["message"] == f"{field} must have at most 200 characters."
    assert await ACCOUNT_JOBS.count(services) == 0


async def test_an_audience_has_no_tag_that_no_contact_can_have(api: httpx2.AsyncClient, services: Services):
    create = (
        "mutation ($tags: [String!]) { create_campaign"
        '(campaign: {name: "A", body: "Hi", audience: {excluded_tags: $tags}}) { id } }'
    )
    [error] = (await post(api, {"query": create, "variables": {"tags": ["vip", "x" * 65]}})).json()["errors"]

    assert error["message"] == "A tag has at most 64 characters."
    assert await CAMPAIGNS.count(services) == 0
