"""Simulated Telnyx: `python -m tests.peers.telnyx --help`."""

import base64
import re
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote
from uuid import UUID

import orjson
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

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

PROFILE = "16fd2706-8baf-433b-82eb-8c7fada847da"
STATUS_OF_CODE = {10009: 401, 10011: 429, 10005: 404, 40300: 409}
RECORD_STATUSES = {"delivered": "delivered", "delivery_failed": "failed", "sent": "dlr_unconfirmed"}

HINTS = """Connect the service to this simulator, then send from a number of the account:
  api_key     {key}
  public_key  {public}
  api_url     URL/v2
Numbers of the account: {numbers}. Texts of people are posted to {inbound}.
Have a person write: curl URL/simulator/inbound -d '{{"from":"+14155550123","to":"{number}","text":"Hi"}}'
See what was handed off: curl URL/simulator/messages"""


class SimulatedTelnyx(SimulatedCarrier):
    """Telnyx's API of messages, detail records, numbers and lookups."""

    name = "telnyx"
    statuses: Mapping[str, str] = {"sent": "sent", "delivered": "delivered", "failed": "delivery_failed"}
    limit_code = 10011

    def __init__(self, secrets: Secrets, inbound_url: str, numbers: list[str], delay: float) -> None:
        super().__init__(secrets, inbound_url, numbers, delay)
        self._lists = {
            "/detail_records": self._records,
            "/phone_numbers/messaging": lambda _: [self._number(each) for each in self.numbers],
        }

    async def answer(self, request: Request) -> Response:
        """Answer a call of the API."""
        if request.headers.get("authorization", "").removeprefix("Bearer ") not in self.secrets.accepted:
            return self.refuse(10009)
        path = request.path.removeprefix("/v2")
        if (request.method, path) == ("POST", "/messages"):
            return await self._create(request)
        if path in self._lists:
            return self._page(request, self._lists[path](request))
        if found := re.fullmatch(r"/messages/([0-9a-f-]{36})", path):
            message = self.messages.get(found[1])
            return answer_json(200, {"data": self._show(message)}) if message else self.refuse(10005)
        return self._answer_one(*path.rpartition("/")[::2])

    def accept(self, message: Message) -> Response:
        """Return the answer to an accepted message."""
        return answer_json(200, {"data": self._show(message)})

    def refuse(self, code: int, *, retry_after: int | None = None) -> Response:
        """Return the answer to a refused message."""
        headers = ((b"retry-after", b"%d" % retry_after),) if retry_after else ()
        error = {"code": str(code), "title": "A simulated refusal", "detail": "", "meta": {}}
        return answer_json(STATUS_OF_CODE.get(code, 400), {"errors": [error]}, headers)

    def report(self, message: Message, status: str, code: int | None) -> Callback:
        """Return the callback that reports on a message."""
        kind = "message.sent" if status == "sent" else "message.finalized"
        payload = self._show(replace(message, status=status, code=code))
        return self._sign(message.callback_url, kind, payload)

    def bring(self, id: str, from_number: str, to_number: str, reply: Reply) -> Callback:
        """Return the callback that brings a text of a person."""
        payload = {
            "id": id,
            "record_type": "message",
            "direction": "inbound",
            "type": "MMS" if reply.media else "SMS",
            "messaging_profile_id": PROFILE,
            "from": {"phone_number": from_number, "carrier": "", "line_type": "Wireless"},
            "to": [{"phone_number": to_number, "status": "webhook_delivered"}],
            "text": reply.text,
            "media": [{"url": url, "content_type": "image/jpeg", "size": 1} for url in reply.media],
            "received_at": _time(time.time()),
            "parts": 1,
            "errors": [],
            **({"autoresponse_type": reply.keyword} if reply.keyword else {}),
        }
        return self._sign(self.inbound_url, "message.received", payload)

    def forge(self, callback: Callback) -> Callback:
        """Return a callback with a wrong signature."""
        wrong = base64.b64encode(bytes(64)).decode()
        return replace(callback, headers={**callback.headers, "telnyx-signature-ed25519": wrong})

    def is_reported(self, number: str) -> bool:
        """Tell whether the error code in a number is one of reports, and not one of refusals."""
        return 40000 <= code_of(number) < 40100

    def new_id(self, number: int) -> str:
        """Return the id of a message."""
        return str(UUID(int=number))

    def _answer_one(self, path: str, id: str) -> Response:
        id = unquote(id)
        line = {"name": "Simulated Mobile", "type": "mobile", "mobile_country_code": "310"}
        known = {
            "/messaging_profiles": {"id": id, "name": "Simulated", "enabled": True},
            "/number_lookup": {"phone_number": id, "country_code": "US", "valid_number": True, "carrier": line},
        }
        if code := code_of(id):
            return self.refuse(code)
        return answer_json(200, {"data": known[path]}) if path in known else self.refuse(10005)

    async def _create(self, request: Request) -> Response:
        said = orjson.loads(request.body)
        if not said.get("to"):
            return self.refuse(10004)
        if not (said.get("from") or said.get("messaging_profile_id")):
            return self.refuse(40305)
        if not said.get("text"):
            return self.refuse(40316)
        url = said.get("webhook_url", "")
        return await self.take(Message(self.next_id(), said.get("from", ""), said["to"], said["text"], url))

    def _records(self, request: Request) -> list[dict[str, Any]]:
        cli, cld = request.query.get("filter[cli]"), request.query.get("filter[cld]")
        return [
            {
                "record_type": "message_detail_record",
                "uuid": each.id,
                "cli": each.from_number,
                "cld": each.to_number,
                "direction": "outbound",
                "status": RECORD_STATUSES[each.status],
                "parts": each.parts,
                "cost": "0.0051",
                "currency": "USD",
                "created_at": _time(each.at),
                "delivery_status_webhook_url": each.callback_url,
                "errors": [str(each.code)] if each.code else [],
            }
            for each in reversed(self.messages.values())
            if each.status in RECORD_STATUSES and (cli, cld) == (each.from_number, each.to_number)
        ]

    def _page(self, request: Request, items: list[dict[str, Any]]) -> Response:
        size, page = int(request.query.get("page[size]", 20)), int(request.query.get("page[number]", 1))
        pages = -(-len(items) // size)
        meta = {"total_pages": pages, "total_results": len(items), "page_number": page, "page_size": size}
        return answer_json(200, {"data": items[(page - 1) * size : page * size], "meta": meta})

    def _number(self, number: str) -> dict[str, Any]:
        return {
            "record_type": "messaging_settings",
            "id": str(self.numbers.index(number)),
            "phone_number": number,
            "messaging_profile_id": PROFILE,
            "country_code": "US",
            "type": "long-code",
        }

    def _show(self, message: Message) -> dict[str, Any]:
        errors = [{"code": str(message.code), "title": "A simulated failure"}] if message.code else []
        return {
            "record_type": "message",
            "direction": "outbound",
            "id": message.id,
            "type": "SMS",
            "messaging_profile_id": PROFILE,
            "from": {"phone_number": message.from_number, "carrier": "Telnyx", "line_type": "Wireless"},
            "to": [{"phone_number": message.to_number, "status": message.status, "carrier": "", "line_type": ""}],
            "text": message.body,
            "media": [],
            "webhook_url": message.callback_url,
            "encoding": "GSM-7",
            "parts": message.parts,
            "cost": {"amount": "0.0051", "currency": "USD"},
            "received_at": _time(message.at),
            "sent_at": None,
            "completed_at": None,
            "errors": errors,
        }

    def _sign(self, url: str, kind: str, payload: dict[str, Any]) -> Callback:
        now = time.time()
        event = {
            "record_type": "event",
            "id": self.next_id(),
            "event_type": kind,
            "occurred_at": _time(now),
            "payload": payload,
        }
        body = orjson.dumps({"data": event, "meta": {"attempt": 1, "delivered_to": url}})
        key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(self.secrets.signing))
        signature = base64.b64encode(key.sign(b"%d|" % int(now) + body)).decode()
        headers = {
            "content-type": "application/json",
            "telnyx-signature-ed25519": signature,
            "telnyx-timestamp": str(int(now)),
        }
        return Callback(url, headers, body)


def public_key(seed: str) -> str:
    """Return the public key of a private one in hex, as the portal shows it."""
    key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(seed))
    return base64.b64encode(key.public_key().public_bytes_raw()).decode()


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def main() -> None:
    """Run the simulator."""
    parser = options("telnyx", 8472, "40300 (opted out) or 40006 (unreachable)")
    parser.add_argument("--api-key", default="KEYsimulated", help="(default: %(default)s)")
    parser.add_argument("--signing-key", default=bytes(range(32)).hex(), help="32 bytes in hex, of Ed25519")
    given = parser.parse_args()
    numbers = given.number or ["+14155550100"]
    carrier = SimulatedTelnyx(Secrets({given.api_key}, given.signing_key), given.inbound_url, numbers, given.delay)
    hints = HINTS.format(
        key=given.api_key,
        public=public_key(given.signing_key),
        numbers=", ".join(numbers),
        inbound=given.inbound_url,
        number=numbers[0],
    )
    serve(carrier, given.port, hints)


if __name__ == "__main__":
    main()
