"""The specification's chapter on contacts: lists, searches and pages, a test a sentence."""

import httpx2
import pytest

from app.domain.onboarding.service import Opened
from app.services import Services
from tests.rest.answers import data, refusal
from tests.rest.carriers import inbound
from tests.rest.people import PHONE, STAGES, create

pytestmark = pytest.mark.anyio


async def names(api: httpx2.AsyncClient, query: str) -> list[str]:
    return [contact["first_name"] for contact in data(await api.get(f"/contacts?{query}"))]


@pytest.fixture
async def three(api: httpx2.AsyncClient) -> None:
    """Add Ann, then Bob, then Cid, whose names, stages and scores all stand in other orders."""
    await create(api, first_name="Bob", last_name="Young", pipeline_stage="won", email="bob@blue.example")
    await create(api, phone="+14155550101", first_name="Ann", last_name="Lee", pipeline_stage="lost")
    await create(api, phone="+442079460958", first_name="cid", last_name="Lee", pipeline_stage="qualified")


async def test_contacts_are_listed_the_latest_added_first(api: httpx2.AsyncClient, three: None) -> None:
    answer = await api.get("/contacts")

    assert [contact["first_name"] for contact in data(answer)] == ["cid", "Ann", "Bob"]
    assert answer.headers["x-total-count"] == "3"
    assert "link" not in answer.headers


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("name_asc", ["Ann", "Bob", "cid"]),
        ("name_desc", ["cid", "Bob", "Ann"]),
        ("score_high", ["Bob", "cid", "Ann"]),
        ("date_added", ["cid", "Ann", "Bob"]),
    ],
)
async def test_contacts_can_be_sorted(api: httpx2.AsyncClient, three: None, sort: str, order: list[str]) -> None:
    assert await names(api, f"sort={sort}") == order


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("ann", ["Ann"]),
        ("lee", ["cid", "Ann"]),
        ("Ann Lee", ["Ann"]),
        ("415555", ["Ann"]),
        ("%2B4420", ["cid"]),
        ("BLUE.example", ["Bob"]),
        ("%25", []),
        ("_", []),
        ("nobody", []),
        ("", ["cid", "Ann", "Bob"]),
    ],
)
async def test_a_search_finds_part_of_a_name_a_phone_or_an_email(
    api: httpx2.AsyncClient, three: None, search: str, found: list[str]
) -> None:
    assert await names(api, f"search={search}") == found


async def test_contacts_can_be_asked_for_one_stage(api: httpx2.AsyncClient, three: None) -> None:
    found = {stage: await names(api, f"stage={stage}") for stage in STAGES}

    assert {stage: who for stage, who in found.items() if who} == {
        "won": ["Bob"],
        "lost": ["Ann"],
        "qualified": ["cid"],
    }


async def test_contacts_can_be_asked_for_one_status(
    api: httpx2.AsyncClient, three: None, services: Services, account: Opened
) -> None:
    await services.inbox.receive("sandbox", inbound(PHONE, account.phone_number, "STOP"))

    assert await names(api, "status=opted_out") == ["Bob"]
    assert await names(api, "status=active") == ["cid", "Ann"]
    assert await names(api, "status=opted_out&stage=lost") == []


async def test_contacts_come_in_pages(api: httpx2.AsyncClient, three: None) -> None:
    answer = await api.get("/contacts?search=e&limit=1&offset=1")

    assert [contact["first_name"] for contact in data(answer)] == ["Ann"]
    assert answer.headers["x-total-count"] == "3"
    assert answer.headers["link"] == (
        '</contacts?search=e&limit=1&offset=2>; rel="next", </contacts?search=e&limit=1&offset=0>; rel="prev"'
    )


@pytest.mark.parametrize("query", ["sort=oldest", "stage=lead", "status=gone", "limit=0", "limit=201", "offset=-1"])
async def test_a_list_that_cannot_be_given_is_refused_with_422(api: httpx2.AsyncClient, query: str) -> None:
    answer = await api.get(f"/contacts?{query}")

    status, code, text = refusal(answer)
    assert (status, code) == (422, "invalid_input")
    assert query.partition("=")[0] in text
