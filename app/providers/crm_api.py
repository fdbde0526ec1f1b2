"""Calls of the JSON APIs of CRMs, with their failures as errors of the domain."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import orjson

from app.domain.crm.connector import CrmAway, CrmGone, CrmRefused, CrmUnauthorized
from app.providers import vendor_json as fields
from app.providers.outbound.client import HttpClient

SECONDS = 10.0
KEPT = 4 * 1024 * 1024
JSON, FORM = "application/json", "application/x-www-form-urlencoded"


class AnsweredRefusal(CrmRefused):
    """A refusal with the object that the CRM answered; an empty one for an empty answer."""

    def __init__(self, reason: str, answer: Mapping[str, Any]) -> None:
        super().__init__(reason)
        self.answer = answer


@dataclass(frozen=True, slots=True)
class Api:
    """The API of a CRM at an address, with the time for each answer."""

    client: HttpClient
    url: str
    seconds: float = SECONDS

    async def send_form(self, path: str, form: Mapping[str, str]) -> Mapping[str, Any]:
        """Post a form, and return the JSON object of the answer."""
        return await self._send("POST", path, {"content-type": FORM}, urlencode(form).encode())

    async def send(
        self, method: str, path: str, headers: Mapping[str, str], body: Mapping[str, Any] | None = None
    ) -> Mapping[str, Any]:
        """Send JSON, and return the JSON object of the answer; an empty one for an empty answer.

        Raises `CrmUnauthorized` for 401, `CrmGone` for 404 and 410, `CrmAway` for 408, 429, 5xx, no answer and one that
        is not JSON, and `AnsweredRefusal` for any other refusal.
        """
        content = b"" if body is None else orjson.dumps(body)
        return await self._send(method, path, {**headers, "content-type": JSON}, content)

    async def _send(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Mapping[str, Any]:
        accepted = {"accept": JSON, **headers}
        if method == "DELETE" and body:
            accepted["content-length"] = str(len(body))
        reply = await self.client.send(method, f"{self.url}{path}", accepted, body, seconds=self.seconds, kept=KEPT)
        status = reply.status
        if status is None:
            raise CrmAway(f"The CRM gave no answer: {reply.error}.")
        if status in (408, 425, 429) or status >= 500:
            raise CrmAway(_reason(status, _said(reply.body)), reply.retry_after)
        answer = _object(status, reply.body)
        if status == 401:
            raise CrmUnauthorized(_reason(status, answer))
        if status in (404, 410):
            raise CrmGone(_reason(status, answer))
        if not 200 <= status < 300:
            raise AnsweredRefusal(_reason(status, answer), answer)
        return answer


def _object(status: int, body: bytes) -> Mapping[str, Any]:
    """Return the object of an answer; raise `CrmAway` for one that cannot be read, because it may be of a proxy.

    The page of a proxy, such as one with 403 or 404, withdraws no authorization and deletes no contact.
    """
    try:
        return fields.load(body) if body.strip() else {}
    except fields.NotThere:
        raise CrmAway(f"The CRM answered {status}, with something that is not a JSON object.") from None


def _said(body: bytes) -> Mapping[str, Any]:
    """Return the object of a failure; an empty one where there is none."""
    try:
        return fields.load(body)
    except fields.NotThere:
        return {}


def _reason(status: int, answer: Mapping[str, Any]) -> str:
    """Return a sentence with the reason that an answer gives."""
    listed = answer.get("message")
    said = "; ".join(map(str, listed)) if isinstance(listed, list) else fields.text(answer, "message")
    said = (said or fields.text(answer, "error_description") or fields.text(answer, "error"))[:300].rstrip(".")
    return f"The CRM answered {status}: {said}." if said else f"The CRM answered {status}."
