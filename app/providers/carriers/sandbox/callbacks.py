"""Callbacks of the sandbox: their JSON, posting and parsing."""

import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import orjson
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, model_validator

from app.domain.carriers.carrier import FailureCode, InboundMessage, MalformedCallback, Receipt, ReceiptStatus
from app.domain.carriers.models import SANDBOX
from app.domain.webhooks.poster import Poster, Reply
from app.providers.carriers.sandbox.signature import HEADER, sign
from app.providers.outbound.client import HttpClient

EVERYWHERE = (ip_network("0.0.0.0/0"), ip_network("::/0"))
CONNECT_SECONDS, ANSWER_SECONDS = 2.0, 5.0

Kind = Literal["status", "inbound"]
Payload = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Callback:
    """A report of the network to the connection with the key `carrier`, on an event at the time `at`."""

    kind: Kind
    payload: Payload
    at: datetime
    carrier: str = SANDBOX


Text = Annotated[str, Field(pattern=r"^[^\x00]*$")]  # PostgreSQL stores no NUL
Name = Annotated[Text, Field(min_length=1)]
Reference = Annotated[int, Field(ge=1, lt=2**63)]


class _Status(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    id: Name
    reference: Reference
    status: ReceiptStatus
    code: FailureCode | None
    at: AwareDatetime

    @model_validator(mode="after")
    def _code_goes_with_failure(self) -> "_Status":
        if (self.status is ReceiptStatus.failed) != (self.code is not None):
            raise ValueError("a code goes with the status failed, and with no other")
        return self


class _Inbound(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    id: Name
    sender: Name = Field(alias="from")
    recipient: Name = Field(alias="to")
    text: Text
    at: AwareDatetime


M = TypeVar("M", bound=BaseModel)


def provider_id(reference: int, acceptance: int = 1) -> str:
    """Return the sandbox's id of a message; one that it accepts again has another id."""
    return f"sbx_{reference}" if acceptance == 1 else f"sbx_{reference}_{acceptance}"


def status_payload(reference: int, status: ReceiptStatus, code: FailureCode | None = None) -> Payload:
    """Return the payload of a status callback, without its time."""
    return {"id": provider_id(reference), "reference": reference, "status": status, "code": code}


def inbound_payload(id: str, from_number: str, to_number: str, text: str) -> Payload:
    """Return the payload of an inbound callback, without its time; `id` is the message's."""
    return {"id": id, "from": from_number, "to": to_number, "text": text}


@asynccontextmanager
async def open_poster(trusted: Path | None = None) -> AsyncGenerator[HttpClient]:
    """Open the poster of callbacks to the service, wherever that is; it also trusts the certificates of a file."""
    context = ssl.create_default_context() if trusted else None
    if context:
        context.load_verify_locations(trusted)
    poster = HttpClient(True, EVERYWHERE, CONNECT_SECONDS, ANSWER_SECONDS, ssl_context=context)
    try:
        yield poster
    finally:
        await poster.close()


async def post(poster: Poster, base_url: str, secret: bytes, callback: Callback, now: float) -> Reply:
    """Post one callback, signed at `now`."""
    body = orjson.dumps({**callback.payload, "at": callback.at})
    headers = {"content-type": "application/json", HEADER: sign(secret, body, now)}
    return await poster.post(f"{base_url}/carriers/{callback.carrier}/{callback.kind}", headers, body)


def read_status(body: bytes) -> Receipt:
    """Read the body of a status callback; raise `MalformedCallback`."""
    said = _read(_Status, body)
    return Receipt(said.id, said.status, said.status, said.code, said.code or "", reference=said.reference, at=said.at)


def read_inbound(body: bytes) -> InboundMessage:
    """Read the body of an inbound callback; raise `MalformedCallback`."""
    said = _read(_Inbound, body)
    return InboundMessage(said.id, said.sender, said.recipient, said.text, said.at)


def _read(model: type[M], body: bytes) -> M:
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        raise MalformedCallback(str(error)) from None
