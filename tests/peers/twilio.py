"""Simulated Twilio: `python -m tests.peers.twilio --help`."""

import base64
import hashlib
import hmac
import re
import time
from collections.abc import Mapping
from dataclasses import replace
from email.utils import formatdate
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode

from tests.peers.carrier import (
    Callback,
    Message,
    Request,
    Response,
    Secrets,
    SimulatedCarrier,
    answer_json,
)
from tests.peers.scripts import Reply, code_of
from tests.peers.server import options, serve

FORM = "application/x-www-form-urlencoded"
SHARED_KEY = "webhooks_sharedkey_simulated"
PAGE = 50
MOST_BODY = 1600
MESSAGES = "Messages.json"
ENDED = frozenset({"delivered", "undelivered", "failed", "canceled"})
STATUS_OF_CODE = {20003: 401, 20429: 429, 14107: 429, 20404: 404}

HINTS = """Connect the service to this simulator, then send from a number of the account:
  account_sid {sid}
  auth_token  {token}
  api_url     URL
  lookups_url URL
Numbers of the account: {numbers}. Texts of people are posted to {inbound}.
Have a person write: curl URL/simulator/inbound -d '{{"from":"+14155550123","to":"{number}","text":"Hi"}}'
See what was handed off: curl URL/simulator/messages"""


class SimulatedTwilio(SimulatedCarrier):
    """Twilio's API of messages, numbers and lookups, for one account."""

    name = "twilio"
    statuses: Mapping[str, str] = {"sent": "sent", "delivered": "delivered", "failed": "undelivered"}
    limit_code = 20429

    def __init__(self, sid: str, secrets: Secrets, inbound_url: str, numbers: list[str], delay: float) -> None:
        super().__init__(secrets, inbound_url, numbers, delay)
        self.sid = sid
        self._account = f"/2010-04-01/Accounts/{sid}"

    async def answer(self, request: Request) -> Response:
        """Answer a call of the API."""
        if not self._is_ours(request.headers.get("authorization", "")):
            return self.refuse(20003)
        if request.path.startswith("/v2/PhoneNumbers/"):
            return self._look_up(unquote(request.path.rpartition("/")[2]))
        if request.path == f"{self._account}.json":
            return answer_json(200, {"sid": self.sid, "friendly_name": "Simulated", "status": "active", "type": "Full"})
        return await self._answer_of_account(request, request.path.removeprefix(f"{self._account}/"))

    def accept(self, message: Message) -> Response:
        """Return the answer to an accepted message."""
        return answer_json(201, self._show(message))

    def refuse(self, code: int, *, retry_after: int | None = None) -> Response:
        """Return the answer to a refused message."""
        status = STATUS_OF_CODE.get(code, 400)
        more = f"https://www.twilio.com/docs/errors/{code}"
        headers = ((b"retry-after", b"%d" % retry_after),) if retry_after else ()
        said = {"code": code, "message": "A simulated refusal", "more_info": more, "status": status}
        return answer_json(status, said, headers)

    def report(self, message: Message, status: str, code: int | None) -> Callback:
        """Return the callback that reports on a message."""
        fields = {
            "MessageSid": message.id,
            "SmsSid": message.id,
            "MessageStatus": status,
            "SmsStatus": status,
            "To": message.to_number,
            "From": message.from_number,
            "AccountSid": self.sid,
            "ApiVersion": "2010-04-01",
            **({"ErrorCode": str(code)} if code else {}),
        }
        return self._sign(message.callback_url, fields)

    def bring(self, id: str, from_number: str, to_number: str, reply: Reply) -> Callback:
        """Return the callback that brings a text of a person."""
        media = {f"MediaUrl{index}": url for index, url in enumerate(reply.media)}
        types = {f"MediaContentType{index}": "image/jpeg" for index in range(len(reply.media))}
        fields = {
            "MessageSid": id,
            "SmsSid": id,
            "AccountSid": self.sid,
            "From": from_number,
            "To": to_number,
            "Body": reply.text,
            "NumMedia": str(len(reply.media)),
            "NumSegments": "1",
            "FromCountry": "US",
            "ApiVersion": "2010-04-01",
            **media,
            **types,
            **({"OptOutType": reply.keyword} if reply.keyword else {}),
        }
        return self._sign(self.inbound_url, fields)

    def forge(self, callback: Callback) -> Callback:
        """Return a callback with a wrong signature."""
        return replace(callback, headers={**callback.headers, "X-Twilio-Signature": "Zm9yZ2VkIHNpZ25hdHVyZSE="})

    def is_reported(self, number: str) -> bool:
        """Tell whether the error code in a number is one of reports, and not one of refusals."""
        return code_of(number) >= 30000

    def new_id(self, number: int) -> str:
        """Return the id of a message."""
        return f"SM{number:032x}"

    def _is_ours(self, authorization: str) -> bool:
        given = base64.b64decode(authorization.removeprefix("Basic ")).decode(errors="replace")
        user, _, secret = given.partition(":")
        return user == self.sid and secret in self.secrets.accepted

    async def _answer_of_account(self, request: Request, path: str) -> Response:
        if found := re.fullmatch(r"Messages/(\w+)\.json", path):
            return self._one(request.method, found[1])
        match request.method, path:
            case "POST", "Messages.json":
                return await self._create(request)
            case "GET", "Messages.json":
                return self._list(request)
            case "GET", "IncomingPhoneNumbers.json":
                return self._page(request, "incoming_phone_numbers", [self._number(each) for each in self.numbers])
            case _:
                return self.refuse(20404)

    async def _create(self, request: Request) -> Response:
        if request.headers.get("content-type") != FORM:
            return Response(415)
        said = dict(parse_qsl(request.body.decode(), keep_blank_values=True))
        body = said.get("Body", "")
        if not said.get("To"):
            return self.refuse(21604)
        if not (said.get("From") or said.get("MessagingServiceSid")):
            return self.refuse(21603)
        if not body or len(body) > MOST_BODY:
            return self.refuse(21617 if body else 21602)
        url = said.get("StatusCallback", "")
        return await self.take(Message(self.next_id(), said.get("From", ""), said["To"], body, url))

    def _list(self, request: Request) -> Response:
        wanted = {"To": "to_number", "From": "from_number"}
        given = {name: request.query[key] for key, name in wanted.items() if key in request.query}
        found = [
            self._show(each)
            for each in reversed(self.messages.values())
            if all(getattr(each, name) == value for name, value in given.items())
        ]
        return self._page(request, "messages", found)

    def _page(self, request: Request, name: str, items: list[dict[str, Any]]) -> Response:
        size, page = int(request.query.get("PageSize", PAGE)), int(request.query.get("Page", 0))
        rest = items[page * size :]
        query = urlencode({**request.query, "Page": page + 1, "PageToken": f"PA{page + 1}"})
        following = f"{request.path}?{query}" if len(rest) > size else None
        return answer_json(200, {name: rest[:size], "page": page, "page_size": size, "next_page_uri": following})

    def _one(self, method: str, id: str) -> Response:
        message = self.messages.get(id)
        if message is None:
            return self.refuse(20404)
        if method != "DELETE":
            return answer_json(200, self._show(message))
        if message.status not in ENDED:
            return self.refuse(20009)
        self.deleted.append(self.messages.pop(id).id)
        return Response(204)

    def _look_up(self, number: str) -> Response:
        if code := code_of(number):
            return self.refuse(code)
        line = {"type": "mobile", "carrier_name": "Simulated Mobile", "mobile_country_code": "310", "error_code": None}
        return answer_json(
            200, {"phone_number": number, "country_code": "US", "valid": True, "line_type_intelligence": line}
        )

    def _number(self, number: str) -> dict[str, Any]:
        return {
            "sid": f"PN{self.numbers.index(number):032x}",
            "phone_number": number,
            "friendly_name": number,
            "capabilities": {"sms": True, "mms": True, "voice": True, "fax": False},
        }

    def _show(self, message: Message) -> dict[str, Any]:
        ended = message.status in ENDED
        return {
            "sid": message.id,
            "account_sid": self.sid,
            "to": message.to_number,
            "from": message.from_number,
            "body": message.body,
            "status": message.status,
            "direction": "outbound-api",
            "num_segments": str(message.parts),
            "num_media": "0",
            "price": "-0.00790" if ended else None,
            "price_unit": "USD",
            "error_code": message.code,
            "error_message": None,
            "date_created": _date(message.at),
            "date_updated": _date(time.time()),
            "date_sent": _date(message.at) if message.status != "queued" else None,
            "api_version": "2010-04-01",
            "uri": f"{self._account}/Messages/{message.id}.json",
            "messaging_service_sid": None,
            "subresource_uris": {"media": f"{self._account}/Messages/{message.id}/Media.json"},
        }

    def _sign(self, url: str, fields: dict[str, str]) -> Callback:
        signed = url + "".join(key + fields[key] for key in sorted(fields))
        digest = hashlib.sha256 if self.secrets.is_sha256 else hashlib.sha1
        signature = hmac.new(self.secrets.signing.encode(), signed.encode(), digest).digest()
        headers = {
            "Content-Type": FORM,
            "User-Agent": "TwilioProxy/1.1",
            "X-Twilio-Signature": base64.b64encode(signature).decode(),
        }
        if self.secrets.is_sha256:
            headers["X-Twilio-Webhooks-Signature-Settings"] = f"key={SHARED_KEY},algorithm=HMAC_SHA256"
        return Callback(url, headers, urlencode(fields).encode())


def _date(seconds: float) -> str:
    return formatdate(seconds).replace("-0000", "+0000")


def main() -> None:
    """Run the simulator."""
    parser = options("twilio", 8471, "21610 (opted out) or 30003 (unreachable)")
    parser.add_argument("--account-sid", default="AC" + "0" * 32, help="(default: %(default)s)")
    parser.add_argument("--auth-token", default="simulated", help="(default: %(default)s)")
    given = parser.parse_args()
    numbers = given.number or ["+14155550100"]
    secrets = Secrets({given.auth_token}, given.auth_token)
    carrier = SimulatedTwilio(given.account_sid, secrets, given.inbound_url, numbers, given.delay)
    hints = HINTS.format(
        sid=given.account_sid,
        token=given.auth_token,
        numbers=", ".join(numbers),
        inbound=given.inbound_url,
        number=numbers[0],
    )
    serve(carrier, given.port, hints)


if __name__ == "__main__":
    main()
