"""Client ID metadata documents: clients whose id is the URL of a JSON document.

The rules are those of draft-ietf-oauth-client-id-metadata-document.
"""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, cast

from app.domain.kernel import plain_names
from app.domain.kernel.errors import InvalidInput
from app.domain.oauth import redirects
from app.urls import UnsafeUrl, split

MAX_BYTES = 10 * 1024
SHORTEST = timedelta(minutes=1)
USUAL = timedelta(hours=1)
LONGEST = timedelta(days=1)
MAX_NAME = 100


@dataclass(frozen=True, slots=True)
class Fetched:
    """A fetched document: its body, and the seconds it may be cached, if stated."""

    body: bytes
    max_age: float | None


class Unfetched(Exception):
    """A document could not be fetched; the message gives the reason."""


Fetch = Callable[[str], Awaitable[Fetched]]
"""Reads up to `MAX_BYTES` from an untrusted URL, within seconds; raises `Unfetched`."""


class UnusableDocument(InvalidInput):
    """A client's metadata document cannot be used; the message gives the reason."""

    code = "unusable_client_document"
    status = 400
    message = "The document that describes this application cannot be used: {reason}"


@dataclass(frozen=True, slots=True)
class Description:
    """The metadata of a client, and the time it may be cached."""

    client_id: str
    name: str
    client_uri: str
    redirect_uris: list[str]
    kept: timedelta


def is_address(client_id: str, *, allow_http: bool, needs_path: bool = True) -> bool:
    """Return whether a client's id is the URL of a document: https with a path; in development also local http."""
    if not redirects.is_uri(client_id):
        return False
    try:
        parts = split(client_id)
    except UnsafeUrl:
        return False
    is_local = allow_http and parts.scheme == "http" and parts.hostname in redirects.LOOPBACK
    segments = parts.path.split("/")
    is_plain = "@" not in parts.netloc and "#" not in client_id and not {".", ".."} & set(segments)
    return (
        (parts.scheme == "https" or is_local)
        and redirects.has_plain_host(parts)
        and is_plain
        and (len(parts.path) > 1 or not needs_path)
    )


async def fetch(fetch: Fetch, client_id: str) -> Description:
    """Fetch a client's metadata document; raise `UnusableDocument`."""
    try:
        fetched = await fetch(client_id)
    except Unfetched as failure:
        raise UnusableDocument(reason=str(failure), field="client_id") from None
    return _read(client_id, fetched)


def _read(client_id: str, fetched: Fetched) -> Description:
    if len(fetched.body) > MAX_BYTES:
        raise UnusableDocument(reason=f"it is larger than {MAX_BYTES} bytes.", field="client_id")
    try:
        members = json.loads(fetched.body)
    except (ValueError, RecursionError):
        members = None
    if not isinstance(members, dict):
        raise UnusableDocument(reason="it is not a JSON object.", field="client_id")
    described = cast("dict[str, Any]", members)
    if described.get("client_id") != client_id:
        raise UnusableDocument(reason="its client_id is not its own URL.", field="client_id")
    if described.get("token_endpoint_auth_method", "none") != "none" or "client_secret" in described:
        raise UnusableDocument(reason="its token_endpoint_auth_method is not none.", field="client_id")
    try:
        uris = redirects.check_all(texts(described.get("redirect_uris")))
    except redirects.InvalidRedirectUri as fault:
        raise UnusableDocument(reason=f"{fault}", field="client_id") from None
    seconds = USUAL.total_seconds() if fetched.max_age is None else fetched.max_age
    return Description(
        client_id,
        name_of(described) or split(client_id).hostname or client_id,
        page_of(described),
        uris,
        timedelta(seconds=min(max(seconds, SHORTEST.total_seconds()), LONGEST.total_seconds())),
    )


def texts(value: object) -> list[str]:
    """Return a JSON list of strings; an empty list for any other value."""
    listed = cast("list[Any]", value) if isinstance(value, list) else []
    return listed if all(isinstance(each, str) for each in listed) else []


def page_of(described: dict[str, Any]) -> str:
    """Return the URL of a client's home page; empty if it has no valid one."""
    uri = described.get("client_uri")
    return uri if isinstance(uri, str) and is_address(uri, allow_http=False, needs_path=False) else ""


def name_of(described: dict[str, Any]) -> str:
    """Return a client's name on one line, truncated to `MAX_NAME`; empty if it has none that is shown."""
    name = described.get("client_name")
    plain = "".join(each if each.isprintable() else " " for each in name) if isinstance(name, str) else ""
    return " ".join(plain.split())[:MAX_NAME] if plain_names.is_visible(plain[:MAX_NAME]) else ""
