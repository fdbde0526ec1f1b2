"""The specification's chapter on contacts, a test a sentence."""

from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from app.db.engine import Pool
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.factories.billing import audit, balance_of
from tests.factories.contacts import CONTACTS, id_of_contact
from tests.factories.conversations import CONVERSATIONS
from tests.factories.events import event_names
from tests.rest.answers import data, refusal
from tests.rest.carriers import inbound
from tests.rest.people import PHONE, STAGES, create

pytestmark = pytest.mark.anyio


ANN = {"phone": PHONE, "first_name": "Ann", "last_name": "Lee", "email": "ann@example.com"}


NEW = {
    "phone": PHONE,
    "first_name": "",
    "last_name": "",
    "email": "",
    "tags": [],
    "pipeline_stage": "new_lead",
    "source": "",
    "status": "active",
    "dnd_sms": False,
    "score": 10,
}


@pytest.fixture
def pool(services: Services) -> Pool:
    return services.database.pool


async def test_a_new_contact_needs_a_phone_and_nothing_else(api: httpx2.AsyncClient, pool: Pool) -> None:
    contact = await create(api)

    id = await id_of_contact(pool)
    times = {"created_at": contact["created_at"], "updated_at": contact["created_at"]}
    assert contact == {"id": id, **NEW, **times}
    assert contact["created_at"].endswith("Z")


async def test_a_new_contact_keeps_every_field_it_is_given(api: httpx2.AsyncClient) -> None:
    fields = {**ANN, "tags": ["vip", "blue"], "pipeline_stage": "qualified", "source": "fair", "dnd_sms": True}

    contact = await create(api, **fields)

    assert contact == data(await api.get(f"/contacts/{contact['id']}"))
    assert {name: contact[name] for name in fields} == fields
    assert (contact["status"], contact["score"]) == ("active", 40 + 5 + 5)


@pytest.mark.parametrize("stage", STAGES)
async def test_a_new_contact_may_stand_in_any_stage(api: httpx2.AsyncClient, stage: str) -> None:
    contact = await create(api, pipeline_stage=stage)

    assert contact["pipeline_stage"] == stage


async def test_a_phone_is_kept_in_e164(api: httpx2.AsyncClient) -> None:
    contact = await create(api, phone="(202) 555-0143")

    assert contact["phone"] == PHONE


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "invalid_input"),
        ({"phone": None}, "invalid_input"),
        ({"phone": 12025550143}, "invalid_input"),
        ({"phone": "nobody"}, "invalid_phone"),
        ({"phone": PHONE, "pipeline_stage": "lead"}, "invalid_input"),
        ({"phone": PHONE, "first_name": 7}, "invalid_input"),
        ({"phone": PHONE, "first_name": "x" * 101}, "invalid_input"),
        ({"phone": PHONE, "first_name": "a\x00b"}, "invalid_input"),
        ({"phone": PHONE, "email": "ann"}, "invalid_input"),
        ({"phone": PHONE, "tags": ["vip", 7]}, "invalid_input"),
        ({"phone": PHONE, "tags": ["x" * 65]}, "invalid_input"),
        ({"phone": PHONE, "dnd_sms": "no"}, "invalid_input"),
    ],
)
async def test_an_invalid_contact_is_refused_with_422(
    api: httpx2.AsyncClient, pool: Pool, body: dict[str, Any], code: str
) -> None:
    answer = await api.post("/contacts", json=body)

    assert refusal(answer)[:2] == (422, code)
    assert await CONTACTS.count(pool) == 0
    assert await event_names(pool, "new_contact") == []


async def test_a_phone_that_a_contact_has_is_refused_with_409_that_names_it(
    api: httpx2.AsyncClient, pool: Pool
) -> None:
    first = await create(api, first_name="Ann")

    answer = await api.post("/contacts", json={"phone": "1 202 555 0143", "first_name": "Bob"})

    assert refusal(answer) == (409, "conflict", f"A contact with {PHONE} exists: id {first['id']}.")
    assert await CONTACTS.read(pool, "first_name") == ["Ann"]


async def test_a_contact_that_is_added_again_with_its_idempotency_key_is_answered_again(
    api: httpx2.AsyncClient, pool: Pool
) -> None:
    headers = {"Idempotency-Key": "import-1"}

    first = await api.post("/contacts", json=ANN, headers=headers)
    again = await api.post("/contacts", json=ANN, headers=headers)

    assert data(again) == data(first)
    assert again.headers["idempotent-replayed"] == "true"
    assert await event_names(pool, "new_contact") == ["new_contact"]


async def test_a_contact_that_was_deleted_since_is_not_answered_again(api: httpx2.AsyncClient, pool: Pool) -> None:
    headers = {"Idempotency-Key": "import-1"}
    first = data(await api.post("/contacts", json=ANN, headers=headers))
    await api.delete(f"/contacts/{first['id']}")

    again = await api.post("/contacts", json=ANN, headers=headers)

    assert refusal(again) == (404, "not_found", f"No contact with id {first['id']}.")
    assert await CONTACTS.count(pool) == 0
    for path in ("/contacts", "/automation/actions/create-contact", "/automation/subscribe"):
        assert "404" in (await api.get("/openapi.json")).json()["paths"][path]["post"]["responses"]


async def test_a_phone_that_opted_out_stays_opted_out_when_it_is_added_again(
    api: httpx2.AsyncClient, services: Services, account: Opened
) -> None:
    await services.inbox.receive("sandbox", inbound(PHONE, account.phone_number, "STOP"))
    [contact] = data(await api.get("/contacts"))
    await api.delete(f"/contacts/{contact['id']}")

    again = await create(api)

    assert (again["status"], again["score"]) == ("opted_out", 0)


@pytest.mark.parametrize(
    "change",
    [
        {"phone": "+14155550101"},
        {"first_name": "Anna"},
        {"last_name": "Li"},
        {"email": "anna@example.com"},
        {"tags": ["late"]},
        {"pipeline_stage": "won"},
        {"source": "fair"},
        {"dnd_sms": True},
    ],
)
async def test_an_update_changes_the_included_fields_alone(api: httpx2.AsyncClient, change: dict[str, Any]) -> None:
    before = await create(api, **ANN, tags=["vip"])

    after = data(await api.put(f"/contacts/{before['id']}", json=change))

    score = 70 + 5 + 5 if "pipeline_stage" in change else before["score"]
    assert after == before | change | {"updated_at": after["updated_at"], "score": score}
    assert after["updated_at"] > before["updated_at"]
    assert after == data(await api.get(f"/contacts/{before['id']}"))


async def test_an_update_with_null_empties_a_field(api: httpx2.AsyncClient) -> None:
    contact = await create(api, **ANN, tags=["vip"], pipeline_stage="won")
    emptied = dict.fromkeys(("first_name", "last_name", "email", "tags", "pipeline_stage"))

    after = data(await api.put(f"/contacts/{contact['id']}", json=emptied))

    assert {name: after[name] for name in emptied} == {name: NEW[name] for name in emptied}


async def test_an_update_cannot_lift_an_opt_out(api: httpx2.AsyncClient, services: Services, account: Opened) -> None:
    await services.inbox.receive("sandbox", inbound(PHONE, account.phone_number, "STOP"))
    [contact] = data(await api.get("/contacts"))

    answer = await api.put(f"/contacts/{contact['id']}", json={"status": "active", "first_name": "Ann"})

    assert refusal(answer)[:2] == (422, "contact_opted_out")
    assert data(await api.get(f"/contacts/{contact['id']}")) == contact


@pytest.mark.parametrize(
    "body", [{"pipeline_stage": "lead"}, {"tags": [7]}, {"email": "ann"}, {"phone": None}, {"phone": ""}]
)
async def test_an_update_that_is_refused_changes_nothing(api: httpx2.AsyncClient, body: dict[str, Any]) -> None:
    before = await create(api, **ANN)

    answer = await api.put(f"/contacts/{before['id']}", json={"first_name": "Anna"} | body)

    assert refusal(answer)[0] == 422
    assert data(await api.get(f"/contacts/{before['id']}")) == before


async def test_a_phone_of_null_is_refused_in_plain_words(api: httpx2.AsyncClient) -> None:
    contact = await create(api)

    answer = await api.put(f"/contacts/{contact['id']}", json={"phone": None})

    sentence = "phone must not be null. Leave it out to keep the present value."
    assert refusal(answer) == (422, "invalid_input", sentence)


async def test_an_unclear_opt_out_is_kept_when_the_contact_is_deleted(
    api: httpx2.AsyncClient, services: Services, account: Opened
) -> None:
    unclear = inbound(PHONE, account.phone_number, "STOP what time is the showing")
    await services.inbox.receive("sandbox", unclear)
    [held] = data(await api.get("/contacts"))
    text = {"to": PHONE, "message": "Hello", "consent_attested": True}
    assert refusal(await api.post("/sms/send", json=text))[1] == "contact_held"

    await api.delete(f"/contacts/{held['id']}")

    assert refusal(await api.post("/sms/send", json=text))[1] == "contact_opted_out"
    assert (await create(api))["status"] == "opted_out"


async def test_an_update_to_the_phone_of_another_contact_is_refused_with_409(api: httpx2.AsyncClient) -> None:
    first = await create(api)
    second = await create(api, phone="+14155550101")

    answer = await api.put(f"/contacts/{second['id']}", json={"phone": PHONE})

    assert refusal(answer) == (409, "conflict", f"A contact with {PHONE} exists: id {first['id']}.")
    assert data(await api.get(f"/contacts/{second['id']}")) == second


async def test_a_deletion_removes_the_contact_with_its_messages_and_conversations(
    api: httpx2.AsyncClient, services: Services, account: Opened, work: Callable[[], Any], pool: Pool
) -> None:
    await api.post("/sms/send", json={"to": PHONE, "message": "Hello", "consent_attested": True})
    await work()
    await services.inbox.receive("sandbox", inbound(PHONE, account.phone_number, "Hi"))
    await services.inbox.receive("sandbox", inbound("+14155550101", account.phone_number, "I stay"))
    [stays, goes] = data(await api.get("/contacts"))

    answer = data(await api.delete(f"/contacts/{goes['id']}"))

    assert answer == {"deleted_id": goes["id"], "deleted_messages": 2}
    assert data(await api.get("/contacts")) == [stays]
    assert [entry["body"] for entry in data(await api.get("/sms/logs"))] == ["I stay"]
    assert await CONVERSATIONS.count(pool) == 1
    assert await balance_of(pool) == 999
    await audit(pool)


async def test_a_deletion_refunds_unsent_messages(api: httpx2.AsyncClient, pool: Pool) -> None:
    await api.post("/sms/send", json={"to": PHONE, "message": "Hello", "consent_attested": True})
    [contact] = data(await api.get("/contacts"))

    await api.delete(f"/contacts/{contact['id']}")

    assert await balance_of(pool) == 1000


async def test_a_deleted_contact_is_not_found(api: httpx2.AsyncClient) -> None:
    contact = await create(api)
    path = f"/contacts/{contact['id']}"
    await api.delete(path)

    answers = [await api.get(path), await api.put(path, json={}), await api.delete(path)]

    missing = (404, "not_found", f"No contact with id {contact['id']}.")
    assert [refusal(answer) for answer in answers] == [missing] * 3


@pytest.mark.parametrize("id", ["0", "-1", "9223372036854775807"])
async def test_an_unknown_id_is_not_found(api: httpx2.AsyncClient, id: str) -> None:
    answer = await api.get(f"/contacts/{id}")

    assert refusal(answer) == (404, "not_found", f"No contact with id {id}.")


@pytest.mark.parametrize("id", ["ann", "1.5", "9223372036854775808"])
async def test_an_id_that_is_none_is_refused_with_422(api: httpx2.AsyncClient, id: str) -> None:
    answer = await api.get(f"/contacts/{id}")

    assert refusal(answer)[:2] == (422, "invalid_input")


async def test_a_contact_of_another_account_is_not_found_and_stays_as_it_is(
    api: httpx2.AsyncClient, new_account: Callable[..., Any]
) -> None:
    contact = await create(api, **ANN)
    path, other = f"/contacts/{contact['id']}", await new_account()
    headers = {"Authorization": f"Bearer {other.svc_key}"}

    answers = [
        await api.get(path, headers=headers),
        await api.put(path, json={"first_name": "Eve"}, headers=headers),
        await api.delete(path, headers=headers),
    ]

    missing = (404, "not_found", f"No contact with id {contact['id']}.")
    assert [refusal(answer) for answer in answers] == [missing] * 3
    assert data(await api.get("/contacts", headers=headers)) == []
    assert data(await api.get(path)) == contact


async def test_two_accounts_may_have_a_contact_with_one_phone(
    api: httpx2.AsyncClient, new_account: Callable[..., Any]
) -> None:
    mine, other = await create(api), await new_account()

    theirs = data(
        await api.post("/contacts", json={"phone": PHONE}, headers={"Authorization": f"Bearer {other.svc_key}"})
    )

    assert theirs["id"] != mine["id"]


async def test_a_reply_raises_the_score_by_4(api: httpx2.AsyncClient, services: Services, account: Opened) -> None:
    contact = await create(api, first_name="Ann")

    await services.inbox.receive("sandbox", inbound(PHONE, account.phone_number, "Hi"))

    after = data(await api.get(f"/contacts/{contact['id']}"))
    assert (contact["score"], after["score"]) == (15, 19)
