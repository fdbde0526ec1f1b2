"""The carrier Telnyx: https://developers.telnyx.com/docs/messaging."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from urllib.parse import quote, urlencode

import orjson

from app.domain.carriers.carrier import (
    Accepted,
    Answer,
    CallbackAnswer,
    CallbackRequest,
    Capabilities,
    CarriedMessage,
    CarrierAccount,
    CarrierNumber,
    FailureCode,
    InboundMessage,
    LookedUpNumber,
    OutboundMessage,
    Receipt,
    ReceiptStatus,
    Rejected,
)
from app.domain.kernel.phone import LineType
from app.domain.webhooks.poster import Reply
from app.providers import carrier_api
from app.providers.carrier_api import CarrierApi, CarrierHttp, Record
from app.providers.carriers.telnyx.callbacks import (
    MOST_CODE,
    STATUSES,
    error_code,
    failure,
    read_inbound,
    read_present_status,
    read_status,
    reference,
)
from app.providers.carriers.telnyx.errors import CODES, OF_NUMBER
from app.providers.carriers.telnyx.settings import TelnyxCredentials, TelnyxSettings
from app.providers.carriers.telnyx.signature import read_key, signing_time, verify

PAGE, MOST_PAGES = 50, 20
MOST_NUMBERS = 10_000
SKEW = timedelta(minutes=1)
Query = dict[str, str | int]
RECORD_URL = "delivery_status_webhook_url"
"""The field of a detail record that holds the address for the events of a message, and so our reference."""

RECORD_FAILURES = frozenset({"gw_timeout", "gw_reject", "failed"})

LINE_TYPES: Mapping[object, LineType] = {
    "mobile": LineType.mobile,
    "fixed line": LineType.landline,
    "voip": LineType.voip,
    "toll free": LineType.toll_free,
}
"""The line types of number lookup; any other is unknown: https://developers.telnyx.com/api/number-lookup."""


class TelnyxCarrier:
    """A connection to Telnyx."""

    capabilities = Capabilities(
        max_segments=10,
        handles_opt_out=True,
        lists_numbers=True,
        takes_short_codes=True,
        takes_alphanumeric=True,
        answers_status_queries=True,
    )
    callback_answer = CallbackAnswer(200)

    def __init__(self, key: str, settings: TelnyxSettings, credentials: TelnyxCredentials, http: CarrierHttp) -> None:
        self.key = key
        self._status_url = f"{http.callbacks_url(key)}/status?reference="
        self._public_key = read_key(credentials.public_key)
        self._now = http.now
        headers = {
            "authorization": f"Bearer {credentials.api_key.get_secret_value()}",
            "content-type": "application/json",
            "accept": "application/json",
        }
        self._api = CarrierApi(http, settings.api_url, headers)
        self.capabilities = replace(self.capabilities, shares_lookups=settings.shares_lookups)
        self._profile = settings.messaging_profile_id
        self._fixed: Record = {"use_profile_webhooks": False}
        if self._profile:
            self._fixed["messaging_profile_id"] = self._profile

    async def send(self, message: OutboundMessage) -> Answer:
        """Hand one message over. Telnyx calls back at an address of this message alone, and repeats it in events."""
        body = {
            "from": message.from_number,
            "to": message.to_number,
            "text": message.body,
            "webhook_url": f"{self._status_url}{message.reference}",
            **self._fixed,
        }
        reply = await self._api.call("POST", "/messages", orjson.dumps(body))
        return carrier_api.conclude(reply, _read_message, _refuse)

    async def find(self, message: OutboundMessage, since: datetime) -> Sequence[Accepted | Rejected]:
        """Look for the detail record of a message with our reference; raise `ConnectionError` where there is none.

        Telnyx writes detail records some time after it has accepted a message, and does not say when. It has no other
        list, so that a missing record proves nothing.
        """
        query: Query = {
            "filter[record_type]": "messaging",
            "filter[direction]": "outbound",
            "filter[cli]": message.from_number,
            "filter[cld]": message.to_number,
            "filter[created_at][gte]": (since - SKEW).date().isoformat(),
        }
        records = [each async for page in self._pages("/detail_records", query) for each in page]
        found = [_read_record(each) for each in records if reference(each.get(RECORD_URL)) == message.reference]
        if not (answers := [answer for answer in found if answer]):
            raise ConnectionError("there is no detail record of the message, or none yet")
        return answers

    async def query_status(self, message: CarriedMessage) -> Receipt | None:
        """Ask for a message by its id; return None for one that Telnyx has no longer."""
        said = await self._api.read_if_known(f"/messages/{quote(message.provider_message_id or '', safe='')}")
        return read_present_status(carrier_api.child(said, "data")) if said else None

    async def list_inbound(self, number: str, since: datetime) -> Sequence[InboundMessage]:
        """Return none: Telnyx lists no messages, and repeats a callback that has failed."""
        return ()

    async def find_media(self, message: InboundMessage) -> InboundMessage:
        """Return the message: none is listed."""
        return message

    async def delete_copies(self, messages: Sequence[CarriedMessage]) -> None:
        """Delete nothing: Telnyx deletes no single message, and its own copies after the time it has fixed."""

    async def check(self) -> CarrierAccount:
        """Ask Telnyx for numbers and the messaging profile; raise `ConnectionRefused` or `ConnectionError`."""
        with carrier_api.refusals("Telnyx"):
            page = await self._api.read("/phone_numbers/messaging?" + urlencode({"page[size]": 1}))
            profile = await self._api.read(f"/messaging_profiles/{self._profile}") if self._profile else {}
        total = carrier_api.number(carrier_api.child(page, "meta").get("total_results"), MOST_NUMBERS) or 0
        profile_name = carrier_api.name(carrier_api.child(profile, "data").get("name"))
        return CarrierAccount(profile_name or "", {"numbers": str(total)})

    async def list_numbers(self) -> Sequence[CarrierNumber]:
        """Return the account's numbers that can send texts; raise `ConnectionRefused` or `ConnectionError`."""
        query: Query = {"filter[messaging_profile_id]": self._profile} if self._profile else {}
        pages = self._pages("/phone_numbers/messaging", query, MOST_NUMBERS // PAGE)
        with carrier_api.refusals("Telnyx"):
            found = [each async for page in pages for each in page]
        return [number for each in found if (number := _read_number(each))]

    async def lookup(self, phone: str) -> LookedUpNumber:
        """Ask number lookup for the line; raise `CarrierBusy`, `ConnectionRefused` or `ConnectionError`."""
        reply = await self._api.call("GET", f"/number_lookup/{quote(phone, safe='')}?type=carrier")
        if 400 <= (reply.status or 0) < 500 and _refuse(reply).code is FailureCode.invalid_number:
            return LookedUpNumber(is_valid=False)
        with carrier_api.refusals("Telnyx"):
            return _read_line(carrier_api.child(carrier_api.read_answer(reply), "data"))

    def find_signing_time(self, request: CallbackRequest) -> datetime | None:
        """Return the time that the signature covers."""
        return signing_time(request)

    def parse_receipts(self, request: CallbackRequest) -> list[Receipt]:
        """Verify and read a status callback; raise `BadSignature` or `MalformedCallback`."""
        verify(self._public_key, request, self._now())
        return read_status(request.body)

    def parse_inbound(self, request: CallbackRequest) -> list[InboundMessage]:
        """Verify and read an inbound callback; raise `BadSignature` or `MalformedCallback`."""
        verify(self._public_key, request, self._now())
        return read_inbound(request.body)

    async def close(self) -> None:
        """Close nothing: the client is the service's."""

    async def _pages(self, path: str, query: Query, most: int = MOST_PAGES) -> AsyncIterator[list[Record]]:
        """Read all records of a list, page by page; raise `ConnectionError` where that fails."""

        def at(page: int) -> str:
            return f"{path}?{urlencode({**query, 'page[number]': page, 'page[size]': PAGE})}"

        def following(page: Record) -> str | None:
            meta = carrier_api.child(page, "meta")
            number = carrier_api.number(meta.get("page_number"), most) or 1
            return at(number + 1) if number < (carrier_api.number(meta.get("total_pages"), 10**9) or 0) else None

        async for page in self._api.pages(at(1), following, most):
            yield carrier_api.objects(page.get("data"))


def _read_message(said: Record) -> Accepted | Rejected | None:
    """Return the state of a message in Telnyx's answer; None where it cannot be read."""
    message = carrier_api.child(said, "data")
    id, to = carrier_api.name(message.get("id")), carrier_api.objects(message.get("to"))
    status = carrier_api.name(to[0].get("status")) if to else None
    if id is None or status is None:
        return None
    if STATUSES.get(status) is ReceiptStatus.failed:
        code = error_code(message)
        return Rejected(failure(status, code), str(code) if code else status)
    cost = carrier_api.child(message, "cost")
    parts = carrier_api.number(message.get("parts"), carrier_api.MOST_PARTS)
    return Accepted(id, status, parts, carrier_api.charge(cost.get("amount"), cost.get("currency")))


def _read_record(said: Record) -> Accepted | Rejected | None:
    """Return the state of a message in a detail record; None where it cannot be read."""
    id, status = carrier_api.name(said.get("uuid")), carrier_api.name(said.get("status"))
    if id is None or status is None:
        return None
    if status in RECORD_FAILURES:
        errors = said.get("errors")
        code = carrier_api.number(errors[0], MOST_CODE) if isinstance(errors, list) and errors else None
        return Rejected(failure(status, code), str(code) if code else status)
    parts = carrier_api.number(said.get("parts"), carrier_api.MOST_PARTS)
    return Accepted(id, status, parts, carrier_api.charge(said.get("cost"), said.get("currency")))


def _read_number(said: Record) -> CarrierNumber | None:
    number = carrier_api.name(said.get("phone_number"))
    return CarrierNumber(number) if number else None


def _read_line(said: Record) -> LookedUpNumber:
    """Read a looked-up number; it is valid unless Telnyx denies it."""
    line = carrier_api.child(said, "carrier")
    return LookedUpNumber(
        said.get("valid_number") is not False,
        LINE_TYPES.get(carrier_api.name(line.get("type")), LineType.unknown),
        carrier_api.name(line.get("name")),
        carrier_api.country(said.get("country_code")),
    )


def _refuse(reply: Reply) -> Rejected:
    return carrier_api.reject(CODES, reply, error_code(carrier_api.read_object(reply.body) or {}), OF_NUMBER)
