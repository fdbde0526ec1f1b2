"""Reads GraphQL requests according to the GraphQL over HTTP draft."""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from starlette.requests import Request

from app.domain.kernel.errors import InvalidInput, InvalidJson, UnsupportedMediaType
from app.graphql.execution.errors import InvalidGraphql, NotAcceptable, QueryTooComplex
from app.graphql.execution.parameters import Parameters
from app.graphql.execution.query_limits import MAX_CHARACTERS
from app.http.body import JSON, is_utf8, media_type_of, parse_json, read_body

MAX_BODY = 1024 * 1024
MAX_ACCEPT = 1000
"""The number of characters of an `Accept` header that are read."""

GRAPHQL = "application/graphql-response+json"
EVENT_STREAM = "text/event-stream"

_QUALITY = re.compile(r"q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)", re.IGNORECASE)
_EVENT_ID = re.compile(r"[0-9]{1,18}", re.ASCII)


async def read(request: Request) -> Parameters:
    """Return the operation of a GET or POST.

    Raises `InvalidGraphql`, `InvalidJson`, `BodyTooLarge`, `QueryTooComplex` or `UnsupportedMediaType`.
    """
    values, size = await _read_body(request) if request.method == "POST" else _read_query(request)
    seen = request.headers.get("last-event-id", "")
    last_event_id = int(seen) if _EVENT_ID.fullmatch(seen) else None
    return replace(parse(values, size), is_safe=request.method == "GET", last_event_id=last_event_id)


def parse(values: Mapping[str, Any], size: int) -> Parameters:
    """Return the operation of a request's members; raise `InvalidGraphql`, `InvalidInput` or `QueryTooComplex`."""
    query = _expect(values, "query", str, "a string")
    if not query:
        raise InvalidGraphql(reason="The request has no `query`.")
    if len(query) > MAX_CHARACTERS:
        raise QueryTooComplex(reason=f"The document has {len(query):,} characters; {MAX_CHARACTERS:,} is the most.")
    _expect(values, "extensions", dict, "an object")
    name = _expect(values, "operationName", str, "a string")
    variables = _expect(values, "variables", dict, "an object")
    for variable, value in (variables or {}).items():
        if holds_nul(value):
            raise InvalidInput(reason=f"{variable} must not hold the character U+0000.", field=variable)
    return Parameters(query, name or None, variables, size)


@lru_cache(maxsize=64)
def choose_media_type(accept: str) -> str:
    """Return the media type of the answer; raise `NotAcceptable`.

    A client without GraphQL's media type gets plain JSON; one that accepts only events gets an event stream.
    """
    ranges = _ranges(accept)
    wanted, plain = _quality(ranges, GRAPHQL), _quality(ranges, JSON)
    if not wanted and not plain:
        if ranges.get(EVENT_STREAM):
            return EVENT_STREAM
        raise NotAcceptable(types=f"{GRAPHQL}, {JSON} and {EVENT_STREAM}")
    return GRAPHQL if wanted > plain or (wanted == plain and GRAPHQL in ranges) else JSON


def accepts_events(accept: str) -> bool:
    """Return whether a client accepts server-sent events."""
    return _quality(_ranges(accept), EVENT_STREAM) > 0


def holds_nul(value: object) -> bool:
    """Return whether a text in a JSON value contains U+0000, which PostgreSQL cannot store."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str(text):
                if "\0" in text:
                    return True
            case list() as items:
                waiting += items
            case dict() as members:
                waiting += [*members, *members.values()]
            case _:
                pass
    return False


async def _read_body(request: Request) -> tuple[dict[str, Any], int]:
    _check_content_type(request.headers.get("content-type", "nothing"))
    body = await read_body(request, MAX_BODY)
    values = parse_json(body)
    if isinstance(values, list):
        raise InvalidJson(reason="this is an array, and a request has one operation")
    if not isinstance(values, dict):
        raise InvalidJson(reason="this is not an object")
    return values, len(body)


def _read_query(request: Request) -> tuple[dict[str, Any], int]:
    values: dict[str, Any] = dict(request.query_params)
    for name in ("variables", "extensions"):
        values[name] = parse_json(values[name]) if values.get(name) else None
    return values, len(request.scope["query_string"])


def _check_content_type(content_type: str) -> None:
    if media_type_of(content_type) != JSON or not is_utf8(content_type):
        raise UnsupportedMediaType(expected=f"{JSON} in UTF-8", given=content_type)


def _expect(values: Mapping[str, Any], name: str, kind: type, expected: str) -> Any:
    value = values.get(name)
    if value is not None and not isinstance(value, kind):
        raise InvalidGraphql(reason=f"`{name}` must be {expected}.")
    return value


def _ranges(accept: str) -> dict[str, float]:
    return dict(_range(part) for part in accept[:MAX_ACCEPT].split(",")) if accept.strip() else {"*/*": 1.0}


def _range(text: str) -> tuple[str, float]:
    """Return a media range of RFC 9110 and its quality; other parameters are ignored."""
    name, _, parameters = text.partition(";")
    quality = _QUALITY.search(parameters)
    return name.strip().lower(), float(quality[1]) if quality else 1.0


def _quality(ranges: Mapping[str, float], media_type: str) -> float:
    family = f"{media_type.partition('/')[0]}/*"
    return ranges.get(media_type, ranges.get(family, ranges.get("*/*", 0.0)))
