"""Reports to the running service, for the command `messaging sandbox`."""

import secrets
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import httpx2

from app.domain.messages.carrier import FailureCode, ReceiptStatus
from app.providers.carriers.sandbox.callbacks import Callback, Kind, Payload, inbound_payload, post, status_payload
from app.providers.http import open_client


class NotReported(Exception):
    """The service did not take a report; the text says why and what to do."""


@dataclass(frozen=True, slots=True)
class Service:
    """The running service: its address, the secret that signs reports, and its own certificate, if it has one."""

    url: str
    secret: bytes
    certificate: Path | None = None


async def report_inbound(service: Service, from_number: str, to_number: str, text: str) -> None:
    """Tell the service that a person texted one of its numbers; raise `NotReported`."""
    payload = inbound_payload(f"sbx_in_{secrets.token_hex(8)}", from_number, to_number, text)
    await _report(service, "inbound", payload)


async def report_status(
    service: Service, reference: int, status: ReceiptStatus, code: FailureCode | None = None
) -> None:
    """Tell the service what became of a message; a failure without a code is a `carrier_error`. Raise `NotReported`."""
    if status is ReceiptStatus.failed and code is None:
        code = FailureCode.carrier_error
    await _report(service, "status", status_payload(reference, status, code))


async def _report(service: Service, kind: Kind, payload: Payload) -> None:
    now = time.time()
    callback = Callback(kind, payload, datetime.fromtimestamp(now, UTC))
    try:
        async with open_client(service.certificate) as client:
            response = await post(client, service.url, service.secret, callback, now)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise NotReported(f"No answer from {service.url}: {error}. Is the service running there?") from error
    if not response.is_success:
        raise NotReported(f"{service.url} refused the report with status {response.status_code}: {response.text[:200]}")
