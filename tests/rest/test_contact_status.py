"""The status of a contact, as integrations that keep contacts in step send it: opt-outs are heeded, none is lifted."""

from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from app.bootstrap import open_dispatcher
from app.db.engine import Pool
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.factories.accounts import API_KEYS
from tests.factories.contacts import CONSENTS, CONTACTS, SUPPRESSIONS
from tests.factories.conversations import CONVERSATIONS
from tests.factories.events import event_names, payloads
from tests.factories.messages import SANDBOX_MESSAGES
from tests.factories.sequences import SEQUENCE_ENROLLMENTS
from tests.rest.answers import data, refusal
from tests.rest.carriers import inbound

pytestmark = pytest.mark.anyio

PHONE = "+12025550143"
UPSERT, UPDATE, ENROLL = (
    f"/automation/actions/{name}" for name in ("create-contact", "update-contact", "add-to-campaign")
)
OPTED_OUT = {"status": "opted_out"}
SEND = {"to": PHONE, "message": "Hello", "consent_attested": True}
LIFTED = (
    "The recipient has opted out and cannot be texted. Only their reply START or a new recorded consent lifts this."
)
FACTS = ("new_contact", "new_opt_out", "contact_dnd_changed", "contact_tag_added", "pipeline_stage_changed")
CREATE_BY_GRAPHQL = """
mutation ($status: ContactStatus) {
  create_contact(contact: {phone: "+12025550143", status: $status}) {
    id status score consents { kind method actor { label } }
  }
}
"""
MAKE_SEQUENCE = """
mutation { create_sequence(name: "Welcome", steps: [{delay_minutes: 30, body: "Hi"}]) { id } }
"""


@pytest.fixture
def pool(services: Services) -> Pool:
    """Give the database."""
    return services.database.pool


@pytest.fixture
async def ann(api: httpx2.AsyncClient) -> dict[str, Any]:
    """Give an active contact."""
    return data(await api.post("/contacts", json={"phone": PHONE, "first_name": "Ann"}))


@pytest.fixture
async def gone(api: httpx2.AsyncClient, ann: dict[str, Any], services: Services, account: Opened) -> dict[str, Any]:
    """Give a contact that has texted STOP."""
    await services.inbox.receive("sandbox", inbound(PHONE, account.phone_number, "STOP"))
    return data(await api.get(f"/contacts/{ann['id']}"))


async def consents(pool: Pool) -> list[tuple[Any, ...]]:
    return await CONSENTS.read(pool, "phone", "kind", "method", "text", "actor")


def ways(contact: dict[str, Any]) -> dict[str, tuple[str, str, dict[str, Any]]]:
    """Return each way of changing a contact that there is: the method, the path, what names the contact."""
    return {
        "put": ("PUT", f"/contacts/{contact['id']}", {}),
        "upsert": ("POST", UPSERT, {"phone": PHONE}),
        "update by id": ("PUT", UPDATE, {"contact_id": contact["id"]}),
        "update by phone": ("PUT", UPDATE, {"phone": PHONE}),
    }


WAYS = ("put", "upsert", "update by id", "update by phone")


async def change(api: httpx2.AsyncClient, contact: dict[str, Any], way: str, **fields: Any) -> httpx2.Response:
    method, path, named = ways(contact)[way]
    return await api.request(method, path, json=named | fields)


@pytest.mark.parametrize("way", WAYS)
async def test_a_reported_opt_out_is_recorded_with_its_evidence_told_and_heeded(
    api: httpx2.AsyncClient, ann: dict[str, Any], pool: Pool, way: str
) -> None:
    after = data(await change(api, ann, way, status="opted_out", first_name="Anna"))

    assert (after["status"], after["score"], after["first_name"]) == ("opted_out", 0, "Anna")
    key = f"key:{min(await API_KEYS.read(pool, 'id'))}"
    assert await consents(pool) == [(PHONE, "revoked_other", "api", "status: opted_out", key)]
    [said] = await payloads(pool, "new_opt_out")
    assert (said["contact_id"], said["phone"], said["keyword"]) == (ann["id"], PHONE, "")
    assert refusal(await api.post("/sms/send", json=SEND)) == (422, "contact_opted_out", LIFTED)
    assert await SUPPRESSIONS.where(phone=PHONE).only(pool, "reason") == "api"


@pytest.mark.parametrize("way", WAYS)
async def test_an_opt_out_that_is_reported_again_is_recorded_and_told_once(
    api: httpx2.AsyncClient, ann: dict[str, Any], pool: Pool, way: str
) -> None:
    for _ in range(3):
        assert data(await change(api, ann, way, status="opted_out"))["status"] == "opted_out"

    assert len(await consents(pool)) == 1
    assert await event_names(pool, "new_opt_out") == ["new_opt_out"]


@pytest.mark.parametrize("way", WAYS)
async def test_active_changes_nothing_on_an_active_contact(
    api: httpx2.AsyncClient, ann: dict[str, Any], pool: Pool, way: str
) -> None:
    after = data(await change(api, ann, way, status="active"))

    assert after == ann | {"updated_at": after["updated_at"]}
    assert (await consents(pool), await event_names(pool, *FACTS)) == ([], ["new_contact"])
    assert (await api.post("/sms/send", json=SEND)).status_code == 200


@pytest.mark.parametrize("way", WAYS)
async def test_active_is_refused_for_an_opted_out_contact_and_the_request_has_no_effect(
    api: httpx2.AsyncClient, gone: dict[str, Any], pool: Pool, way: str
) -> None:
    facts = await event_names(pool, *FACTS)

    answer = await change(
        api, gone, way, status="active", first_name="X", tags=["new"], dnd_sms=True, pipeline_stage="won"
    )

    assert refusal(answer) == (422, "contact_opted_out", LIFTED)
    assert data(await api.get(f"/contacts/{gone['id']}")) == gone
    assert await event_names(pool, *FACTS) == facts
    assert len(await consents(pool)) == 1


@pytest.mark.parametrize("status", ["OPTED_OUT", "unsubscribed", True, 0, ["opted_out"]])
@pytest.mark.parametrize("way", WAYS)
async def test_any_other_status_is_refused_and_the_rest_of_the_request_has_no_effect(
    api: httpx2.AsyncClient, ann: dict[str, Any], way: str, status: Any
) -> None:
    answer = await change(api, ann, way, status=status, first_name="X")

    assert refusal(answer) == (422, "invalid_input", "status must be one of active, opted_out.")
    assert data(await api.get(f"/contacts/{ann['id']}")) == ann


async def test_a_status_of_null_is_refused_where_null_empties_and_says_nothing_elsewhere(
    api: httpx2.AsyncClient, ann: dict[str, Any]
) -> None:
    sentence = "status must not be null. Leave it out to keep the present value."
    for way in ("put", "update by id"):
        assert refusal(await change(api, ann, way, status=None)) == (422, "invalid_input", sentence)

    assert data(await change(api, ann, "upsert", status=None))["status"] == "active"
    assert data(await api.post("/contacts", json={"phone": "+12025550144", "status": None}))["status"] == "active"


@pytest.mark.parametrize("path", ["/contacts", UPSERT])
async def test_a_contact_may_be_added_opted_out(api: httpx2.AsyncClient, pool: Pool, path: str) -> None:
    added = data(await api.post(path, json={"phone": PHONE} | OPTED_OUT))

    assert added["status"] == "opted_out"
    assert await event_names(pool, *FACTS) == ["new_contact", "new_opt_out"]
    assert [said["status"] for said in await payloads(pool, "new_contact")] == ["opted_out"]
    assert [row[:3] for row in await consents(pool)] == [(PHONE, "revoked_other", "api")]
    assert refusal(await api.post("/sms/send", json=SEND))[1] == "contact_opted_out"


@pytest.mark.parametrize("path", ["/contacts", UPSERT])
async def test_a_deleted_opted_out_contact_cannot_be_added_as_active(
    api: httpx2.AsyncClient, gone: dict[str, Any], pool: Pool, path: str
) -> None:
    data(await api.delete(f"/contacts/{gone['id']}"))

    answer = await api.post(path, json={"phone": PHONE, "status": "active"})

    assert refusal(answer) == (422, "contact_opted_out", LIFTED)
    assert await CONTACTS.count(pool) == 0
    assert data(await api.post(path, json={"phone": PHONE} | OPTED_OUT))["status"] == "opted_out"
    assert len(await consents(pool)) == 1


async def test_over_graphql_the_status_counts_alike(api: httpx2.AsyncClient, ann: dict[str, Any]) -> None:
    data(await api.delete(f"/contacts/{ann['id']}"))
    asked = {"query": CREATE_BY_GRAPHQL, "variables": OPTED_OUT}

    made = (await api.post("/graphql", json=asked)).json()["data"]["create_contact"]

    assert (made["status"], made["score"]) == ("opted_out", 0)
    assert [(each["kind"], each["method"]) for each in made["consents"]] == [("revoked_other", "api")]


async def test_a_reported_opt_out_ends_the_drips_of_the_contact(
    api: httpx2.AsyncClient, ann: dict[str, Any], services: Services, pool: Pool
) -> None:
    made = (await api.post("/graphql", json={"query": MAKE_SEQUENCE})).json()["data"]["create_sequence"]
    data(await api.post(ENROLL, json={"sequence_id": made["id"], "contact_id": ann["id"]}))

    data(await change(api, ann, "put", status="opted_out"))
    await open_dispatcher(services).run()

    row = await SEQUENCE_ENROLLMENTS.only(pool, "status", "exit_reason")
    assert row is not None
    assert tuple(row) == ("exited", "contact_opted_out")


async def test_a_queued_message_is_not_sent_after_a_reported_opt_out(
    api: httpx2.AsyncClient, ann: dict[str, Any], work: Callable[[], Any], pool: Pool
) -> None:
    data(await api.post("/sms/send", json=SEND))

    data(await change(api, ann, "put", status="opted_out"))
    await work()

    [message] = data(await api.get("/sms/logs"))
    assert (message["status"], message["error_code"], message["cost"]) == ("failed", "contact_opted_out", 0)
    assert await SANDBOX_MESSAGES.count(pool) == 0


@pytest.mark.parametrize("way", WAYS)
async def test_a_reported_opt_out_decides_on_an_unclear_reply(
    api: httpx2.AsyncClient, ann: dict[str, Any], services: Services, account: Opened, pool: Pool, way: str
) -> None:
    await services.inbox.receive("sandbox", inbound(PHONE, account.phone_number, "STOP what time is the showing"))
    assert await CONVERSATIONS.only(pool, "possible_opt_out") is True

    data(await change(api, ann, way, status="opted_out"))

    assert await CONVERSATIONS.only(pool, "possible_opt_out") is False
    assert await CONTACTS.only(pool, "held_until") is None


async def test_with_another_phone_the_status_is_that_of_the_new_phone(
    api: httpx2.AsyncClient, gone: dict[str, Any], pool: Pool
) -> None:
    moved = data(await change(api, gone, "put", phone="+12025550199", status="active"))
    assert moved["status"] == "active"

    back = await change(api, gone, "put", phone=PHONE, status="active")
    assert refusal(back)[:2] == (422, "contact_opted_out")

    data(await change(api, gone, "put", phone="+12025550188", status="opted_out"))
    assert await SUPPRESSIONS.read(pool, "phone") == [PHONE, "+12025550188"]


async def test_a_whole_contact_can_be_sent_back_as_it_was_answered(
    api: httpx2.AsyncClient, ann: dict[str, Any]
) -> None:
    mine = {"id": 7, "score": 99, "created_at": "2020-01-01T00:00:00Z", "updated_at": "2020-01-01T00:00:00Z"}

    after = data(await change(api, ann, "put", **{**ann, **mine}))

    assert after == ann | {"updated_at": after["updated_at"]}


@pytest.mark.parametrize("way", WAYS)
async def test_do_not_disturb_and_source_are_kept_however_a_contact_is_changed(
    api: httpx2.AsyncClient, ann: dict[str, Any], pool: Pool, way: str
) -> None:
    after = data(await change(api, ann, way, dnd_sms=True, source="crm"))

    assert (after["dnd_sms"], after["source"]) == (True, "crm")
    assert await event_names(pool, "contact_dnd_changed") == ["contact_dnd_changed"]
    assert refusal(await api.post("/sms/send", json=SEND))[1] == "contact_dnd"


async def test_a_reported_opt_out_needs_the_scope_to_write_and_a_contact_of_the_account(
    http: httpx2.AsyncClient, new_account: Callable[..., Any], account: Opened, pool: Pool
) -> None:
    mine = data(await http.post("/contacts", json={"phone": PHONE}, headers={"X-API-Key": account.svc_key}))
    other: Opened = await new_account()

    answer = await http.put(f"/contacts/{mine['id']}", json=OPTED_OUT, headers={"X-API-Key": other.svc_key})

    assert refusal(answer)[:2] == (404, "not_found")
    assert (await consents(pool), await CONTACTS.only(pool, "status")) == ([], "active")
