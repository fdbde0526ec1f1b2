"""The port to CRMs: authorization, signed notices, contacts and conversations."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from app.domain.integrations.scheduling import Delivery

FIELDS = ("phone", "first_name", "last_name", "email")
"""The fields of a contact that are texts; do-not-disturb is beside them."""


class CrmAway(Exception):
    """A CRM gave no usable answer, or its limit is reached. `wait` is in seconds, None where it does not say."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


class CrmRefused(Exception):
    """A CRM refused a call for good; the text says why."""


class CrmUnauthorized(Exception):
    """A CRM does not accept a token."""


class CrmGone(Exception):
    """A CRM does not have the record that a call names."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a connection. `seconds` is the time for which the access token is valid."""

    access: str = field(repr=False)
    refresh: str = field(repr=False)
    seconds: int
    location: str


@dataclass(frozen=True, slots=True)
class CrmContact:
    """A contact as a CRM has it; absent texts are empty. `changed_at` is the CRM's time of its last change."""

    external_id: str
    phone: str
    first_name: str
    last_name: str
    email: str
    dnd: bool
    changed_at: datetime


@dataclass(frozen=True, slots=True)
class ContactValues:
    """The values of a contact to write; those that are None stay as they are in the CRM."""

    phone: str | None = None
    first_name: str | None = None
    last_name: str | None = None
    email: str | None = None
    dnd: bool | None = None


@dataclass(frozen=True, slots=True)
class SendRequested:
    """A CRM asks for a text to be sent. `message_id` is the CRM's id, the same however often it asks."""

    message_id: str
    contact_id: str
    phone: str
    body: str


@dataclass(frozen=True, slots=True)
class ContactTouched:
    """A contact was created, changed, merged or deleted in the CRM."""

    external_id: str


@dataclass(frozen=True, slots=True)
class CrmNotice:
    """A signed notice as it was read. `key` is the same for its repetitions; empty where only the body tells.

    `about` is None for a notice that changes nothing.
    """

    event: str
    location: str
    key: str
    about: SendRequested | ContactTouched | None


@dataclass(frozen=True, slots=True)
class Unread:
    """A contact that cannot be read; the reason says why. `external_id` may be empty."""

    external_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page of contacts, the oldest change first. `cursor` is the place of the next page, empty at the end."""

    contacts: Sequence[CrmContact]
    cursor: str
    total: int
    unread: Sequence[Unread] = ()


@dataclass(frozen=True, slots=True)
class Access:
    """The right to call a CRM for one of its accounts."""

    token: str = field(repr=False)
    location: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A text for the conversation with a contact. `reference` is our id of it, `files` are links to its files."""

    external_id: str
    body: str
    is_inbound: bool
    at: datetime
    reference: str
    files: Sequence[str] = ()


class CrmConnector(Protocol):
    """A CRM. Calls raise `CrmAway`, `CrmRefused` and `CrmUnauthorized`, and `CrmGone` for a record that is not there.

    Each call takes at most 10 seconds.
    """

    @property
    def name(self) -> str:
        """Return the name of the kind, which is part of addresses."""
        ...

    @property
    def title(self) -> str:
        """Return the name that people know."""
        ...

    def authorize_url(self, state: str, challenge: str, redirect_url: str) -> str:
        """Return the address at which a person authorizes the service; `challenge` is S256 (RFC 7636)."""
        ...

    async def exchange(self, code: str, verifier: str, redirect_url: str) -> Tokens:
        """Return the first tokens for a code."""
        ...

    async def refresh(self, tokens: Tokens) -> Tokens:
        """Return new tokens. The refresh token given is used up; it may be so already, by a worker that died."""
        ...

    async def revoke(self, access: Access) -> None:
        """End the authorization."""
        ...

    def verify(self, delivery: Delivery) -> None:
        """Raise `BadSignature` for a notice that the CRM has not signed."""
        ...

    def read(self, body: bytes) -> CrmNotice:
        """Return the contents of a notice; raise `Unreadable`."""
        ...

    async def get_contact(self, access: Access, external_id: str) -> CrmContact:
        """Return a contact."""
        ...

    async def find_contact(self, access: Access, phone: str) -> CrmContact | None:
        """Return the contact with an E.164 phone."""
        ...

    async def create_contact(self, access: Access, values: ContactValues) -> CrmContact:
        """Add a contact, or return the one with that phone, unchanged.

        An e-mail address that another contact has is left out, where the CRM allows each address once.
        """
        ...

    async def change_contact(self, access: Access, external_id: str, values: ContactValues) -> CrmContact:
        """Change a contact."""
        ...

    async def fetch(self, access: Access, since: datetime | None, cursor: str) -> Fetched:
        """Return a page of the contacts that changed since a time, or of all."""
        ...

    async def add_message(self, access: Access, entry: Entry) -> str:
        """Add a text to the conversation with a contact; return its id in the CRM. Nothing is sent."""
        ...

    async def report(self, access: Access, message_id: str, status: str, reason: str) -> None:
        """Report the status `delivered` or `failed` of a text that the CRM asked for."""
        ...
