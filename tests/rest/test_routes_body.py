"""Endpoints made from documents: which bodies, numbers and texts they refuse, and how."""

from collections.abc import AsyncIterator

import pytest
from fastapi import FastAPI

from app.rest.arguments import MAX_BODY
from tests.rest.toy import Toy, client

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/contacts/abc", "id must be an integer."),
        ("/contacts/1.5", "id must be an integer."),
        ("/contacts/9223372036854775808", "id must be an integer from -9223372036854775808 to 9223372036854775807."),
        ("/contacts?limit=ten", "limit must be an integer."),
        ("/contacts?stage=lost", "stage must be one of new_lead, won."),
        ("/contacts?search=%00", "search must not hold the character U+0000."),
        ("/contacts?tags=a&tags=%00", "tags[1] must not hold the character U+0000."),
    ],
)
async def test_a_text_that_does_not_fit_is_invalid_input(app: FastAPI, toy: Toy, path: str, sentence: str) -> None:
    answer = await client(app).get(path)

    assert answer.status_code == 422
    assert (answer.json()["error_code"], answer.json()["error"]) == ("invalid_input", sentence)
    assert toy.asked == []


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({}, "name is required."),
        ({"name": None}, "name must not be null."),
        ({"name": 5}, "name must be a string."),
        ({"name": "Ann", "tags": ["a", 1]}, "tags[1] must be a string."),
        ({"name": "Ann\0"}, "name must not hold the character U+0000."),
    ],
)
async def test_a_value_that_does_not_fit_is_invalid_input(
    app: FastAPI, toy: Toy, body: dict[str, object], sentence: str
) -> None:
    answer = await client(app).post("/contacts", json=body)

    assert answer.status_code == 422
    assert (answer.json()["error_code"], answer.json()["error"]) == ("invalid_input", sentence)
    assert toy.asked == []


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"[]", "this is an array"),
        (b"null", "this is null"),
        (b'"a"', "this is a string"),
        (b"1", "this is a number"),
        (b"{", "unexpected end of data: line 1 column 2 (char 1)"),
        (b'{"name": NaN}', "unexpected character, expected a JSON value: line 1 column 10 (char 9)"),
        (b"[" * 2000 + b"]" * 2000, "depth limit exceeded: line 1 column 1026 (char 1025)"),
        (b'{"name": "\\ud800"}', "no low surrogate in string: line 1 column 11 (char 10)"),
        (b'{"name": "\xff"}', "str is not valid UTF-8: surrogates not allowed: line 1 column 1 (char 0)"),
    ],
)
async def test_a_body_that_is_not_a_json_object_is_invalid_json(app: FastAPI, body: bytes, reason: str) -> None:
    answer = await client(app).post("/contacts", content=body)

    assert answer.status_code == 400
    assert answer.json()["error_code"] == "invalid_json"
    assert answer.json()["error"] == f"The body must be a JSON object: {reason}."


async def test_a_body_that_is_not_there_is_an_empty_object(app: FastAPI) -> None:
    answer = await client(app).post("/echo", headers={"Content-Type": "text/plain"})

    assert answer.json() == {"success": True, "data": None}


@pytest.mark.parametrize(
    "content_type",
    ["application/json", "Application/JSON; charset=utf-8", 'application/vnd.api+json; Charset="UTF8"', "", None],
)
async def test_json_is_read_under_any_of_its_names(app: FastAPI, content_type: str | None) -> None:
    headers = {} if content_type is None else {"Content-Type": content_type}

    answer = await client(app).post("/contacts", content=b'{"name": "Fay"}', headers=headers)

    assert answer.json()["data"]["name"] == "Fay"


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "text/json",
        "json",
        "application/json; charset=utf-16",
        "application/json; charset=ISO-8859-1",
        'application/vnd.api+json; charset="latin1"',
    ],
)
async def test_a_body_of_another_type_or_charset_is_refused(app: FastAPI, content_type: str) -> None:
    answer = await client(app).post("/contacts", content=b'{"name": "Fay"}', headers={"Content-Type": content_type})

    assert answer.status_code == 415
    assert answer.json()["error_code"] == "unsupported_media_type"
    assert answer.json()["error"] == f"Send the body as application/json in UTF-8, not as {content_type}."


async def test_the_largest_body_is_read_and_one_byte_more_is_not(app: FastAPI) -> None:
    fits = b'{"name": "Fay"}'.ljust(MAX_BODY)

    largest = await client(app).post("/contacts", content=fits)
    larger = await client(app).post("/contacts", content=fits + b" ")

    assert largest.status_code == 200
    assert larger.status_code == 413
    assert larger.json()["error_code"] == "body_too_large"
    assert larger.json()["error"] == "The body is larger than 262144 bytes."


async def test_a_body_of_unknown_length_is_refused_while_it_is_read(app: FastAPI, toy: Toy) -> None:
    given = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal given
        while given <= 4 * MAX_BODY:
            given += 65536
            yield b" " * 65536

    answer = await client(app).post("/contacts", content=endless())

    assert answer.status_code == 413
    assert given == MAX_BODY + 65536
    assert toy.asked == []


async def test_a_client_that_leaves_while_it_sends_is_no_fault(app: FastAPI, toy: Toy) -> None:
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/contacts",
        "query_string": b"",
        "headers": [(b"x-api-key", b"svc_all")],
    }
    sent: list[object] = []

    async def receive() -> dict[str, object]:
        return {"type": "http.disconnect"}

    async def send(message: object) -> None:
        sent.append(message)

    await app(scope, receive, send)

    assert (sent, toy.asked) == ([], [])
