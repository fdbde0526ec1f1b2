"""Paths, query strings, bodies and headers of every endpoint, given what no client means well with."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from urllib.parse import quote

import httpx2
import orjson
import pytest

from app.domain.onboarding.service import Opened
from app.main import rest_operations
from app.operations.document import Operation
from app.operations.surface import Rest
from app.operations.variables import Variable
from app.settings import Settings

pytestmark = pytest.mark.anyio

DIGITS = "9" * 5_000
TEXTS = ["%00", "%FF", "%ED%A0%80", "%0D%0Ax:%20y", DIGITS, "-9223372036854775809", "%EF%BC%92", "1e999", "%25", "[]"]
"""Values for paths and query strings, encoded."""

VALUES = [
    "null",
    "true",
    '""',
    r'"a\u0000b"',
    r'"\ud800"',
    r'"\ufeff\u202e"',
    DIGITS,
    "-9223372036854775809",
    "1e999",
    "[]",
    "[null]",
    '{"a": [1]}',
    r'[{"\u0000": "\u0000"}]',
    '"9999-12-31T23:59:59-12:00"',
    '"0001-01-01T00:00:00+14:00"',
    "[" * 500 + "]" * 500,
    f'"{"x" * 20_000}"',
]
"""Values for bodies, as JSON."""

BODIES = [b"\x00", b"\xff\xfe", b"[" * 5_000, b'{"a":' * 5_000, b"null", b"[]", b'"x"', b"1e999", b'{"a": NaN}', b"{"]
HEADERS = [
    {"Idempotency-Key": value} for value in (b"", b" ", b"\xff", b"\xed\xa0\x80", b"x" * 300, b"\x7f", b"a, b")
] + [
    {"Content-Type": b"application/json; charset=\xff"},
    {"Content-Type": b"\xff/\xff"},
    {"Content-Type": b"multipart/form-data"},
    {"Accept": b"\xff"},
    {"X-Request-Id": b"\xff" * 20},
    {"Origin": b"\xff"},
    {"Cookie": b"session=\xff"},
    {"User-Agent": b"\xff"},
    {"Last-Event-Id": b"9" * 500},
]
GOOD = {"to": '"+12025550143"', "phone": '"+12025550143"', "consent_attested": "true", "max_wait_seconds": "0"}
KINDS = {"integer": "1", "number": "1", "boolean": "true", "object": "{}", "array": "[]", "string": '"x"'}


@dataclass
class Given:
    """One request."""

    method: str
    path: str
    body: bytes | None = None
    headers: dict[str, bytes] = field(default_factory=dict)


def good(variable: Variable) -> str:
    """Return JSON that a variable takes."""
    single = variable.single
    value = orjson.dumps(single["enum"][0]).decode() if "enum" in single else KINDS[single["type"]]
    value = GOOD.get(variable.name, value)
    return f"[{value}]" if variable.many and not variable.options[0].get("type") else value


def written(members: dict[str, str]) -> bytes:
    return ("{" + ",".join(f'"{name}":{value}' for name, value in members.items()) + "}").encode()


def requests(operation: Operation, rest: Rest) -> Iterator[Given]:
    """Yield one request for each hostile value in each place of an endpoint."""
    variables = [each for each in operation.variables.values() if not each.header]
    placed = {each.name: good(each).strip('"') for each in variables if each.name in rest.placeholders}
    others = [each for each in variables if each.name not in rest.placeholders]
    needed = {each.name: good(each) for each in others if each.required or each.name in GOOD}
    plain, body = rest.path.format(**placed), written(needed) if rest.has_body else None
    for name, text in product(placed, TEXTS):
        yield Given(rest.method, rest.path.format(**placed | {name: text}), body)
    if rest.has_body:
        yield from with_bodies(rest.method, plain, others, needed)
    asked = "" if rest.has_body else "&".join(f"{name}={quote(value.strip(chr(34)))}" for name, value in needed.items())
    for each, text in product([] if rest.has_body else others, TEXTS):
        yield Given(rest.method, f"{plain}?{asked}&{each.name}={text}")
    for headers in HEADERS:
        yield Given(rest.method, f"{plain}?{asked}&%FF=%FF&%00", body, headers)


def with_bodies(method: str, path: str, members: list[Variable], needed: dict[str, str]) -> Iterator[Given]:
    for each, value in product(members, VALUES):
        yield Given(method, path, written(needed | {each.name: value}))
    for whole in BODIES:
        yield Given(method, path, whole)


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Allow so many requests that no limit is reached."""
    return settings.model_copy(update={"rate_limit": 10**6, "send_rate_limit": 10**6})


EVERY = 4
"""Each place is given every fourth of its values; which, depends on the place, so that each value stands somewhere."""


async def test_no_value_in_any_place_of_any_endpoint_is_a_fault_of_ours(
    http: httpx2.AsyncClient, account: Opened
) -> None:
    every = [each for operation in rest_operations() for rest in operation.rest for each in requests(operation, rest)]
    faults = []
    for given in every[::EVERY]:
        headers = {"Content-Type": b"application/json", "X-API-Key": account.svc_key.encode(), **given.headers}
        answer = await http.request(given.method, given.path, content=given.body, headers=headers)
        if answer.status_code >= 500 or ("error_code" not in answer.json() and not answer.is_success):
            faults.append((given, answer.text[:300]))

    assert len(every) > 1_000
    assert faults == []
