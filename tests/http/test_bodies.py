"""Bodies of requests: how much is read, and what their types and texts are taken for."""

from collections.abc import Sequence

import pytest
from starlette.requests import ClientDisconnect, Request

from app.domain.kernel.errors import BodyTooLarge, InvalidJson
from app.http.body import is_utf8, media_type_of, parse_form, parse_json, parse_object, read_body

pytestmark = pytest.mark.anyio


def request_of(chunks: Sequence[bytes], *, is_whole: bool = True) -> tuple[Request, list[dict[str, object]]]:
    waiting: list[dict[str, object]] = [{"type": "http.request", "body": each, "more_body": True} for each in chunks]
    waiting.append({"type": "http.request"} if is_whole else {"type": "http.disconnect"})

    async def receive() -> dict[str, object]:
        return waiting.pop(0)

    return Request({"type": "http"}, receive), waiting


async def test_a_body_is_read_to_its_end_where_it_just_fits() -> None:
    request, _ = request_of([b"abc", b"", b"de"])

    assert await read_body(request, 5) == b"abcde"


async def test_a_body_that_is_too_large_is_read_no_further() -> None:
    request, waiting = request_of([b"abc", b"def", b"ghi"])

    with pytest.raises(BodyTooLarge) as refused:
        await read_body(request, 5)

    assert str(refused.value) == "The body is larger than 5 bytes."
    assert len(waiting) == 2


async def test_a_client_that_leaves_is_told_from_one_that_is_done() -> None:
    request, _ = request_of([b"abc"], is_whole=False)

    with pytest.raises(ClientDisconnect):
        await read_body(request, 5)


@pytest.mark.parametrize(
    ("header", "media_type", "utf8"),
    [
        ("", "", True),
        ("application/json", "application/json", True),
        (" Application/JSON ; charset=UTF-8", "application/json", True),
        ('application/json; charset="utf8"', "application/json", True),
        ("application/json; charset=latin-1", "application/json", False),
        ("text/plain;charset=", "text/plain", False),
    ],
)
async def test_a_content_type_is_read_without_regard_to_case(header: str, media_type: str, utf8: bool) -> None:
    assert (media_type_of(header), is_utf8(header)) == (media_type, utf8)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"{", "unexpected end of data: line 1 column 2 (char 1)"),
        (b"[]", "this is an array"),
        (b"null", "this is null"),
        (b"true", "this is a boolean"),
    ],
)
async def test_a_body_that_is_not_a_json_object_is_refused(text: bytes, reason: str) -> None:
    with pytest.raises(InvalidJson) as refused:
        parse_object(text)

    assert str(refused.value) == f"The body must be a JSON object: {reason}."


async def test_json_is_any_value_and_an_object_is_an_object() -> None:
    assert parse_json("[1]") == [1]
    assert parse_object(b'{"a": 1}') == {"a": 1}


async def test_the_fields_of_a_form_keep_their_order_and_blanks() -> None:
    text = b"b=1&a=&b=2&c=%00x&d=\xff%ff&e=%C3%A9+\xc3\xa9"

    fields = [("b", "1"), ("a", ""), ("b", "2"), ("c", "\ufffdx"), ("d", "\ufffd\ufffd"), ("e", "é é")]
    assert parse_form(text) == fields
