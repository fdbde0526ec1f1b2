"""A simulated HighLevel: OAuth with single-use refresh tokens, contacts, conversations, limits, and signed notices.

Written from marketplace.gohighlevel.com/docs: Get Access Token, Get Contact, Create Contact, Update Contact, Get
Duplicate Contact, Search Contacts, Add an inbound message, Update message status, Uninstall an application, Scopes,
Conversation Providers, Webhook Integration Guide, Rate Limits; and checked against the OpenAPI files of
github.com/GoHighLevel/highlevel-api-docs, and help.gohighlevel.com, How to reconnect broken marketplace apps. A second
reader checked it against apps/{contacts,conversations,oauth,marketplace}.json and docs/ of that repository. They do
not tell the texts of refusals, which are those that clients in public repositories handle: 400 for a contact that is
not there, 400 with `meta` for a duplicate, 401 for a scope that was not given; nor PKCE, which is checked where used.
"""

import asyncio
import base64
import hashlib
import itertools
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar
from urllib.parse import parse_qs, parse_qsl, urlsplit

import orjson
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from app.domain.integrations.scheduling import Delivery
from tests.peers.calls import kind_of
from tests.peers.limits import Limit

Json = dict[str, Any]
Answer = tuple[int, dict[str, str], Json | bytes]
CUT = "x-cut"
"""The mark of an answer that is cut off."""

NEVER_SECONDS = 3600.0
SETTABLE = ("phone", "firstName", "lastName", "email")
UNIQUE = ("email", "phone")
"""The fields that no two contacts of a sub-account share, unless it allows duplicates."""

COMPANY = {"companyId": "company1", "userId": "user1"}
WRITE = "conversations/message.write"
NEEDED = {
    "GET contacts": "contacts.readonly",
    "POST contacts": "contacts.write",
    "PUT contacts": "contacts.write",
    "POST conversations": WRITE,
    "PUT conversations": WRITE,
    "DELETE marketplace": "oauth.write",
}
"""The scopes of the calls by the security of their references; the search needs that of reading."""

VERSIONS = {"contacts": "2021-07-28", "marketplace": "2021-07-28", "conversations": "2021-04-15"}
"""The version that the header of a call names, by the area of its path."""


@dataclass(frozen=True)
class Fault:
    """The failure of one request: a status, or no answer at all; `happens` where it takes effect all the same.

    `content` replaces the answer, and is cut off in the middle where `is_cut`. With `seconds` the answer is only late.
    """

    status: int | None
    retry_after: int | None = None
    happens: bool = False
    content: bytes | None = None
    is_cut: bool = False
    seconds: float = 0


class Refusal(Exception):
    """A response with an error."""

    def __init__(self, status: int, message: str, **meta: str) -> None:
        super().__init__(message)
        self.status, self.message, self.meta = status, message, meta


@dataclass
class HighLevelPeer:
    """The state of one sub-account. `clock` is its time, `limit` that of requests, 100 in 10 seconds at HighLevel.

    `faults` are the failures of the next requests, `broken` the paths that are answered with 500; `on_call` is called
    with each request. `failing` is the failure of the first one of each kind, `failed` are those that had it; `hung` is
    set while one gets no answer.
    """

    kind: ClassVar[str] = "highlevel"
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    location: str = "loc1"
    client_id: str = "64f0a1b2-lm3k"
    client_secret: str = "the secret of the application"
    provider_id: str = "provider1"
    token_seconds: Any = 86399
    limit: Limit = field(default_factory=lambda: Limit(timedelta(seconds=10)))
    key: Ed25519PrivateKey = field(default_factory=Ed25519PrivateKey.generate)
    contacts: dict[str, Json] = field(default_factory=dict)
    messages: list[Json] = field(default_factory=list)
    statuses: dict[str, list[Json]] = field(default_factory=dict)
    notices: list[Delivery] = field(default_factory=list)
    faults: deque[Fault] = field(default_factory=deque)
    calls: list[str] = field(default_factory=list)
    on_call: Callable[[], Awaitable[object]] = lambda: asyncio.sleep(0)
    broken: set[str] = field(default_factory=set)
    hides_place: bool = False
    failing: Fault | None = None
    failed: set[str] = field(default_factory=set)
    hung: asyncio.Event = field(default_factory=asyncio.Event)
    is_installed: bool = False
    scopes: str = ""
    _codes: dict[str, Json] = field(default_factory=dict)
    _access: set[str] = field(default_factory=set)
    _refresh: set[str] = field(default_factory=set)
    _listed: list[Json] | None = None
    _ids: Any = field(default_factory=lambda: itertools.count(1))

    @property
    def public_key(self) -> str:
        """Return the public key as the documentation prints it."""
        encoded = self.key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        return base64.b64encode(encoded).decode()

    def authorize(self, url: str) -> dict[str, str]:
        """Consent at the address of an authorization; return the parameters of the redirect."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        assert asked["client_id"] == self.client_id
        assert asked["response_type"] == "code"
        code = self._id("code")
        self._codes[code] = asked
        return {"state": asked["state"], "code": code}

    def expire_tokens(self) -> None:
        """Have every access token expire."""
        self._access.clear()

    def uninstall(self) -> None:
        """Have every token end, as a person does who uninstalls the application."""
        self.is_installed = False
        self._access.clear()
        self._refresh.clear()

    def sign(self, notice: Json) -> Delivery:
        """Return a delivery as HighLevel signs it."""
        return self.sign_bytes(orjson.dumps(notice))

    def sign_bytes(self, body: bytes) -> Delivery:
        """Return a body, whatever it is, as HighLevel signs it."""
        return Delivery({"x-ghl-signature": base64.b64encode(self.key.sign(body)).decode()}, body)

    def write(self, contact_id: str, body: str, message_id: str | None = None, *attachments: str) -> Delivery:
        """Have a user send a text; return the delivery for the provider."""
        asked = {
            "contactId": contact_id,
            "locationId": self.location,
            "messageId": message_id or self._id("msg"),
            "type": "SMS",
            "phone": self.contacts[contact_id]["phone"],
            "message": body,
            "attachments": list(attachments),
            "userId": "user1",
        }
        return self.sign(asked)

    def add(self, **values: Any) -> str:
        """Add a contact, as a user does; return its id."""
        return self._save(self._id("contact"), values, "ContactCreate")["id"]

    def change(self, id: str, **values: Any) -> None:
        """Change a contact, as a user does."""
        self._save(id, values, "ContactUpdate")

    def set_dnd(self, id: str, on: bool) -> None:
        """Set or lift do-not-disturb for texts, as a user does."""
        setting = {"SMS": {"status": "active" if on else "inactive", "message": "", "code": ""}}
        self._save(id, {"dndSettings": setting, "dnd": False}, "ContactDndUpdate")

    def delete(self, id: str) -> None:
        """Delete a contact, as a user does."""
        record, self._listed = self.contacts.pop(id), None
        self._notify("ContactDelete", record)

    def is_silent(self, id: str) -> bool:
        """Return whether a contact gets no texts."""
        record = self.contacts[id]
        return bool(record.get("dnd")) or record["dndSettings"].get("SMS", {}).get("status") in ("active", "permanent")

    async def answer(self, method: str, address: str, headers: dict[str, str], body: bytes) -> Answer:
        """Answer a request with a status, headers and an object, or with the bytes of a failure."""
        url = urlsplit(address)
        self.calls.append(f"{method} {url.path}")
        await self.on_call()
        if self.limit.is_exceeded(self.clock()):
            return 429, {}, {"statusCode": 429, "message": "Too Many Requests"}
        fault = self._find_fault(f"{method} {url.path}")
        if fault is None or fault.seconds:
            await asyncio.sleep(fault.seconds if fault else 0)
            return await self._safely(method, url.path, url.query, headers, body)
        if fault.happens:
            await self._safely(method, url.path, url.query, headers, body)
        if fault.status is None:
            self.hung.set()
            await asyncio.sleep(NEVER_SECONDS)
        waiting = {} if fault.retry_after is None else {"retry-after": str(fault.retry_after)}
        said = {"message": "A simulated failure."} if fault.content is None else fault.content
        return fault.status or 500, waiting | ({CUT: "1"} if fault.is_cut else {}), said

    def _find_fault(self, call: str) -> Fault | None:
        if self.faults:
            return self.faults.popleft()
        if call.partition(" ")[2] in self.broken:
            return Fault(500)
        kind = kind_of(call)
        if self.failing is None or kind in self.failed:
            return None
        self.failed.add(kind)
        return self.failing

    def find(self, phone: str) -> str:
        """Return the id of the contact with a phone."""
        return next(id for id, each in self.contacts.items() if each["phone"] == phone)

    async def _safely(self, method: str, path: str, query: str, headers: dict[str, str], body: bytes) -> Answer:
        try:
            if path == "/oauth/token":
                return 200, {}, self._token(dict(parse_qsl(body.decode())))
            if path == "/oauth/reconnect":
                return 200, {}, self._reconnect(orjson.loads(body))
            self._check(method, path, headers)
            status = 201 if (method, path) == ("POST", "/contacts/") else 200
            return status, {}, self._serve(method, path, dict(parse_qsl(query)), orjson.loads(body) if body else {})
        except Refusal as refusal:
            meta = {"meta": refusal.meta} if refusal.meta else {}
            return refusal.status, {}, {"statusCode": refusal.status, "message": refusal.message, **meta}

    def _check(self, method: str, path: str, headers: dict[str, str]) -> None:
        if headers.get("authorization", "").removeprefix("Bearer ") not in self._access:
            raise Refusal(401, "Invalid JWT")
        area = path.split("/")[1]
        if headers.get("version") != VERSIONS.get(area):
            raise Refusal(401, "version header was not found")
        needed = "contacts.readonly" if path == "/contacts/search" else NEEDED.get(f"{method} {area}")
        if needed is not None and needed not in self.scopes.split():
            raise Refusal(401, "The token is not authorized for this scope.")

    def _token(self, form: dict[str, str]) -> Json:
        if (form.get("client_id"), form.get("client_secret")) != (self.client_id, self.client_secret):
            raise Refusal(401, "Invalid client credentials")
        if form["grant_type"] == "authorization_code":
            asked = self._codes.pop(form.get("code", ""), None)
            if asked is None or asked.get("redirect_uri") != form.get("redirect_uri"):
                raise Refusal(400, "Invalid grant: authorization code is invalid")
            digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
            if asked.get("code_challenge") not in (None, base64.urlsafe_b64encode(digest).decode().rstrip("=")):
                raise Refusal(400, "Invalid grant: code verifier is invalid")
            self.scopes = asked["scope"]
        elif form.get("refresh_token") not in self._refresh:
            raise Refusal(400, "Invalid grant: refresh token is invalid")
        self._refresh.discard(form.get("refresh_token", ""))
        self.is_installed = True
        access, refresh = (f"{self._id(kind)}.{'x' * 1400}" for kind in ("access", "refresh"))  # as long as real ones
        self._access, self._refresh = {access}, self._refresh | {refresh}
        known = {"access_token": access, "refresh_token": refresh, "token_type": "Bearer", "userType": "Location"}
        return {**known, "expires_in": self.token_seconds, "locationId": self.location, **COMPANY, "scope": self.scopes}

    def _reconnect(self, asked: Json) -> Json:
        if (asked.get("clientKey"), asked.get("clientSecret")) != (self.client_id, self.client_secret):
            raise Refusal(401, "Invalid client credentials")
        if not self.is_installed or asked.get("locationId") != self.location:
            raise Refusal(400, "The app is not installed in this location")
        code = self._id("code")
        self._codes[code] = {"scope": self.scopes}
        return {"authorizationCode": code, "expiresAt": self._now(), "traceId": "trace"}

    def _serve(self, method: str, path: str, query: dict[str, str], body: Json) -> Json:
        area, *names = path.strip("/").split("/")
        if area == "contacts":
            return self._serve_contacts(method, names, query, body)
        match area, method, names:
            case "conversations", "POST", ["messages", "inbound"]:
                self._get(body["contactId"])
                self.messages.append(body)
                ids = {"conversationId": f"of-{body['contactId']}", "messageId": self._id("msg")}
                return {"success": True, "message": "Message queued.", **ids}
            case "conversations", "PUT", ["messages", id, "status"]:
                self.statuses.setdefault(id, []).append(body)
                return {"conversationId": "conversation", "messageId": id, "status": body["status"]}
            case "marketplace", "DELETE", ["app", _, "installations"]:
                self.uninstall()
                return {"success": True}
            case _:
                raise Refusal(404, f"Cannot {method} {path}")

    def _serve_contacts(self, method: str, names: list[str], query: dict[str, str], body: Json) -> Json:
        match method, names:
            case "GET", ["search", "duplicate"]:
                found = [each for each in self.contacts.values() if each["phone"] == query["number"]]
                return {"contact": found[0] if found else None}
            case "POST", ["search"]:
                return self._search(body)
            case "POST", []:
                self._refuse_duplicate(body)
                return {"contact": self._save(self._id("contact"), body, "ContactCreate")}
            case "GET", [id]:
                return {"contact": self._get(id)}
            case _:
                self._get(names[-1])
                self._refuse_duplicate(body, names[-1])
                return {"succeded": True, "contact": self._save(names[-1], body, "ContactUpdate")}

    def _search(self, body: Json) -> Json:
        since = next((each["value"]["gte"] for each in body.get("filters", [])), "")
        if self._listed is None:
            self._listed = sorted(self.contacts.values(), key=_place)
        start = bisect_left(self._listed, (since, ""), key=_place)
        after = tuple(body.get("searchAfter", ("", "")))
        next_one = max(start, bisect_right(self._listed, after, key=_place))
        page = self._listed[next_one : next_one + body["pageLimit"]]
        shown = [each if self.hides_place else {**each, "searchAfter": [*_place(each)]} for each in page]
        return {"contacts": shown, "total": len(self._listed) - start}

    def _refuse_duplicate(self, values: Json, id: str = "") -> None:
        for name in UNIQUE:
            for each in self.contacts.values():
                if values.get(name) and each[name] == values[name] and each["id"] != id:
                    text = "This location does not allow duplicated contacts."
                    raise Refusal(400, text, contactId=each["id"], contactName="", matchingField=name)

    def _get(self, id: str) -> Json:
        if id not in self.contacts:
            raise Refusal(400, f"Contact with id {id} not found")
        return self.contacts[id]

    def _save(self, id: str, values: Json, event: str) -> Json:
        empty = dict.fromkeys(SETTABLE, "")
        record = self.contacts.setdefault(id, {"id": id, "locationId": self.location, **empty, "dndSettings": {}})
        for name in (*SETTABLE, "dnd"):
            if name in values:
                record[name] = values[name]
        record["dndSettings"] |= values.get("dndSettings", {})
        record["dateUpdated"], self._listed = self._now(), None
        self._notify(event, record)
        return dict(record)

    def _notify(self, event: str, record: Json) -> None:
        notice = {**record, "type": event, "webhookId": self._id("hook"), "timestamp": self._now()}
        self.notices.append(self.sign(notice))

    def _now(self) -> str:
        return self.clock().astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def _id(self, kind: str) -> str:
        return f"{kind}{next(self._ids):06d}"


def _place(record: Json) -> tuple[str, str]:
    return record["dateUpdated"], record["id"]


@asynccontextmanager
async def serving(peer: HighLevelPeer) -> AsyncGenerator[str]:
    """Serve a peer on a port of loopback, and yield its address."""
    open_ones = set[asyncio.Task[None]]()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if task := asyncio.current_task():
            open_ones.add(task)
        with suppress(asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            while True:
                answer = await _answer(peer, reader)
                writer.write(answer)
                await writer.drain()
                if CUT.encode() in answer:
                    break
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for each in open_ones:
            each.cancel()
        await asyncio.gather(*open_ones, return_exceptions=True)


async def _answer(peer: HighLevelPeer, reader: asyncio.StreamReader) -> bytes:
    """Read a request, and return the response."""
    lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    method, address, _ = lines[0].split(" ")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:-2])}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    status, extra, answer = await peer.answer(method, address, headers, body)
    content = answer if isinstance(answer, bytes) else orjson.dumps(answer)
    length = len(content) + (100 if CUT in extra else 0)
    listed = {"content-type": "application/json", "content-length": str(length), **extra}
    head = "".join(f"{name}: {value}\r\n" for name, value in listed.items())
    return f"HTTP/1.1 {status} X\r\n{head}\r\n".encode() + content
