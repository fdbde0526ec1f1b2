"""The specification's chapter on actions and searches: contacts made, changed, tagged and found."""

from typing import Any

import httpx2
import pytest

from app.db.engine import Pool
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.factories.contacts import CONTACTS
from tests.factories.events import event_names, payloads
from tests.rest.answers import data, refusal

pytestmark = pytest.mark.anyio

CREATE, UPDATE = "/automation/actions/create-contact", "/automation/actions/update-contact"
ADD, REMOVE, SEARCH = "/automation/actions/add-tag", "/automation/actions/remove-tag", "/automation/search/contact"
PHONE = "+12025550143"
ANN = {"phone": PHONE, "first_name": "Ann", "last_name": "Lee", "email": "ann@example.com", "tags": ["vip", "new"]}
WHO = ({}, {"contact_id": 1, "phone": PHONE}, {"contact_id": None, "phone": None}, {"phone": ""})
WHICH = "Give either the id or the phone of the contact."
CHANGES = (
    "new_contact",
    "pipeline_stage_changed",
    "contact_tag_added",
    "contact_tag_removed",
    "contact_dnd_changed",
)


@pytest.fixture
def pool(services: Services) -> Pool:
    """Give the database."""
    return services.database.pool


@pytest.fixture
async def ann(http: httpx2.AsyncClient, account: Opened) -> dict[str, Any]:
    """Give a contact as it was answered."""
    return data(await http.post(CREATE, json=ANN, headers={"X-API-Key": account.auto_key}))


def named(ann: dict[str, Any], by: str) -> dict[str, Any]:
    """Name a contact by its id or by its phone."""
    return {"contact_id": ann["id"]} if by == "contact_id" else {"phone": "(202) 555-0143"}


async def test_a_contact_is_created_with_the_stage_and_the_source_of_the_specification(
    platform: httpx2.AsyncClient, pool: Pool
) -> None:
    ann = data(await platform.post(CREATE, json=ANN))

    times = {name: ann[name] for name in ("created_at", "updated_at")}
    assert ann == ANN | times | {
        "id": ann["id"],
        "pipeline_stage": "new_lead",
        "source": "automation",
        "status": "active",
        "dnd_sms": False,
        "score": 20,
    }
    [created] = await payloads(pool, "new_contact")
    assert (created["id"], created["source"], created["tags"]) == (ann["id"], "automation", ["vip", "new"])


async def test_a_stage_and_a_source_that_are_given_are_kept(api: httpx2.AsyncClient) -> None:
    made = data(await api.post(CREATE, json=ANN | {"pipeline_stage": "won", "source": "fair"}))

    assert (made["pipeline_stage"], made["source"]) == ("won", "fair")


async def test_tags_may_be_a_single_string(api: httpx2.AsyncClient) -> None:
    made = data(await api.post(CREATE, json={"phone": PHONE, "tags": "vip"}))
    changed = data(await api.put(UPDATE, json={"phone": PHONE, "tags": "gold"}))

    assert (made["tags"], changed["tags"]) == (["vip"], ["gold"])


async def test_creating_is_deduplicated_by_phone_and_changes_the_given_fields_alone(
    api: httpx2.AsyncClient, ann: dict[str, Any], pool: Pool
) -> None:
    data(await api.put(UPDATE, json={"phone": PHONE, "pipeline_stage": "qualified"}))

    again = data(
        await api.post(CREATE, json={"phone": "202-555-0143", "first_name": "Anna", "last_name": None, "tags": ["vip"]})
    )

    kept = {name: ann[name] for name in ("id", "phone", "last_name", "email", "source", "created_at")}
    assert again == ann | kept | {
        "first_name": "Anna",
        "tags": ["vip"],
        "pipeline_stage": "qualified",
        "score": 50,
        "updated_at": again["updated_at"],
    }
    assert await CONTACTS.count(pool) == 1
    assert await event_names(pool, *CHANGES) == ["new_contact", "pipeline_stage_changed", "contact_tag_removed"]


async def test_creating_again_changes_and_tells_nothing(
    api: httpx2.AsyncClient, ann: dict[str, Any], pool: Pool
) -> None:
    again = data(await api.post(CREATE, json=ANN))

    assert again == ann | {"updated_at": again["updated_at"]}
    assert await event_names(pool, *CHANGES) == ["new_contact"]


@pytest.mark.parametrize("by", ["contact_id", "phone"])
async def test_a_contact_is_changed_by_its_id_or_its_phone(
    platform: httpx2.AsyncClient, ann: dict[str, Any], pool: Pool, by: str
) -> None:
    changes = {"first_name": "Anna", "email": "anna@example.com", "pipeline_stage": "proposal", "tags": ["gold"]}

    changed = data(await platform.put(UPDATE, json=named(ann, by) | changes))

    assert changed == ann | changes | {"score": 70, "updated_at": changed["updated_at"]}
    [stage] = await payloads(pool, "pipeline_stage_changed")
    assert (stage["contact_id"], stage["old_stage"], stage["new_stage"]) == (ann["id"], "new_lead", "proposal")
    assert [each["tag"] for each in await payloads(pool, "contact_tag_removed")] == ["vip", "new"]
    assert [each["all_tags"] for each in await payloads(pool, "contact_tag_added")] == [["gold"]]


async def test_a_change_keeps_omitted_fields(api: httpx2.AsyncClient, ann: dict[str, Any]) -> None:
    changed = data(await api.put(UPDATE, json={"contact_id": ann["id"], "last_name": "Smith"}))

    assert changed == ann | {"last_name": "Smith", "updated_at": changed["updated_at"]}


@pytest.mark.parametrize("by", ["contact_id", "phone"])
async def test_a_tag_is_added_and_removed_and_told(
    platform: httpx2.AsyncClient, ann: dict[str, Any], pool: Pool, by: str
) -> None:
    whom = named(ann, by)

    more = data(await platform.post(ADD, json=whom | {"tag": "gold"}))
    less = data(await platform.post(REMOVE, json=whom | {"tag": "vip"}))

    assert more == ann | {"tags": ["vip", "new", "gold"], "updated_at": more["updated_at"]}
    assert less == ann | {"tags": ["new", "gold"], "updated_at": less["updated_at"]}
    [added], [removed] = await payloads(pool, "contact_tag_added"), await payloads(pool, "contact_tag_removed")
    assert (added["contact_id"], added["tag"], added["all_tags"]) == (ann["id"], "gold", ["vip", "new", "gold"])
    assert (removed["contact_id"], removed["tag"], removed["all_tags"]) == (ann["id"], "vip", ["new", "gold"])


async def test_a_tag_there_is_and_a_tag_there_is_not_change_nothing(
    api: httpx2.AsyncClient, ann: dict[str, Any], pool: Pool
) -> None:
    added = data(await api.post(ADD, json={"phone": PHONE, "tag": "vip"}))
    removed = data(await api.post(REMOVE, json={"phone": PHONE, "tag": "unknown"}))

    assert added["tags"] == removed["tags"] == ["vip", "new"]
    assert await event_names(pool, *CHANGES) == ["new_contact"]


@pytest.mark.parametrize(("method", "path"), [("PUT", UPDATE), ("POST", ADD), ("POST", REMOVE)])
async def test_neither_or_both_of_id_and_phone_are_refused(api: httpx2.AsyncClient, method: str, path: str) -> None:
    for whom in WHO:
        answer = await api.request(method, path, json={**whom, "tag": "gold"})

        assert refusal(answer) == (422, "invalid_input", WHICH)
        assert answer.json()["field"] == "contact_id"


@pytest.mark.parametrize(("method", "path"), [("PUT", UPDATE), ("POST", ADD), ("POST", REMOVE)])
async def test_a_contact_that_is_not_there_is_not_found(api: httpx2.AsyncClient, method: str, path: str) -> None:
    by_phone = await api.request(method, path, json={"phone": PHONE, "tag": "gold"})
    by_id = await api.request(method, path, json={"contact_id": 10**12, "tag": "gold"})

    assert refusal(by_phone) == (404, "not_found", f"No contact with phone {PHONE}.")
    assert refusal(by_id) == (404, "not_found", f"No contact with id {10**12}.")


@pytest.mark.parametrize("path", [ADD, REMOVE])
async def test_a_tag_is_required(api: httpx2.AsyncClient, path: str) -> None:
    assert refusal(await api.post(path, json={"phone": PHONE})) == (422, "invalid_input", "tag is required.")


async def test_a_contact_that_cannot_be_kept_is_refused(api: httpx2.AsyncClient, pool: Pool) -> None:
    bodies = ({}, {"phone": ""}, {"phone": "12"}, ANN | {"pipeline_stage": "elsewhere"}, ANN | {"email": "ann"})

    codes = [refusal(await api.post(CREATE, json=body))[:2] for body in bodies]

    assert codes == [
        (422, "invalid_input"),
        (422, "invalid_phone"),
        (422, "invalid_phone"),
        (422, "invalid_input"),
        (422, "invalid_input"),
    ]
    assert await CONTACTS.count(pool) == 0


async def test_creating_under_a_key_is_done_once(api: httpx2.AsyncClient, pool: Pool) -> None:
    keyed = {"Idempotency-Key": "one"}

    first = await api.post(CREATE, json=ANN, headers=keyed)
    again = await api.post(CREATE, json=ANN, headers=keyed)
    other = await api.post(CREATE, json=ANN | {"first_name": "Eve"}, headers=keyed)

    assert data(first) == data(again)
    assert again.headers["idempotent-replayed"] == "true"
    assert refusal(other)[:2] == (422, "idempotency_key_reused")


@pytest.mark.parametrize("path", [ADD, REMOVE])
async def test_tagging_under_a_key_is_done_once(
    api: httpx2.AsyncClient, ann: dict[str, Any], path: str, pool: Pool
) -> None:
    keyed = {"Idempotency-Key": "one"}
    body = {"phone": PHONE, "tag": "vip" if path == REMOVE else "gold"}

    first = await api.post(path, json=body, headers=keyed)
    undo = await api.put(UPDATE, json={"phone": PHONE, "tags": ["vip", "new"]})
    again = await api.post(path, json=body, headers=keyed)
    other = await api.post(path, json=body | {"tag": "new"}, headers=keyed)

    assert (data(first)["tags"], data(undo)["tags"]) == (
        ["new"] if path == REMOVE else ["vip", "new", "gold"],
        ["vip", "new"],
    )
    assert data(again)["tags"] == ["vip", "new"]
    assert again.headers["idempotent-replayed"] == "true"
    assert refusal(other)[:2] == (422, "idempotency_key_reused")


@pytest.mark.parametrize("wanted", [{"phone": PHONE}, {"phone": "(202) 555-0143"}, {"email": "ANN@example.com"}])
async def test_a_contact_is_found_by_its_phone_or_its_address_in_both_ways_of_asking(
    platform: httpx2.AsyncClient, ann: dict[str, Any], wanted: dict[str, str]
) -> None:
    data(await platform.post(CREATE, json={"phone": "+12025550144", "email": "joann@example.com"}))

    got = data(await platform.get(SEARCH, params=wanted))
    posted = data(await platform.post(SEARCH, json=wanted))

    assert got == posted == [ann]


async def test_a_plus_that_a_query_string_made_a_space_is_understood(
    api: httpx2.AsyncClient, ann: dict[str, Any]
) -> None:
    british = data(await api.post(CREATE, json={"phone": "+447911123456"}))

    assert data(await api.get(f"{SEARCH}?phone=+12025550143")) == [ann]
    assert data(await api.get(f"{SEARCH}?phone=+447911123456")) == [british]


async def test_a_search_without_a_match_finds_no_contact(api: httpx2.AsyncClient, ann: dict[str, Any]) -> None:
    for wanted in ({"phone": "+12025550144"}, {"email": "nn@example.com"}, {"email": "%"}):
        assert data(await api.get(SEARCH, params=wanted)) == []


async def test_both_find_the_contacts_of_both(api: httpx2.AsyncClient, ann: dict[str, Any]) -> None:
    other = data(await api.post(CREATE, json={"phone": "+12025550144", "email": "bob@example.com"}))

    found = data(await api.post(SEARCH, json={"phone": PHONE, "email": "bob@example.com"}))

    assert found == [ann, other]


async def test_a_search_for_nothing_is_refused(api: httpx2.AsyncClient) -> None:
    sentence = "Give a phone or an email to search for."

    for wanted in ({}, {"phone": ""}, {"phone": "", "email": ""}):
        assert refusal(await api.get(SEARCH, params=wanted)) == (422, "invalid_input", sentence)
        assert refusal(await api.post(SEARCH, json=wanted)) == (422, "invalid_input", sentence)


async def test_another_account_neither_finds_nor_changes_a_contact(
    api: httpx2.AsyncClient, ann: dict[str, Any], new_account: Any, pool: Pool
) -> None:
    stranger: Opened = await new_account()
    api.headers["Authorization"] = f"Bearer {stranger.auto_key}"

    assert data(await api.get(SEARCH, params={"phone": PHONE})) == []
    changed = await api.put(UPDATE, json={"contact_id": ann["id"], "first_name": "Eve"})
    assert refusal(changed)[:2] == (404, "not_found")
    assert await CONTACTS.only(pool, "first_name") == "Ann"
