"""The carrier Twilio: https://www.twilio.com/docs/messaging/api."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from urllib.parse import quote, quote_plus, urlencode

from app.domain.carriers.carrier import (
    Accepted,
    Answer,
    CallbackAnswer,
    CallbackRequest,
    Capabilities,
    CarriedMessage,
    CarrierAccount,
    CarrierNumber,
    ConnectionRefused,
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
from app.providers.carriers.twilio.callbacks import (
    MOST_CODE,
    STATUSES,
    read_inbound,
    read_listed,
    read_media,
    read_present_status,
    read_status,
    read_time,
)
from app.providers.carriers.twilio.errors import CODES, OF_NUMBER, STILL_SENDING
from app.providers.carriers.twilio.settings import TwilioCredentials, TwilioSettings
from app.providers.carriers.twilio.signature import FORM, Verifier

VERSION = "/2010-04-01/Accounts"
PAGE, MOST_PAGES = 100, 20
INBOUND_PAGE, MOST_INBOUND_PAGES = 300, 50
"""The messages of people in a page, which has room for long ones, and the most pages that are read at once."""

MOST_NUMBERS = 10_000
SKEW = timedelta(days=1)
"""The difference of clocks for which a message may seem older than its hand-off.

It is long, because a message that is passed over is sent again, and one of another text is known by its id.
"""

LISTED_WITHIN = timedelta(minutes=2)
"""The time after a call without an answer for which its message may be missing in the list.

Twilio may still work on a request that has timed out here, or that it answered with a 5xx, and it does not say how soon
its list shows a message.
"""

LINE_TYPES: Mapping[object, LineType] = {
    "mobile": LineType.mobile,
    "landline": LineType.landline,
    "fixedVoip": LineType.voip,
    "nonFixedVoip": LineType.voip,
    "tollFree": LineType.toll_free,
}
"""The line types of Lookup v2; any other is unknown: https://www.twilio.com/docs/lookup/v2-api/line-type-intelligence."""


class TwilioCarrier:
    """A connection to Twilio."""

    capabilities = Capabilities(
        max_segments=24,
        handles_opt_out=True,
        lists_numbers=True,
        takes_short_codes=True,
        takes_alphanumeric=True,
        lists_within=LISTED_WITHIN,
        answers_status_queries=True,
        lists_inbound=True,
    )
    callback_answer = CallbackAnswer(200, "text/xml", b"<Response/>")

    def __init__(self, key: str, settings: TwilioSettings, credentials: TwilioCredentials, http: CarrierHttp) -> None:
        self.key = key
        self._account = f"{VERSION}/{credentials.account_sid}"
        self._verifier = _verifier(credentials)
        headers = {"authorization": _basic(credentials), "content-type": FORM, "accept": "application/json"}
        self._api = CarrierApi(http, settings.api_url, headers)
        self._lookups = CarrierApi(http, settings.lookups_url, headers)
        self.capabilities = replace(self.capabilities, shares_lookups=settings.shares_lookups)
        self._rest = _rest(settings, f"{http.callbacks_url(key)}/status?reference=")

    async def send(self, message: OutboundMessage) -> Answer:
        """Hand one message over. Twilio calls back with our reference, and stores the text without a change."""
        to, sender, body = map(quote_plus, (message.to_number, message.from_number, message.body))
        form = f"To={to}&From={sender}&Body={body}{self._rest}{message.reference}"
        reply = await self._api.call("POST", f"{self._account}/Messages.json", form.encode())
        return carrier_api.conclude(reply, _read_message, _refuse)

    async def find(self, message: OutboundMessage, since: datetime) -> Sequence[Accepted | Rejected]:
        """Look for a message of the same text between the same numbers, in all of their messages.

        Raise `ConnectionError` where they cannot all be listed. The list is not narrowed by `DateSent`, because a
        message that still waits at Twilio was not sent at any date.
        """
        query = urlencode({"To": message.to_number, "From": message.from_number, "PageSize": PAGE})
        pages = self._api.pages(f"{self._account}/Messages.json?{query}", self._next_page, MOST_PAGES)
        found = [each async for page in pages for each in carrier_api.objects(page.get("messages"))]
        read = [_read_message(each) for each in found if _may_be(each, message, since)]
        return [answer for answer in read if answer]

    async def query_status(self, message: CarriedMessage) -> Receipt | None:
        """Ask for a message by its SID; return None for one that Twilio has deleted."""
        said = await self._api.read_if_known(self._path_of(message.provider_message_id or ""))
        return read_present_status(said) if said else None

    async def list_inbound(self, number: str, since: datetime) -> Sequence[InboundMessage]:
        """List the messages to a number, the newest first, until one that is older."""
        fields = {"To": number, "DateSent>": f"{since.astimezone(UTC):%Y-%m-%d}", "PageSize": INBOUND_PAGE}

        def next_page(page: Record) -> str | None:
            is_last = any(_is_older(each.get("date_sent"), since) for each in carrier_api.objects(page.get("messages")))
            return None if is_last else self._next_page(page)

        pages = self._api.pages(f"{self._account}/Messages.json?{urlencode(fields)}", next_page, MOST_INBOUND_PAGES)
        found = [read_listed(each) async for page in pages for each in carrier_api.objects(page.get("messages"))]
        return [each for each in found if each and each.at and each.at >= since]

    async def find_media(self, message: InboundMessage) -> InboundMessage:
        """Ask for the list of the files of an MMS; their links are those of a callback."""
        path = self._path_of(message.provider_message_id).removesuffix(".json") + "/Media"
        files = read_media(f"{self._api.base_url}{path}", await self._api.read(f"{path}.json"))
        return replace(message, media=files, lacks_media=False)

    async def delete_copies(self, messages: Sequence[CarriedMessage]) -> None:
        """Delete messages; raise `ConnectionError` when Twilio is unreachable, or still delivers one."""
        for message in messages:
            if message.provider_message_id:
                reply = await self._api.delete(self._path_of(message.provider_message_id))
                if _code(reply) == STILL_SENDING:
                    raise ConnectionError("a message is still being delivered")

    async def check(self) -> CarrierAccount:
        """Ask Twilio for the account; raise `ConnectionRefused` or `ConnectionError`."""
        with carrier_api.refusals("Twilio"):
            said = await self._api.read(f"{self._account}.json")
        status = carrier_api.name(said.get("status")) or "unknown"
        if status != "active":
            raise ConnectionRefused(f"The account at Twilio is {status}.")
        return CarrierAccount(carrier_api.name(said.get("friendly_name")) or "", {"status": status})

    async def list_numbers(self) -> Sequence[CarrierNumber]:
        """Return the account's numbers that can send texts; raise `ConnectionRefused` or `ConnectionError`."""
        path = f"{self._account}/IncomingPhoneNumbers.json?PageSize={PAGE}"
        pages = self._api.pages(path, self._next_page, MOST_NUMBERS // PAGE)
        with carrier_api.refusals("Twilio"):
            found = [each async for page in pages for each in carrier_api.objects(page.get("incoming_phone_numbers"))]
        return [number for each in found if (number := _read_number(each))]

    async def lookup(self, phone: str) -> LookedUpNumber:
        """Ask Lookup v2 for the line; raise `CarrierBusy`, `ConnectionRefused` or `ConnectionError`."""
        path = f"/v2/PhoneNumbers/{quote(phone, safe='')}?Fields=line_type_intelligence"
        with carrier_api.refusals("Twilio"):
            return _read_line(await self._lookups.read(path))

    def find_signing_time(self, request: CallbackRequest) -> datetime | None:
        """Return None: Twilio signs no time."""
        return None

    def parse_receipts(self, request: CallbackRequest) -> list[Receipt]:
        """Verify and read a status callback; raise `BadSignature` or `MalformedCallback`."""
        return [read_status(request.url, self._verifier.verify(request))]

    def parse_inbound(self, request: CallbackRequest) -> list[InboundMessage]:
        """Verify and read an inbound callback; raise `BadSignature` or `MalformedCallback`."""
        return [read_inbound(self._verifier.verify(request))]

    async def close(self) -> None:
        """Close nothing: the client is the service's."""

    def _path_of(self, sid: str) -> str:
        return f"{self._account}/Messages/{quote(sid, safe='')}.json"

    def _next_page(self, page: Record) -> str | None:
        """Return the path of the next page; raise `ConnectionError` for an address outside the account."""
        following = page.get("next_page_uri")
        if following is None:
            return None
        if not isinstance(following, str) or not following.startswith(f"{self._account}/"):
            raise ConnectionError("the address of the next page is not one of the account")
        return following


def _rest(settings: TwilioSettings, status_url: str) -> str:
    """Return the fields that all hand-offs have; our reference ends them."""
    fields = {"SmartEncoded": "false"}
    if settings.messaging_service_sid:
        fields["MessagingServiceSid"] = settings.messaging_service_sid
    if settings.validity_seconds:
        fields["ValidityPeriod"] = str(settings.validity_seconds)
    return "&" + urlencode({**fields, "StatusCallback": status_url})


def _verifier(credentials: TwilioCredentials) -> Verifier:
    shared = credentials.webhook_secret
    return Verifier(credentials.auth_token.get_secret_value(), shared.get_secret_value() if shared else None)


def _basic(credentials: TwilioCredentials) -> str:
    user, secret = credentials.account_sid, credentials.auth_token
    if credentials.api_key_sid and credentials.api_key_secret:
        user, secret = credentials.api_key_sid, credentials.api_key_secret
    return "Basic " + base64.b64encode(f"{user}:{secret.get_secret_value()}".encode()).decode()


def _read_message(said: Record) -> Accepted | Rejected | None:
    """Return the state of a message in Twilio's answer; None where it cannot be read."""
    sid, status = carrier_api.name(said.get("sid")), carrier_api.name(said.get("status"))
    if sid is None or status is None:
        return None
    if STATUSES.get(status) is ReceiptStatus.failed:
        code = carrier_api.number(said.get("error_code"), MOST_CODE)
        failure = CODES.get(code or 0, FailureCode.carrier_error)
        return Rejected(failure, str(code) if code else status, provider_message_id=sid)
    return Accepted(
        sid,
        status,
        carrier_api.number(said.get("num_segments"), carrier_api.MOST_PARTS),
        carrier_api.charge(said.get("price"), said.get("price_unit")),
    )


def _read_number(said: Record) -> CarrierNumber | None:
    """Return a listed number that can send texts; None for any other."""
    number = carrier_api.name(said.get("phone_number"))
    can_send = carrier_api.child(said, "capabilities").get("sms") is True
    return CarrierNumber(number, carrier_api.name(said.get("friendly_name")) or "") if number and can_send else None


def _read_line(said: Record) -> LookedUpNumber:
    line = carrier_api.child(said, "line_type_intelligence")
    return LookedUpNumber(
        said.get("valid") is True,
        LINE_TYPES.get(carrier_api.name(line.get("type")), LineType.unknown),
        carrier_api.name(line.get("carrier_name")),
        carrier_api.country(said.get("country_code")),
    )


def _refuse(reply: Reply) -> Rejected:
    return carrier_api.reject(CODES, reply, _code(reply), OF_NUMBER)


def _code(reply: Reply) -> int | None:
    return carrier_api.number((carrier_api.read_object(reply.body) or {}).get("code"), MOST_CODE)


def _may_be(said: Record, message: OutboundMessage, since: datetime) -> bool:
    """Tell whether a listed message may be ours; a trial account's texts begin with a notice of Twilio."""
    if not str(said.get("direction")).startswith("outbound") or _is_older(said.get("date_created"), since - SKEW):
        return False
    body = said.get("body")
    return _is_redacted(body) or str(body).strip().endswith(message.body.strip())


def _is_redacted(body: object) -> bool:
    """Tell whether Twilio keeps the words of a message to itself, as it does for accounts that redact bodies."""
    return not isinstance(body, str) or not body.strip() or "redacted" in body.casefold()


def _is_older(date: object, since: datetime) -> bool:
    """Tell whether a date of RFC 2822 is certainly before a time."""
    at = read_time(date)
    return at is not None and at < since
