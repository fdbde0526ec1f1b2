"""The specification's chapters on dropdowns and the connection test: what an automation platform shows its users."""

from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from app.domain.accounts.scopes import AUTOMATION
from app.domain.kernel.unit_of_work import Actor
from app.domain.numbers import service as numbers
from app.domain.onboarding.service import Opened
from app.domain.sequences import service as sequences
from app.domain.sequences.definition import NewStep
from app.domain.sequences.models import SequenceStatus
from app.graphql.schema import contract
from app.main import REST
from app.operations.document import load
from app.services import Services
from tests.conftest import unit_of
from tests.factories.accounts import USERS, add_user, id_of_user
from tests.factories.contacts import add_contacts
from tests.factories.tables import ago
from tests.rest.answers import data, refusal

pytestmark = pytest.mark.anyio

DROPDOWNS = ["/automation/tags", "/automation/contacts", "/automation/phone-numbers", "/automation/drip-sequences"]
TESTS = ["/automation/auth/test", "/automation/oauth/test"]
PEOPLE = [
    {"phone": "+12025550143", "first_name": "Ann", "last_name": "Lee", "tags": ["vip", "new"]},
    {"phone": "+12025550144", "last_name": "Bo", "tags": ["vip", "Älter"]},
    {"phone": "+12025550145", "email": "cy@example.com"},
]


def bare(answer: httpx2.Response) -> Any:
    """Return a bare array; fail unless the answer is one."""
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json"), answer.text
    assert isinstance(answer.json(), list)
    return answer.json()


@pytest.fixture
def act(services: Services, account: Opened) -> Callable[[], Any]:
    """Give a function that opens a unit of the account's."""
    return lambda: unit_of(services, Actor(account.account_id, frozenset()))


@pytest.fixture
async def ids(http: httpx2.AsyncClient, account: Opened) -> list[int]:
    """Give the ids of some contacts."""
    path, key = "/automation/actions/create-contact", {"X-API-Key": account.auto_key}
    return [data(await http.post(path, json=one, headers=key))["id"] for one in PEOPLE]


@pytest.mark.parametrize("path", DROPDOWNS)
async def test_a_dropdown_needs_a_key_and_its_scope(http: httpx2.AsyncClient, path: str) -> None:
    assert refusal(await http.get(path))[:2] == (401, "unauthenticated")


async def test_tags_are_told_once_each_by_their_names(platform: httpx2.AsyncClient, ids: list[int]) -> None:
    tags = bare(await platform.get("/automation/tags"))

    assert tags == [{"id": tag, "label": tag} for tag in ("new", "vip", "Älter")]


async def test_contacts_are_told_by_name_and_phone_the_latest_first(
    platform: httpx2.AsyncClient, ids: list[int]
) -> None:
    contacts = bare(await platform.get("/automation/contacts"))

    assert contacts == [
        {"id": ids[2], "label": "+12025550145", "phone": "+12025550145"},
        {"id": ids[1], "label": "Bo (+12025550144)", "phone": "+12025550144"},
        {"id": ids[0], "label": "Ann Lee (+12025550143)", "phone": "+12025550143"},
    ]


@pytest.mark.parametrize("q", ["ann l", " Ann ", "0143", "202-555-0143", "ANN"])
async def test_contacts_are_searched_by_name_or_phone(api: httpx2.AsyncClient, ids: list[int], q: str) -> None:
    assert [one["id"] for one in bare(await api.get("/automation/contacts", params={"q": q}))] == [ids[0]]


async def test_contacts_are_capped(api: httpx2.AsyncClient, services: Services, account: Opened) -> None:
    await add_contacts(services, account.account_id, [f"+1202556{number}" for number in range(1000, 1301)])

    assert len(bare(await api.get("/automation/contacts"))) == 200


async def test_active_numbers_are_told(platform: httpx2.AsyncClient, act: Callable[..., Any], account: Opened) -> None:
    async with act() as unit:
        gone = await numbers.assign_sandbox_number(unit, "Gone")
        gone.status = "released"
        second = await numbers.assign_sandbox_number(unit, "Second")

    assert bare(await platform.get("/automation/phone-numbers")) == [
        {"id": account.phone_number_id, "label": "Sandbox", "phone_number": account.phone_number},
        {"id": second.id, "label": "Second", "phone_number": second.phone_number},
    ]


async def test_active_sequences_are_told(platform: httpx2.AsyncClient, act: Callable[..., Any]) -> None:
    ids = {}
    async with act() as unit:
        for name in ("Welcome", "Paused", "Archived", "Birthday"):
            ids[name] = (await sequences.create(unit, name, [NewStep(0, "Hi")])).id
        await sequences.update_status(unit, ids["Paused"], SequenceStatus.paused)
        await sequences.update_status(unit, ids["Archived"], SequenceStatus.archived)

    assert bare(await platform.get("/automation/drip-sequences")) == [
        {"id": ids["Birthday"], "label": "Birthday", "name": "Birthday"},
        {"id": ids["Welcome"], "label": "Welcome", "name": "Welcome"},
    ]


@pytest.mark.parametrize("path", DROPDOWNS)
async def test_another_account_is_shown_nothing_of_this_one(
    http: httpx2.AsyncClient, act: Callable[..., Any], account: Opened, new_account: Callable[..., Any], path: str
) -> None:
    stranger = await new_account()
    http.headers["X-API-Key"] = account.auto_key
    for one in PEOPLE:
        data(await http.post("/automation/actions/create-contact", json=one))
    async with act() as unit:
        await sequences.create(unit, "Welcome", [NewStep(0, "Hi")])

    http.headers["X-API-Key"] = stranger.auto_key
    shown = bare(await http.get(path))

    numbers_only = [{"id": stranger.phone_number_id, "label": "Sandbox", "phone_number": stranger.phone_number}]
    assert shown == (numbers_only if path.endswith("phone-numbers") else [])


@pytest.mark.parametrize("path", TESTS)
async def test_the_connection_test_names_the_owner_of_the_key(
    platform: httpx2.AsyncClient, services: Services, account: Opened, path: str
) -> None:
    pool = services.database.pool
    await USERS.change(pool, first_name="Ann", last_name="Lee")
    id = await id_of_user(pool)

    answer = await platform.get(path)

    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert answer.json() == {
        "success": True,
        "user": {
            "id": id,
            "email": account.email,
            "first_name": "Ann",
            "last_name": "Lee",
            "company_name": "Blue Door",
        },
    }


@pytest.mark.parametrize("path", TESTS)
async def test_the_connection_test_names_the_earliest_owner(
    api: httpx2.AsyncClient, services: Services, account: Opened, path: str
) -> None:
    await USERS.change(services, removed_at=ago())
    await add_user(services, account.account_id, "member@example.com")
    await add_user(services, account.account_id, "second@example.com", "owner")
    await add_user(services, account.account_id, "third@example.com", "owner")

    assert (await api.get(path)).json()["user"]["email"] == "second@example.com"


@pytest.mark.parametrize("path", TESTS)
async def test_the_connection_test_refuses_an_unknown_or_missing_key(http: httpx2.AsyncClient, path: str) -> None:
    answer = await http.get(path, headers={"Authorization": "Bearer auto_wrong"})

    assert refusal(answer)[:2] == (401, "unauthenticated")
    assert refusal(await http.get(path))[:2] == (401, "unauthenticated")


def test_an_automation_key_can_do_all_that_the_platform_does() -> None:
    own = {"/automation/api-keys"}
    needed = {
        rest.path: operation.scopes
        for operation in load(REST, contract())
        for rest in operation.rest
        if rest.path.startswith("/automation/") and rest.path not in own
    }

    assert len(needed) == 17
    assert {path: scopes - AUTOMATION for path, scopes in needed.items() if scopes - AUTOMATION} == {}
