"""HTTP APIs of carriers: calls, untrusted answers, and the consequence of an unusable answer for a message."""

import re
import time
from collections.abc import AsyncIterator, Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, Final

import orjson

from app.domain.carriers.carrier import (
    Accepted,
    Ambiguous,
    Answer,
    CarrierBusy,
    Charge,
    ConnectionRefused,
    FailureCode,
    Limited,
    MalformedCallback,
    Rejected,
)
from app.domain.webhooks.poster import PostError, Reply
from app.providers.outbound.client import HttpClient

ANSWER_KEPT = 64 * 1024
LIST_KEPT = 4 * 1024 * 1024
NAME_LENGTH = 200
MOST_PARTS = 255
MOST_AMOUNT = 10**6
LINK_LENGTH = 2048
LINK = re.compile(r"https?://(?:[a-z0-9-]+\.)+[a-z][a-z0-9-]+(?::[0-9]{1,5})?(?:[/?#][!-~]*)?", re.IGNORECASE)
"""An address whose host is a name with a domain: no IP address, no name of this machine, no user or password."""

MOST_REFERENCE = 2**63
COUNTRY = re.compile("[A-Z]{2}")

Record = dict[str, Any]
"""An object of a carrier's JSON: nothing about its values is known."""

LATER = frozenset({408, 429})
"""The statuses of 4xx that say nothing about the request."""

OF_CALLER = frozenset({401, 402, 403})
"""The statuses of 4xx that refuse the credentials or the account, whatever the request asks for."""

NOT_WRITTEN: Final = frozenset(
    {PostError.invalid_url, PostError.refused_address, PostError.dns, PostError.connect, PostError.tls}
)
"""The errors before anything was written: the carrier cannot have the message."""


class UnexpectedAnswer(ConnectionError):
    """A carrier answered a question with something else than the answer, with the HTTP status if there was one."""

    def __init__(self, reason: str, status: int | None = None) -> None:
        super().__init__(reason)
        self.status = status


@contextmanager
def refusals(carrier: str) -> Generator[None]:
    """Turn an answer of 4xx into `ConnectionRefused`, which names the carrier."""
    try:
        yield
    except UnexpectedAnswer as fault:
        if fault.status is None or not 400 <= fault.status < 500 or fault.status in LATER:
            raise
        reason = f"{carrier} refuses the credentials or the settings of the connection: {fault}."
        raise ConnectionRefused(reason) from None


@dataclass(frozen=True, slots=True)
class CarrierHttp:
    """The HTTP client, clock and addresses that the adapters of all HTTP carriers share.

    `public_url` is the address of this service as carriers call it, `timeout` the time limit of a call in seconds.
    """

    client: HttpClient
    public_url: str
    timeout: float
    now: Callable[[], float] = time.time

    def callbacks_url(self, key: str) -> str:
        """Return the address of a connection's callbacks, without its last part."""
        return f"{self.public_url}/carriers/{key}"


@dataclass(frozen=True, slots=True)
class CarrierApi:
    """The API of a carrier at `base_url`, called with the `headers` of one set of credentials."""

    http: CarrierHttp
    base_url: str
    headers: Mapping[str, str]

    async def call(self, method: str, path: str, body: bytes = b"", kept: int = ANSWER_KEPT) -> Reply:
        """Call the API once."""
        url, seconds = self.base_url + path, self.http.timeout
        return await self.http.client.send(method, url, self.headers, body, seconds=seconds, kept=kept)

    async def read(self, path: str) -> Record:
        """Return the answer to a question; raise as `read_answer` does."""
        return read_answer(await self.call("GET", path, kept=LIST_KEPT))

    async def read_if_known(self, path: str) -> Record | None:
        """Return an object; None where the carrier refuses the request by a 4xx, as it does for one it does not have.

        Raise as `read` does for any other answer, a refusal of the caller too.
        """
        reply = await self.call("GET", path)
        return None if _refuses_request(reply) else read_answer(reply)

    async def delete(self, path: str) -> Reply:
        """Delete an object; raise `ConnectionError` unless the carrier deletes it, or refuses that by a 4xx.

        A refusal of the caller is none of the deletion, nor is the page of a proxy.
        """
        reply = await self.call("DELETE", path)
        if not reply.is_success and not _refuses_request(reply):
            raise UnexpectedAnswer(describe(reply), reply.status)
        return reply

    async def pages(self, path: str, next_path: Callable[[Record], str | None], most: int) -> AsyncIterator[Record]:
        """Read a list page by page; raise `ConnectionError` where it has more than `most` pages."""
        following: str | None = path
        for _ in range(most):
            if following is None:
                return
            page = await self.read(following)
            yield page
            following = next_path(page)
        if following is not None:
            raise UnexpectedAnswer(f"the list has more than {most} pages")


def _refuses_request(reply: Reply) -> bool:
    """Return whether a carrier refuses what a request asks for: by a 4xx without a body, or with an object."""
    is_refusal = 400 <= (reply.status or 0) < 500 and reply.status not in LATER | OF_CALLER
    return is_refusal and (not reply.body.strip() or read_object(reply.body) is not None)


def read_answer(reply: Reply) -> Record:
    """Return the object of a 2xx; raise `CarrierBusy` for 429, and `UnexpectedAnswer` for any other."""
    if reply.status == 429:
        raise CarrierBusy(reply.retry_after)
    found = read_object(reply.body)
    if not reply.is_success or found is None:
        raise UnexpectedAnswer(describe(reply), reply.status)
    return found


def country(value: object) -> str | None:
    """Return a country of ISO 3166 such as US; None for a value that cannot be one."""
    return value if isinstance(value, str) and COUNTRY.fullmatch(value) else None


def conclude(
    reply: Reply,
    accept: Callable[[Record], Accepted | Rejected | None],
    refuse: Callable[[Reply], Rejected],
) -> Answer:
    """Return the meaning of a reply to a hand-off.

    `accept` reads a 2xx, with None where it is not understood, and `refuse` any 4xx. A timeout (408), a 5xx, a cut
    answer and one that is not understood leave open whether the carrier has the message.
    """
    if reply.status is None:
        if reply.error in NOT_WRITTEN:
            return Rejected(FailureCode.carrier_error, reply.error, retryable=True)
        return Ambiguous(reply.error)
    if 400 <= reply.status < 500 and reply.status != 408:
        return refuse(reply)
    found = read_object(reply.body) if reply.is_success else None
    return (accept(found) if found is not None else None) or Ambiguous(describe(reply))


def reject(codes: Mapping[int, FailureCode], reply: Reply, code: int | None, of_number: frozenset[int]) -> Rejected:
    """Return the meaning of a 4xx with an error `code` of the carrier, or without one.

    A code that is not in `codes` is understood by the status. `of_number` are the codes that limit one number.
    """
    status = reply.status or 0
    failure = codes.get(code or 0) or BY_STATUS.get(status, FailureCode.carrier_error)
    raw = str(code) if code else f"HTTP {status}"
    if failure is not FailureCode.rate_limited:
        return Rejected(failure, raw, retryable=status == 401)
    wait = reply.retry_after
    return Rejected(
        failure,
        raw,
        retryable=True,
        limited=Limited.number if code in of_number else Limited.connection,
        retry_after=None if wait is None else timedelta(seconds=wait),
    )


BY_STATUS: Mapping[int, FailureCode] = {
    401: FailureCode.account_problem,
    402: FailureCode.account_problem,
    403: FailureCode.account_problem,
    429: FailureCode.rate_limited,
}


def describe(reply: Reply) -> str:
    """Return the status or the error of a reply, without anything that the carrier wrote."""
    return reply.error if reply.status is None else f"HTTP {reply.status}"


def read_object(body: bytes) -> Record | None:
    """Return the object of a JSON text; None for any other text."""
    try:
        found = orjson.loads(body)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def objects(value: object) -> list[Record]:
    """Return the objects of a JSON list; none where it is no list."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def child(value: Record, name: str) -> Record:
    """Return an object in an object; an empty one where there is none."""
    found = value.get(name)
    return found if isinstance(found, dict) else {}


def name(value: object) -> str | None:
    """Return an identifier, a status or an address; None for a value that cannot be one."""
    if not isinstance(value, str) or not 0 < len(value) <= NAME_LENGTH:
        return None
    return value if value.isprintable() else None


def number(value: object, most: int) -> int | None:
    """Return a positive number, written as one or as a text; None for any other value."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= 20:
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= most else None


def charge(amount: object, currency: object) -> Charge | None:
    """Return the amount that was charged, without its sign; None where the carrier does not say."""
    code = name(currency)
    if not isinstance(amount, str) or len(amount) > 20 or code is None or len(code) != 3:
        return None
    try:
        value = abs(Decimal(amount))
    except InvalidOperation:
        return None
    return Charge(value, code.upper()) if value.is_finite() and value < MOST_AMOUNT else None


def text(value: object) -> str:
    """Return the text of a message as PostgreSQL can store it: without NUL."""
    return value.replace("\x00", "\ufffd") if isinstance(value, str) else ""


def require(value: str | None, field: str) -> str:
    """Return a value; raise `MalformedCallback` where it is missing."""
    if value is None:
        raise MalformedCallback(f"the field {field} is missing or invalid")
    return value


def reference(value: object) -> int | None:
    """Return our reference in the address of a callback; None where it holds none."""
    return number(value, MOST_REFERENCE - 1)


def is_link(value: object) -> bool:
    """Tell whether a value is a link to a file of an MMS: a web address at a public name, of ordinary length."""
    return isinstance(value, str) and len(value) <= LINK_LENGTH and bool(LINK.fullmatch(value))
