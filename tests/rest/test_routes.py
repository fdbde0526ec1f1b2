"""Endpoints made from documents: what they read, and what they answer."""

import pytest
from fastapi import FastAPI

from tests.rest.toy import KEYS, Toy, client

pytestmark = pytest.mark.anyio


async def test_a_query_answers_its_selection_as_data(app: FastAPI) -> None:
    answer = await client(app).get("/contacts/2")

    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == {"success": True, "data": {"id": 2, "name": "Bob", "tags": [], "stage": "won"}}


async def test_a_mutation_takes_its_variables_from_path_and_body(app: FastAPI, toy: Toy) -> None:
    answer = await client(app).put("/contacts/2", json={"id": 3, "name": "Bea", "tags": "vip", "colour": "red"})

    assert answer.json()["data"] == {"id": 2, "name": "Bea", "tags": ["vip"], "stage": "won"}
    assert toy.asked == [("update_contact", {"id": 2, "name": "Bea", "tags": ["vip"]}, KEYS["svc_all"])]


async def test_an_omitted_field_stays_absent_and_null_stays_null(app: FastAPI, toy: Toy) -> None:
    await client(app).put("/contacts/2", json={"tags": None})

    assert toy.asked == [("update_contact", {"id": 2, "tags": None}, KEYS["svc_all"])]


async def test_a_user_envelope_and_a_second_place_of_one_operation(app: FastAPI) -> None:
    http = client(app)

    first, second = await http.get("/auth/test"), await http.get("/oauth/test")

    assert first.json() == second.json() == {"success": True, "user": {"id": 7, "email": "ann@example.com"}}


async def test_a_bare_envelope_and_a_path_that_is_spelled_out_comes_first(app: FastAPI) -> None:
    answer = await client(app).get("/contacts/tags")

    assert answer.json() == ["vip"]


async def test_a_delete_reads_no_body(app: FastAPI) -> None:
    answer = await client(app).request("DELETE", "/contacts/1", content=b"{", headers={"Content-Type": "text/x"})

    assert answer.json() == {"success": True, "data": {"id": 1}}


async def test_an_operation_without_variables_reads_no_body(app: FastAPI) -> None:
    answer = await client(app).post("/ping", content=b"{")

    assert answer.json() == {"success": True, "data": "pong"}


async def test_head_answers_as_get_does(app: FastAPI) -> None:
    answer = await client(app).head("/contacts/2")

    assert answer.status_code == 200


async def test_query_texts_are_read_as_their_variables(app: FastAPI, toy: Toy) -> None:
    await client(app).get("/contacts?search=%C3%A9&tags=a&tags=b&stage=won&limit=x&limit=3&colour=red")

    assert toy.asked[0][1] == {"search": "é", "tags": ["a", "b"], "stage": "won", "limit": 3}


async def test_a_variable_is_read_from_its_header(app: FastAPI, toy: Toy) -> None:
    sms = {"to": "+15551234567", "message": "hi", "key": "not this"}

    await client(app).post("/sms/send", json=sms, headers={"idempotency-key": "k1"})
    await client(app).post("/sms/send", json=sms)

    assert [variables.get("key") for _, variables, _ in toy.asked] == ["k1", None]


async def test_a_replayed_answer_says_so(app: FastAPI) -> None:
    http, sms = client(app), {"to": "+15551234567", "message": "hi"}

    first = await http.post("/sms/send", json=sms, headers={"Idempotency-Key": "k1"})
    again = await http.post("/sms/send", json=sms, headers={"Idempotency-Key": "k1"})

    assert first.json() == again.json()
    assert "idempotent-replayed" not in first.headers
    assert again.headers["idempotent-replayed"] == "true"


async def test_a_page_is_an_array_with_its_total_and_neighbours_in_headers(app: FastAPI) -> None:
    answer = await client(app).get("/contacts?offset=2&search=a%26b&tags=x&tags=y")

    assert [contact["id"] for contact in answer.json()["data"]] == [3, 4]
    assert answer.headers["x-total-count"] == "5"
    assert answer.headers["link"] == (
        '</contacts?offset=4&search=a%26b&tags=x&tags=y&limit=2>; rel="next", '
        '</contacts?offset=0&search=a%26b&tags=x&tags=y&limit=2>; rel="prev"'
    )


@pytest.mark.parametrize(
    ("query", "relations"),
    [
        ("", {"next": "/contacts?limit=2&offset=2"}),
        ("?limit=5", {}),
        ("?limit=2&offset=4", {"prev": "/contacts?limit=2&offset=2"}),
        ("?limit=2&offset=1", {"next": "/contacts?limit=2&offset=3", "prev": "/contacts?limit=2&offset=0"}),
        ("?limit=2&offset=900", {"prev": "/contacts?limit=2&offset=3"}),
    ],
)
async def test_a_page_links_to_the_pages_there_are(app: FastAPI, query: str, relations: dict[str, str]) -> None:
    answer = await client(app).get(f"/contacts{query}")

    assert {relation: link["url"] for relation, link in answer.links.items()} == relations


async def test_a_page_behind_a_cursor_links_to_the_next_by_its_cursor(app: FastAPI) -> None:
    answer = await client(app).get("/contacts?search=a&after=1&offset=0")

    assert [contact["id"] for contact in answer.json()["data"]] == [2, 3]
    assert answer.headers["link"] == '</contacts?search=a&after=3&limit=2>; rel="next"'


@pytest.mark.parametrize(("count", "is_exact"), [(5, "true"), (6, "false")])
async def test_a_page_says_whether_its_total_is_exact(app: FastAPI, toy: Toy, count: int, is_exact: str) -> None:
    toy.names.clear()
    toy.names.update(dict.fromkeys(range(1, count + 1), "Ann"))

    answer = await client(app).get("/contacts")

    assert (answer.headers["x-total-count"], answer.headers["x-total-is-exact"]) == (str(count), is_exact)


async def test_a_page_that_no_offset_reaches_is_linked_by_a_cursor(app: FastAPI, toy: Toy) -> None:
    toy.names.update(dict.fromkeys(range(1, 10010), "Ann"))

    last_by_offset = await client(app).get("/contacts?offset=9998")
    beyond = await client(app).get("/contacts?offset=9999")

    assert last_by_offset.links["next"]["url"] == "/contacts?offset=10000&limit=2"
    assert beyond.links["next"]["url"] == "/contacts?limit=2&after=10001"


async def test_an_endpoint_without_a_scope_needs_no_key(app: FastAPI, toy: Toy) -> None:
    answer = await client(app, key=None).get("/auth/test")

    assert answer.status_code == 200
    assert toy.asked == [("whoami", {}, None)]


async def test_without_a_key_nothing_of_the_body_is_read(app: FastAPI, toy: Toy) -> None:
    answer = await client(app, key=None).post("/sms/send", content=b"{")

    assert answer.status_code == 401
    assert answer.json()["error"].startswith("No key was sent.")
    assert toy.asked == []


async def test_a_key_that_is_not_good_is_refused_everywhere(app: FastAPI) -> None:
    answer = await client(app, key="svc_wrong").get("/auth/test")

    assert answer.status_code == 401
    assert answer.json()["error_code"] == "unauthenticated"
