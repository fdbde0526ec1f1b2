"""A session with the SMSC of the npm package `smpp`, and with peers that send anything."""

import asyncio
import ssl
import tracemalloc
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import NoEncryption

from app.domain.kernel.time_limit import TimeLimit
from app.providers.carriers.smpp.pdu import RESPONSE, Command, Frames, Login, Pdu, encode_message
from app.providers.carriers.smpp.session import (
    LAST_SEQUENCE,
    USUAL,
    BindRefused,
    NotSubmitted,
    Session,
    Submitted,
    Target,
    Timers,
    Unanswered,
    open_session,
)
from app.providers.carriers.smpp.statuses import Status
from tests.http.test_tls import write_certificate, write_key
from tests.smpp.smscs import HOST, LOGIN, THEM, US, Inbox, Smsc, message, open_smsc
from tests.waiting import until, within

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def bound(
    smsc: Smsc, inbox: Inbox | None = None, window: int = 10, login: Login = LOGIN, timers: Timers = USUAL
) -> AsyncGenerator[Session]:
    receiver = inbox or Inbox()
    session = await open_session(
        Target(HOST, smsc.port), login, lambda: Session(window, timers, receiver), seconds=timers.connect
    )
    yield session
    await session.unbind(grace=5)


class Answering(asyncio.Transport):
    """The connection to an SMSC that accepts each request at once, and keeps nothing of it."""

    def __init__(self) -> None:
        super().__init__()
        self.session: Session | None = None
        self.last = 0

    def write(self, data: bytes | bytearray | memoryview) -> None:
        [request] = Frames().feed(bytes(data))
        self.last = request.sequence
        assert self.session
        answer = Pdu(request.command | RESPONSE, Status.ok, request.sequence, b"7\0")
        asyncio.get_running_loop().call_soon(self.session.data_received, answer.encode())

    def abort(self) -> None:
        pass


@asynccontextmanager
async def answered() -> AsyncGenerator[tuple[Session, Answering]]:
    """Bind to an SMSC that accepts each request at once."""
    transport, session = Answering(), Session(1, USUAL, Inbox())
    transport.session = session
    session.connection_made(transport)
    await session.bind(LOGIN)
    yield session, transport
    session.end("the end of the test")


async def submit_many(session: Session, count: int) -> None:
    for _ in range(count):
        await session.submit(message())


async def test_it_binds_submits_and_unbinds(smsc: Smsc):
    async with bound(smsc) as session:
        response = await session.submit(message("Olá € [ok]"))

    await smsc.await_all("close")
    [bind] = smsc.all("bind")
    [submit] = smsc.all("submit")
    assert bind == {"event": "bind", "system_id": "messaging", "system_type": "test", "version": 0x34, "status": 0}
    assert response.status == Status.ok
    assert response.message_id.startswith("smsc-")
    assert submit["source"] == [1, 1, US[1:]]
    assert submit["destination"] == [1, 1, THEM[1:]]
    assert submit["registered_delivery"] == 1
    assert len(smsc.all("unbind")) == 1


@pytest.mark.parametrize("body", ["Plain, with £ and {€}", "Привет, 👋", "é" * 160])
async def test_the_smsc_reads_the_text_that_was_sent(smsc: Smsc, body: str):
    async with bound(smsc) as session:
        await session.submit(message(body))

    assert [submit["text"] for submit in await smsc.await_all("submit")] == [body]


async def test_a_wrong_password_is_refused_by_its_status(smsc: Smsc):
    with pytest.raises(BindRefused) as refused:
        async with bound(smsc, login=replace(LOGIN, password="wrong")):
            pass

    assert refused.value.status == Status.invalid_password


async def test_an_smsc_that_does_not_answer_the_bind_is_left(smsc: Smsc):
    smsc.command("mute", commands=["bind_transceiver"])

    with pytest.raises(ConnectionError, match=r"no bind within 0\.2 seconds"):
        async with bound(smsc, timers=Timers(connect=0.2)):
            pass


async def test_a_refused_submit_has_its_status_and_no_id(smsc: Smsc):
    smsc.answer(Status.throttled)
    async with bound(smsc) as session:
        assert await session.submit(message()) == Submitted(Status.throttled, "")


async def test_a_session_keeps_nothing_of_the_requests_that_were_answered():
    async with answered() as (session, _):
        await submit_many(session, 100)
        tracemalloc.start()
        try:
            await submit_many(session, 2_000)
            kept, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

    assert kept < 40_000


async def test_after_the_greatest_sequence_number_the_next_request_has_the_first_one():
    async with answered() as (session, transport):
        session._sequence = LAST_SEQUENCE - 1
        await session.submit(message())
        greatest = transport.last
        await session.submit(message())

    assert (greatest, transport.last) == (0x7FFFFFFF, 1)


async def test_no_more_submits_than_the_window_wait_for_a_response(smsc: Smsc):
    smsc.answer("silent", "silent")
    async with bound(smsc, window=2) as session:
        waiting = [asyncio.create_task(session.submit(message())) for _ in range(2)]
        await smsc.await_all("submit", 2)
        with pytest.raises(NotSubmitted, match="the window is full"):
            await session.submit(message(), patience=0.01)
        smsc.command("drop")
        ended = await asyncio.gather(*waiting, return_exceptions=True)

    assert [type(each) for each in ended] == [Unanswered, Unanswered]
    assert len(smsc.all("submit")) == 2


async def test_a_late_response_is_given_to_the_receiver_with_the_tag_of_its_submit(smsc: Smsc):
    smsc.answer("held")
    smsc.command("name", ids=["late-1"])
    inbox = Inbox()
    async with bound(smsc, inbox) as session:
        session._responses = TimeLimit(0.1)
        with pytest.raises(Unanswered, match="no response in time"):
            await session.submit(message(), tag="the submit")
        smsc.command("release")
        await until(lambda: inbox.late)

    assert inbox.late == [("the submit", Submitted(Status.ok, "late-1"))]


async def test_a_dropped_connection_leaves_submits_unanswered_and_ends_the_session(smsc: Smsc):
    smsc.answer("silent")
    async with bound(smsc) as session:
        waiting = asyncio.create_task(session.submit(message()))
        await smsc.await_all("submit")
        smsc.command("drop")
        with pytest.raises(Unanswered):
            await within("the end of the submit", waiting)

        assert not session.is_bound
        with pytest.raises(NotSubmitted):
            await session.submit(message())


async def test_a_submit_without_a_response_is_unanswered_when_the_session_unbinds(smsc: Smsc):
    smsc.answer("silent")
    async with bound(smsc) as session:
        waiting = asyncio.create_task(session.submit(message()))
        await smsc.await_all("submit")
        await session.unbind(grace=0.1)
        with pytest.raises(Unanswered):
            await within("the end of the submit", waiting)


async def test_a_delivery_that_takes_longer_than_the_session_is_not_answered(smsc: Smsc):
    inbox = Inbox()
    inbox.gate.clear()
    async with bound(smsc, inbox) as session:
        delivering = asyncio.create_task(smsc.deliver(source_addr="1", destination_addr="2", short_message="Hi"))
        await until(lambda: inbox.received)
        [processing] = session._deliveries
        await session.unbind(grace=0.1)
        await asyncio.wait({processing}, timeout=5)
        delivering.cancel()

    assert processing.cancelled()
    assert smsc.all("delivered") == []


async def test_an_idle_session_sends_enquire_link_and_answers_it(smsc: Smsc):
    async with bound(smsc, timers=Timers(enquire=0.05)):
        await smsc.await_all("enquire_link", 2)
        smsc.command("enquire")
        assert (await smsc.await_all("enquired"))[0]["status"] == 0


async def test_a_session_ends_when_enquire_link_is_not_answered(smsc: Smsc):
    smsc.command("mute", commands=["enquire_link"])

    async with bound(smsc, timers=Timers(enquire=0.05)) as session:
        session._responses = TimeLimit(0.1)
        reason = await within("the end of the session", session.ended)

    assert reason == "the SMSC did not answer enquire_link: no response in time"


async def test_an_unbind_of_the_smsc_is_answered_and_ends_the_session(smsc: Smsc):
    async with bound(smsc) as session:
        smsc.command("unbind")
        assert await within("the end of the session", session.ended) == "the SMSC unbound"


async def test_a_delivery_is_answered_after_it_was_processed(smsc: Smsc):
    inbox = Inbox()
    inbox.gate.clear()
    async with bound(smsc, inbox):
        delivering = asyncio.create_task(smsc.deliver(source_addr="1", destination_addr="2", short_message="Hi"))
        await until(lambda: inbox.received)
        assert smsc.all("delivered") == []
        inbox.gate.set()
        assert await delivering == Status.ok


async def test_a_delivery_whose_processing_fails_is_answered_with_a_temporary_error(smsc: Smsc):
    def fail() -> Status:
        raise OSError("the database is away")

    async with bound(smsc, Inbox(fail)) as session:
        assert await smsc.deliver(source_addr="1", destination_addr="2", short_message="Hi") == Status.temporary_error
        assert session.is_bound


async def test_a_delivery_is_settled_once_the_smsc_has_answered_a_later_request(smsc: Smsc):
    inbox = Inbox()
    async with bound(smsc, inbox) as session:
        await smsc.deliver(source_addr="1", destination_addr="2", short_message="Hi")
        assert inbox.settled == []
        await session.submit(message())

        assert inbox.settled == [1]


async def test_garbage_gets_a_generic_nack_and_a_lost_frame_ends_the_session(smsc: Smsc):
    async with bound(smsc) as session:
        smsc.command("raw", hex=Pdu(0x00000102, 0, 77, b"\xff" * 30).encode().hex())
        [nack] = await smsc.await_all("generic_nack")
        assert nack["status"] == Status.invalid_command
        assert session.is_bound

        smsc.command("raw", hex="ffffffff" * 4)
        assert await within("the end of the session", session.ended) == "a PDU of 4294967295 octets"


async def test_a_malformed_delivery_is_refused_for_ever_and_the_session_goes_on(smsc: Smsc):
    inbox = Inbox()
    async with bound(smsc, inbox) as session:
        whole = encode_message(message())
        smsc.command("raw", hex=Pdu(Command.deliver_sm, 0, 9, whole[: len(whole) - 3]).encode().hex())
        smsc.command("enquire")
        await smsc.await_all("enquired")
        await until(lambda: inbox.malformed)

        assert session.is_bound
        assert inbox.received == []
        assert inbox.malformed == [whole[: len(whole) - 3]]


async def test_a_session_over_tls_trusts_only_known_certificates(tmp_path: Path):
    secret = generate_private_key(SECP256R1())
    key = write_key(tmp_path / "key.pem", secret, NoEncryption())
    certificate = write_certificate(tmp_path / "cert.pem", secret)
    with open_smsc(tls=(certificate, key)) as smsc:
        known = Target(HOST, smsc.port, ssl.create_default_context(cafile=certificate))
        session = await open_session(known, LOGIN, lambda: Session(1, Timers(), Inbox()), seconds=10)
        assert (await session.submit(message())).status == Status.ok
        await session.unbind(grace=5)
        stranger = replace(known, tls=ssl.create_default_context())
        with pytest.raises(ssl.SSLCertVerificationError):
            await open_session(stranger, LOGIN, lambda: Session(1, Timers(), Inbox()), seconds=10)
