"""A connection of the service to an SMSC, as rows, and processes of the role that bind it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import orjson

from app.bootstrap import smpp
from app.bootstrap.smpp import Binds
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages.requests import Send
from app.domain.messages.sending.acceptance import Acceptance
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.e2e.commands import run_command
from tests.factories.carriers import add_connection
from tests.factories.messages import MESSAGES
from tests.factories.tables import Rows
from tests.smpp.smscs import HOST, LOGIN, THEM, Smsc
from tests.waiting import until

KEY = "smpp_1"
DELIVERIES = Rows("smpp_deliveries")
LEASES = Rows("smpp_leases")


@dataclass
class Line:
    """The connection `KEY`, from which the account's number sends."""

    services: Services
    account: Opened
    smsc: Smsc

    async def connect(self, port: int, password: str = LOGIN.password, **settings: Any) -> None:
        """Add the row of the connection."""
        credentials = orjson.dumps({"system_id": LOGIN.system_id, "password": password}).decode()
        await add_connection(
            self.services,
            KEY,
            kind="smpp",
            role="smpp",
            settings={"host": HOST, "port": port, **settings},
            credentials=self.services.connections.seal.close(credentials),
        )

    async def send(self, body: str = "Hello", to: str = THEM) -> Acceptance:
        """Have a text accepted."""
        actor = Actor(self.account.account_id, frozenset(), "key:1")
        return await self.services.acceptor.accept(actor, Send(to, body, consent_attested=True))

    async def report(self, id: str, stat: str = "DELIVRD", error: str = "000") -> int:
        """Deliver a receipt; return the status of the response."""
        text = f"id:{id} sub:001 dlvrd:001 submit date:2611230930 done date:2611230931 stat:{stat} err:{error} text:"
        return await self.smsc.deliver(source_addr=THEM[1:], destination_addr="1", esm_class=4, short_message=text)

    async def text(self, body: str | None = "Hi", **pdu: Any) -> int:
        """Deliver an inbound text; return the status of the response."""
        given = {"short_message": body} if body is not None else {}
        to = self.account.phone_number[1:]
        return await self.smsc.deliver(source_addr=THEM[1:], destination_addr=to, **given, **pdu)

    async def bodies(self) -> list[str]:
        """Return the bodies of the inbound messages."""
        return await MESSAGES.where(direction="inbound").read(self.services, "body")

    async def until_status(self, status: str) -> None:
        """Wait until the only outbound message has a status."""

        async def has_status() -> bool:
            return await MESSAGES.where(direction="outbound").only(self.services, "status") == status

        await until(has_status)


def run_with_long_leases(*given: Any) -> None:
    """Run a command whose leases last for an hour: on a busy machine a living process may not renew a short one."""
    smpp.LEASE_SECONDS = 3600.0
    run_command(*given)


@asynccontextmanager
async def binding(line: Line) -> AsyncGenerator[Binds]:
    """Run what a process of the role runs; it is bound."""
    async with running(line.services) as binds:
        await until(lambda: binds.sessions())
        yield binds


@asynccontextmanager
async def running(services: Services) -> AsyncGenerator[Binds]:
    """Run what a process of the role runs."""
    binds = Binds(services, uuid4().hex)
    task = asyncio.create_task(binds.run())
    try:
        yield binds
    finally:
        task.cancel()
        await binds.stop(grace=2)
