"""HighLevel: an application of its marketplace with a conversation provider.

Sources: marketplace.gohighlevel.com/docs, pages OAuth 2.0, Scopes, Conversation Providers, Webhook Integration Guide,
Rate Limits, and the references of contacts and conversations; help.gohighlevel.com, How to reconnect broken
marketplace apps.
"""

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlencode

import orjson
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_der_public_key

from app.domain.crm.connector import (
    Access,
    ContactTouched,
    ContactValues,
    CrmAway,
    CrmContact,
    CrmGone,
    CrmNotice,
    CrmRefused,
    CrmUnauthorized,
    Entry,
    Fetched,
    SendRequested,
    Tokens,
    Unread,
)
from app.domain.integrations.scheduling import BadSignature, Delivery, Unreadable
from app.providers import vendor_json as fields
from app.providers.crm_api import AnsweredRefusal, Api
from app.providers.outbound.client import HttpClient
from app.settings import Settings

HEADER = "x-ghl-signature"
CONTACTS, CONVERSATIONS = "2021-07-28", "2021-04-15"
SCOPES = (
    "conversations/message.write conversations.readonly conversations.write contacts.readonly contacts.write "
    "oauth.write"
)
"""The scopes of an authorization; the last one is that of ending it."""

NO_CONTACT = re.compile(r"\bcontact\b.*\bnot found\b", re.IGNORECASE)
"""The text of the refusal, by 400 or 422, of a call that names a contact that is not there."""

TOUCHES = frozenset({"ContactCreate", "ContactUpdate", "ContactDelete", "ContactDndUpdate", "ContactTagUpdate"})
PAGE = 100
MAX_REPORTED = MAX_ID = 200
MAX_TOTAL = 10**9
DAY, YEAR = 24 * 3600, 366 * 24 * 3600
NAMES = {"phone": "phone", "first_name": "firstName", "last_name": "lastName", "email": "email"}


def open_highlevel(settings: Settings, client: HttpClient) -> "HighLevel | None":
    """Return the adapter for the application of the settings; None without one."""
    if settings.highlevel_client_id is None or settings.highlevel_client_secret is None:
        return None
    key = load_der_public_key(base64.b64decode(settings.highlevel_public_key))
    assert isinstance(key, Ed25519PublicKey)
    return HighLevel(
        Api(client, settings.highlevel_url),
        settings.highlevel_authorize_url,
        settings.highlevel_client_id,
        settings.highlevel_client_secret.get_secret_value(),
        settings.highlevel_provider_id or "",
        key,
    )


@dataclass(frozen=True, slots=True, repr=False)
class HighLevel:
    """The API of HighLevel, for sub-accounts ("locations")."""

    api: Api
    authorize_at: str
    client_id: str
    client_secret: str
    provider_id: str
    key: Ed25519PublicKey
    name: str = "highlevel"
    title: str = "HighLevel"

    def authorize_url(self, state: str, challenge: str, redirect_url: str) -> str:
        """Return the page on which a person chooses the sub-account."""
        asked = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": redirect_url,
            "scope": SCOPES,
            "state": state,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        return f"{self.authorize_at}?{urlencode(asked)}"

    async def exchange(self, code: str, verifier: str, redirect_url: str) -> Tokens:
        """Return the first tokens for a code."""
        given = {"grant_type": "authorization_code", "code": code}
        return await self._token(given | {"redirect_uri": redirect_url, "code_verifier": verifier})

    async def refresh(self, tokens: Tokens) -> Tokens:
        """Return new tokens of the same sub-account.

        Where the refresh token is used up, a new code is asked for, which the installed application may.
        """
        try:
            new = await self._token({"grant_type": "refresh_token", "refresh_token": tokens.refresh}, tokens.location)
        except (CrmRefused, CrmUnauthorized) as refusal:
            code = await self._reconnect(tokens.location, refusal)
            new = await self._token({"grant_type": "authorization_code", "code": code}, tokens.location)
        if new.location != tokens.location:
            raise CrmRefused("The CRM gave tokens of another sub-account.")
        return new

    async def revoke(self, access: Access) -> None:
        """Uninstall the application from the sub-account."""
        body = {"locationId": access.location, "reason": "Disconnected"}
        app = quote(self.client_id.partition("-")[0])
        await self._send("DELETE", f"/marketplace/app/{app}/installations", access, CONTACTS, body)

    def verify(self, delivery: Delivery) -> None:
        """Check the Ed25519 signature of the raw body."""
        try:
            signature = base64.b64decode(delivery.headers.get(HEADER, ""), validate=True)
            self.key.verify(signature, delivery.body)
        except (InvalidSignature, binascii.Error, ValueError):
            raise BadSignature("The signature does not fit.") from None

    def read(self, body: bytes) -> CrmNotice:
        """Read a message for the delivery address of the provider, or a notice about a contact."""
        try:
            return _read(fields.load(body))
        except fields.NotThere as problem:
            raise Unreadable(str(problem)) from None

    async def get_contact(self, access: Access, external_id: str) -> CrmContact:
        """Return a contact."""
        return self._contact(await self._send("GET", f"/contacts/{quote(external_id, safe='')}", access, CONTACTS))

    async def find_contact(self, access: Access, phone: str) -> CrmContact | None:
        """Return the contact that is the duplicate of a phone."""
        query = urlencode({"locationId": access.location, "number": phone})
        try:
            answer = await self._send("GET", f"/contacts/search/duplicate?{query}", access, CONTACTS)
        except CrmGone:
            return None
        return self._contact(answer) if fields.child(answer, "contact") else None

    async def create_contact(self, access: Access, values: ContactValues) -> CrmContact:
        """Add a contact; where the sub-account allows no duplicates, return the one with its phone.

        An upsert would change another contact that has the e-mail address, and give it the phone.
        """
        body = {"locationId": access.location, **_body(values)}
        try:
            return self._contact(await self._send("POST", "/contacts/", access, CONTACTS, body))
        except AnsweredRefusal as refusal:
            known = fields.child(refusal.answer, "meta")
            if fields.text(known, "matchingField") == "email" and values.email:
                return await self.create_contact(access, replace(values, email=None))
            if not fields.text(known, "contactId"):
                raise
        return await self.get_contact(access, fields.text(known, "contactId"))

    async def change_contact(self, access: Access, external_id: str, values: ContactValues) -> CrmContact:
        """Change a contact."""
        path = f"/contacts/{quote(external_id, safe='')}"
        return self._contact(await self._send("PUT", path, access, CONTACTS, _body(values)))

    async def fetch(self, access: Access, since: datetime | None, cursor: str) -> Fetched:
        """Return 100 contacts in the order of their last changes."""
        body: dict[str, Any] = {
            "locationId": access.location,
            "pageLimit": PAGE,
            "sort": [{"field": "dateUpdated", "direction": "asc"}],
        }
        if since is not None:
            changed = {"field": "dateUpdated", "operator": "range", "value": {"gte": _time(since)}}
            body["filters"] = [changed]
        if cursor:
            body["searchAfter"] = orjson.loads(cursor)
        answer = await self._send("POST", "/contacts/search", access, CONTACTS, body)
        listed, found = answer.get("contacts"), fields.children(answer, "contacts")
        is_full = isinstance(listed, list) and len(listed) >= PAGE
        read = [_try_to_read(each) for each in found]
        contacts = [each for each in read if isinstance(each, CrmContact)]
        unread = [each for each in read if isinstance(each, Unread)]
        return Fetched(contacts, _cursor(found[-1] if found else {}) if is_full else "", _total(answer), unread)

    async def add_message(self, access: Access, entry: Entry) -> str:
        """Add a text of either direction to the conversation with a contact."""
        body: dict[str, Any] = {
            "type": "SMS",
            "contactId": entry.external_id,
            "message": entry.body,
            "direction": "inbound" if entry.is_inbound else "outbound",
            "date": _time(entry.at),
            "altId": entry.reference,
        }
        if entry.files:
            body["attachments"] = list(entry.files)
        if self.provider_id:
            body["conversationProviderId"] = self.provider_id
        answer = await self._send("POST", "/conversations/messages/inbound", access, CONVERSATIONS, body)
        return fields.text(answer, "messageId")

    async def report(self, access: Access, message_id: str, status: str, reason: str) -> None:
        """Report the status of a message of the provider."""
        body: dict[str, Any] = {"status": status}
        if status == "failed":
            body["error"] = {"code": "1", "type": "saas", "message": reason[:MAX_REPORTED] or "It was not delivered."}
        path = f"/conversations/messages/{quote(message_id, safe='')}/status"
        await self._send("PUT", path, access, CONVERSATIONS, body)

    async def _send(
        self, method: str, path: str, access: Access, version: str, body: Mapping[str, Any] | None = None
    ) -> Mapping[str, Any]:
        """Call the API as `Api.send` does; raise `CrmGone` for a contact that is not there."""
        headers = {"authorization": f"Bearer {access.token}", "version": version}
        try:
            return await self.api.send(method, path, headers, body)
        except AnsweredRefusal as refusal:
            if NO_CONTACT.search(str(refusal)):
                raise CrmGone(str(refusal)) from None
            raise

    async def _reconnect(self, location: str, refusal: Exception) -> str:
        """Return a code for a sub-account in which the application is installed; raise `refusal` otherwise."""
        asked = {"clientKey": self.client_id, "clientSecret": self.client_secret, "locationId": location}
        try:
            answer = await self.api.send("POST", "/oauth/reconnect", {}, asked)
            return fields.secret(answer, "authorizationCode")
        except (CrmRefused, CrmUnauthorized, CrmGone, fields.NotThere):
            raise refusal from None

    async def _token(self, given: Mapping[str, str], location: str = "") -> Tokens:
        credentials = {"client_id": self.client_id, "client_secret": self.client_secret, "user_type": "Location"}
        answer = await self.api.send_form("/oauth/token", {**credentials, **given})
        try:
            return Tokens(
                fields.secret(answer, "access_token"),
                fields.secret(answer, "refresh_token"),
                _seconds(answer),
                fields.identifier(answer, "locationId") or location or fields.needed(answer, "locationId"),
            )
        except fields.NotThere:
            raise CrmRefused("The CRM gave no tokens of a sub-account.") from None

    def _contact(self, answer: Mapping[str, Any]) -> CrmContact:
        return _contact(fields.child(answer, "contact"))


def _read(notice: Mapping[str, Any]) -> CrmNotice:
    location, event = fields.needed(notice, "locationId"), fields.needed(notice, "type")
    if event == "SMS":
        id = _id(notice, "messageId")
        asked = SendRequested(id, _id(notice, "contactId"), fields.needed(notice, "phone"), _message(notice))
        return CrmNotice("OutboundSms", location, f"SMS {id}", asked)
    id = fields.text(notice, "webhookId")
    about = ContactTouched(_id(notice, "id")) if event in TOUCHES else None
    return CrmNotice(event, location, f"{event} {id}" if id else "", about)


def _message(notice: Mapping[str, Any]) -> str:
    """Return the whole text of a message, and the addresses of its attachments; raise `NotThere` without either."""
    value, attached = notice.get("message"), notice.get("attachments")
    listed = [each for each in attached if isinstance(each, str)] if isinstance(attached, list) else []
    parts = [each for each in (value, *listed) if isinstance(each, str) and each.strip()]
    if not parts:
        raise fields.NotThere("The field message is missing.")
    return "\n".join(parts).replace("\0", "")


def _contact(record: Mapping[str, Any]) -> CrmContact:
    """Return a contact; raise `CrmAway` for an answer that holds none."""
    try:
        return _read_contact(record)
    except fields.NotThere as problem:
        raise CrmAway(f"The CRM's answer holds no contact: {problem}") from None


def _try_to_read(record: Mapping[str, Any]) -> CrmContact | Unread:
    """Return a contact of a list, which keeps no other back where it cannot be read."""
    try:
        return _read_contact(record)
    except fields.NotThere as problem:
        return Unread(fields.text(record, "id")[:MAX_ID], f"The contact of the CRM cannot be read: {problem}")


def _read_contact(record: Mapping[str, Any]) -> CrmContact:
    """Return a contact; raise `NotThere`."""
    return CrmContact(
        external_id=_id(record, "id"),
        phone=fields.text(record, "phone"),
        first_name=fields.text(record, "firstName"),
        last_name=fields.text(record, "lastName"),
        email=fields.text(record, "email"),
        dnd=_is_silent(record),
        changed_at=fields.optional_instant(record, "dateUpdated") or fields.instant(record, "dateAdded"),
    )


def _id(source: Mapping[str, Any], name: str) -> str:
    """Return an id of the CRM; raise `NotThere` for one that is longer than an index can hold."""
    id = fields.needed(source, name)
    if len(id) > MAX_ID:
        raise fields.NotThere(f"The field {name} has more than {MAX_ID} characters.")
    return id


def _is_silent(record: Mapping[str, Any]) -> bool:
    """Return whether a contact gets no texts: `dnd` for all channels, or the setting of SMS."""
    setting = fields.text(fields.child(fields.child(record, "dndSettings"), "SMS"), "status")
    return record.get("dnd") is True or setting in ("active", "permanent")


def _body(values: ContactValues) -> dict[str, Any]:
    body: dict[str, Any] = {
        there: value for here, there in NAMES.items() if (value := getattr(values, here)) is not None
    }
    if values.dnd is not None:
        status = "active" if values.dnd else "inactive"
        body["dndSettings"] = {"SMS": {"status": status, "message": "Set by the messaging service", "code": ""}}
        if not values.dnd:
            body["dnd"] = False
    return body


def _cursor(record: Mapping[str, Any]) -> str:
    """Return the place after a contact, as JSON; raise `CrmAway` without one, or the same page would come again."""
    if not record.get("searchAfter"):
        raise CrmAway("The CRM's page of contacts does not tell the place of the next one.")
    return orjson.dumps(record["searchAfter"]).decode()


def _total(answer: Mapping[str, Any]) -> int:
    total = answer.get("total")
    return min(max(total, 0), MAX_TOTAL) if isinstance(total, int) else 0


def _seconds(answer: Mapping[str, Any]) -> int:
    """Return the time for which a token is valid: a day where the answer holds none, at most a year."""
    told = fields.text(answer, "expires_in").partition(".")[0]
    return min(int(told), YEAR) if told.isdecimal() else DAY


def _time(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
