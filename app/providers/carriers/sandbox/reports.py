"""Reports to the running service, for the command `messaging sandbox`."""

import secrets
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from app.domain.carriers.carrier import FailureCode, ReceiptStatus
from app.providers.carriers.sandbox.callbacks import (
    Callback,
    Kind,
    Payload,
    inbound_payload,
    open_poster,
    post,
    status_payload,
)


class NotReported(Exception):
    """The service did not accept a report; the text gives the reason and what to do."""


@dataclass(frozen=True, slots=True)
class Service:
    """The running service: its URL, its connection, the secret that signs its reports, and the certificate, if any."""

    url: str
    carrier: str
    secret: bytes
    certificate: Path | None = None


async def report_inbound(service: Service, from_number: str, to_number: str, text: str) -> None:
    """Report an inbound message to the service; raise `NotReported`."""
    payload = inbound_payload(f"sbx_in_{secrets.token_hex(8)}", from_number, to_number, text)
    await _report(service, "inbound", payload)


async def report_status(
    service: Service, reference: int, status: ReceiptStatus, code: FailureCode | None = None
) -> None:
    """Report the status of a message to the service; a failure has `carrier_error` by default. Raise `NotReported`."""
    if status is ReceiptStatus.failed and code is None:
        code = FailureCode.carrier_error
    await _report(service, "status", status_payload(reference, status, code))


async def _report(service: Service, kind: Kind, payload: Payload) -> None:
    now = time.time()
    callback = Callback(kind, payload, datetime.fromtimestamp(now, UTC), service.carrier)
    async with open_poster(service.certificate) as poster:
        reply = await post(poster, service.url, service.secret, callback, now)
    if reply.status is None:
        raise NotReported(f"No answer from {service.url} ({reply.error}). Is the service running there?")
    if not reply.is_success:
        text = reply.body.decode(errors="replace")
        raise NotReported(f"{service.url} refused the report with status {reply.status}: {text[:200]}")
