"""Reports to the running service, for the command `messaging sandbox`."""

import secrets
import time
from datetime import UTC, datetime

import httpx2

from app.domain.messages.carrier import FailureCode, ReceiptStatus
from app.providers.carriers.sandbox.callbacks import Callback, Kind, Payload, inbound_payload, post, status_payload
from app.providers.http import open_client


class NotReported(Exception):
    """The service did not take a report; the text says why and what to do."""


async def report_inbound(base_url: str, secret: bytes, from_number: str, to_number: str, text: str) -> None:
    """Tell the service that a person texted one of its numbers; raise `NotReported`."""
    payload = inbound_payload(f"sbx_in_{secrets.token_hex(8)}", from_number, to_number, text)
    await _report(base_url, secret, "inbound", payload)


async def report_status(
    base_url: str, secret: bytes, reference: int, status: ReceiptStatus, code: FailureCode | None = None
) -> None:
    """Tell the service what became of a message; a failure without a code is a `carrier_error`. Raise `NotReported`."""
    if status is ReceiptStatus.failed and code is None:
        code = FailureCode.carrier_error
    await _report(base_url, secret, "status", status_payload(reference, status, code))


async def _report(base_url: str, secret: bytes, kind: Kind, payload: Payload) -> None:
    now = time.time()
    callback = Callback(kind, payload, datetime.fromtimestamp(now, UTC))
    try:
        async with open_client() as client:
            response = await post(client, base_url, secret, callback, now)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise NotReported(f"No answer from {base_url}: {error}. Is the service running there?") from error
    if not response.is_success:
        raise NotReported(f"{base_url} refused the report with status {response.status_code}: {response.text[:200]}")
