"""A link keeps a session: it binds again after the end of one, with waits."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
import smpp34

from app.providers.carriers.smpp import link
from app.providers.carriers.smpp.link import Link, LinkSettings
from app.providers.carriers.smpp.session import Target
from app.providers.carriers.smpp.statuses import Status
from tests.e2e.processes import free_port
from tests.smpp.smscs import HOST, LOGIN, THEM, US, Inbox, Smsc, message, open_smsc
from tests.waiting import until, within

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def linked(port: int, inbox: Inbox | None = None, password: str = LOGIN.password) -> AsyncGenerator[Link]:
    settings = LinkSettings("smpp_1", Target(HOST, port), replace(LOGIN, password=password))
    made = Link(settings, inbox or Inbox())
    running = asyncio.create_task(made.run())
    yield made
    running.cancel()
    await made.stop()


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "FIRST_WAIT", 0.02)
    monkeypatch.setattr(link, "FIRST_WAIT_REFUSED", 0.05)


async def test_it_binds_again_after_the_connection_was_dropped(smsc: Smsc):
    async with linked(smsc.port) as made:
        await until(lambda: made.session)
        smsc.command("drop")
        await until(lambda: made.binds == 2 and made.session)

        assert made.session
        assert (await made.session.submit(message())).status == Status.ok


async def test_it_binds_to_an_smsc_that_restarts():
    with open_smsc() as first:
        async with linked(first.port) as made:
            await until(lambda: made.session)
            first.process.kill()
            await until(lambda: made.session is None)
            with open_smsc(first.port) as second:
                await until(lambda: made.session)
                assert len(await second.await_all("bind")) == 1


async def test_a_refused_login_is_tried_again_and_told(smsc: Smsc):
    async with linked(smsc.port, password="wrong") as made:
        await smsc.await_all("bind", 2)

        assert made.session is None
        assert made.problem == "the SMSC refused the bind: ESME status 0x0E"


async def test_it_unbinds_when_it_stops(smsc: Smsc):
    async with linked(smsc.port) as made:
        await until(lambda: made.session)

    assert len(await smsc.await_all("unbind")) == 1


async def test_the_server_of_another_implementation_takes_and_delivers_messages():
    inbox, port = Inbox(), free_port()
    server = smpp34.Server(HOST, port, system_id="smsc")
    await server.start()
    async with linked(port, inbox) as made:
        esme = await within("the bind", server.next())
        await until(lambda: made.session)
        assert made.session
        submitting = asyncio.create_task(made.session.submit(message("Hi {you}")))
        submit = await within("the submit", server.next())
        submit.accept("77")
        response = await esme.deliver_sm(US[1:], b"Hello", source_addr=THEM[1:])

        assert (await submitting).message_id == "77"
        assert (submit.short_message, submit.registered_delivery) == (b"Hi \x1b(you\x1b)", 1)
        assert response.command_status == Status.ok
        assert [each.payload for each in inbox.received] == [b"Hello"]
    await server.stop()
