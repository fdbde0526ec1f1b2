"""Playing the sandbox's callbacks back, over real HTTP, to a receiver that verifies them."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest
from aiohttp import web

from app.db.engine import UNREACHABLE, Database
from app.domain.carriers.carrier import (
    CallbackRequest,
    FailureCode,
    InboundMessage,
    OutboundMessage,
    Receipt,
    ReceiptStatus,
)
from app.providers.carriers.sandbox.callbacks import open_poster
from app.providers.carriers.sandbox.carrier import SandboxCarrier
from app.providers.carriers.sandbox.playback import BATCH, Playback
from app.providers.carriers.sandbox.reports import NotReported, Service, report_inbound, report_status
from tests.factories.messages import SANDBOX_CALLBACKS
from tests.factories.tables import ago, ahead
from tests.factories.traps import LosingPool, open_transactions
from tests.waiting import within

pytestmark = pytest.mark.anyio

SECRET = b"a secret of the tests"
ORDINARY = "+14155550100"


class Receiver:
    """The service's side of the callbacks: it verifies and reads each with the carrier, and answers `status`."""

    def __init__(self, carrier: SandboxCarrier) -> None:
        self.carrier = carrier
        self.url = ""
        self.paths: list[str] = []
        self.said: list[Receipt | InboundMessage] = []
        self.status: Callable[[CallbackRequest], int] = lambda request: 200
        self.before: Callable[[], Awaitable[object]] = lambda: asyncio.sleep(0)

    async def take(self, request: web.Request) -> web.Response:
        await self.before()
        headers = {name.lower(): value for name, value in request.headers.items()}
        callback = CallbackRequest(str(request.url), headers, await request.read())
        self.paths.append(request.path_qs)
        parse = self.carrier.parse_inbound if request.path.endswith("/inbound") else self.carrier.parse_receipts
        self.said += parse(callback)
        return web.Response(status=self.status(callback))

    def statuses(self) -> list[tuple[int | None, str]]:
        return [(said.reference, said.status) for said in self.said if isinstance(said, Receipt)]


@pytest.fixture
def carrier(database: Database) -> SandboxCarrier:
    return SandboxCarrier(database.pool, SECRET, 0.0, 30.0)


@pytest.fixture
async def receiver(carrier: SandboxCarrier) -> AsyncGenerator[Receiver]:
    receiver = Receiver(carrier)
    app = web.Application()
    app.router.add_post("/carriers/sandbox/status", receiver.take)
    app.router.add_post("/carriers/sandbox/inbound", receiver.take)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    receiver.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield receiver
    await runner.cleanup()


@pytest.fixture
def silent_address() -> str:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


@pytest.fixture
async def playback(database: Database, receiver: Receiver) -> AsyncGenerator[Playback]:
    async with open_poster() as poster:
        yield Playback(database.pool, poster, receiver.url, lambda _: SECRET)


async def send(carrier: SandboxCarrier, number: str = ORDINARY, reference: int = 7) -> None:
    await carrier.send(OutboundMessage(reference, "+14155550199", number, "Hello", 1))


async def attempts(database: Database) -> list[int]:
    """Return how often each callback that is left was tried."""
    return await SANDBOX_CALLBACKS.read(database, "attempts")


async def test_the_receipts_of_a_text_reach_the_service_signed(
    database: Database, carrier: SandboxCarrier, receiver: Receiver, playback: Playback
) -> None:
    await send(carrier)
    happened = min(await SANDBOX_CALLBACKS.read(database, "due_at"))

    more = await playback.run()

    assert more is False
    assert receiver.paths == ["/carriers/sandbox/status"] * 2
    assert receiver.said == [
        Receipt("sbx_7", ReceiptStatus.sent, "sent", reference=7, at=happened),
        Receipt("sbx_7", ReceiptStatus.delivered, "delivered", reference=7, at=happened),
    ]
    assert await attempts(database) == []


async def test_a_failure_and_a_reply_reach_the_service(
    database: Database, carrier: SandboxCarrier, receiver: Receiver, playback: Playback
) -> None:
    await send(carrier, "+15005550104", reference=1)
    await send(carrier, "+15005550401", reference=2)
    happened = min(await SANDBOX_CALLBACKS.where(reference=1).read(database, "due_at"))
    replied = max(await SANDBOX_CALLBACKS.where(reference=2).read(database, "due_at"))

    await playback.run()

    failed = Receipt(
        "sbx_1", ReceiptStatus.failed, "failed", FailureCode.filtered, "filtered", reference=1, at=happened
    )
    assert failed in receiver.said
    assert receiver.said[-1] == InboundMessage("sbx_in_2", "+15005550401", "+14155550199", "STOP", replied)
    assert receiver.paths[-1] == "/carriers/sandbox/inbound"


async def test_a_callback_that_is_not_due_waits(database: Database, receiver: Receiver, playback: Playback) -> None:
    await send(SandboxCarrier(database.pool, SECRET, 3600.0, 30.0))

    assert await playback.due() is False
    assert await playback.run() is False
    assert receiver.said == []


async def test_a_text_wakes_the_playback_which_starts_again_when_a_receipt_is_due(
    database: Database, receiver: Receiver, playback: Playback
) -> None:
    notified: list[str] = []
    started = asyncio.Event()
    playback.watch(started.set)
    carrier, references = SandboxCarrier(database.pool, SECRET, 0.1, 30.0, notify=notified.append), count(1)

    while not await SANDBOX_CALLBACKS.count(database):
        await send(carrier, reference=next(references))
        await playback.run()
    await within("a receipt to be due", started.wait())

    assert set(notified) == {"sandbox"}


async def test_the_playback_is_due_until_its_callbacks_are_delivered(
    carrier: SandboxCarrier, playback: Playback
) -> None:
    await send(carrier)

    assert await playback.due() is True
    await playback.run()
    assert await playback.due() is False


async def test_a_full_batch_says_that_there_may_be_more(
    carrier: SandboxCarrier, receiver: Receiver, playback: Playback
) -> None:
    texts = BATCH // 2 + 1
    for reference in range(1, texts + 1):
        await send(carrier, reference=reference)

    assert [await playback.run(), await playback.run()] == [True, False]
    assert sorted(receiver.statuses()) == [(n, s) for n in range(1, texts + 1) for s in ("delivered", "sent")]


async def test_playbacks_in_several_processes_deliver_each_callback_once(
    database: Database, carrier: SandboxCarrier, receiver: Receiver
) -> None:
    for reference in range(1, 41):
        await send(carrier, reference=reference)
    async with open_poster() as poster:
        playbacks = [Playback(database.pool, poster, receiver.url, lambda _: SECRET) for _ in range(3)]

        await asyncio.gather(*(playback.run() for playback in playbacks))

    assert sorted(receiver.statuses()) == [(n, s) for n in range(1, 41) for s in ("delivered", "sent")]


async def test_a_refused_callback_holds_back_the_later_ones_of_its_message_only(
    database: Database, carrier: SandboxCarrier, receiver: Receiver, playback: Playback
) -> None:
    await send(carrier, reference=1)
    await send(carrier, reference=2)
    receiver.status = lambda request: 503 if b'"reference":1,' in request.body else 204

    await playback.run()

    assert sorted(receiver.statuses()) == [(1, "sent"), (2, "delivered"), (2, "sent")]
    assert await attempts(database) == [1, 1]


@pytest.mark.parametrize(("before", "seconds"), [(0, 2), (1, 4), (2, 8), (10, 2048), (11, 3600), (5000, 3600)])
async def test_a_refused_callback_is_tried_again_after_a_growing_pause(
    database: Database, receiver: Receiver, playback: Playback, before: int, seconds: int
) -> None:
    await send(SandboxCarrier(database.pool, SECRET, 0.0, 30.0), "+15005550401")
    await SANDBOX_CALLBACKS.where(kind="status").delete(database.pool)
    await SANDBOX_CALLBACKS.change(database.pool, attempts=before)
    receiver.status = lambda request: 500

    begun = ago()
    await playback.run()
    ended = ago()

    claimed_until = await SANDBOX_CALLBACKS.only(database, "claimed_until")
    assert begun <= claimed_until - timedelta(seconds=seconds) <= ended
    assert seconds < 60 or not await playback.due()
    receiver.status = lambda request: 200
    await SANDBOX_CALLBACKS.change(database.pool, claimed_until=ago())
    await playback.run()
    assert await attempts(database) == []


async def test_an_unanswered_callback_is_tried_again(
    database: Database, carrier: SandboxCarrier, silent_address: str
) -> None:
    await send(carrier)
    async with open_poster() as poster:
        await Playback(database.pool, poster, silent_address, lambda _: SECRET).run()

    assert await attempts(database) == [1, 1]


async def test_a_callback_is_given_up_after_a_day(
    database: Database, carrier: SandboxCarrier, receiver: Receiver, playback: Playback
) -> None:
    await send(carrier, "+15005550401")
    await SANDBOX_CALLBACKS.where(kind="status").delete(database.pool)
    await SANDBOX_CALLBACKS.change(database.pool, due_at=ago(hours=25))
    receiver.status = lambda request: 500

    await playback.run()

    assert await attempts(database) == []


async def test_callbacks_claimed_by_a_dead_process_are_delivered_by_another(
    database: Database, carrier: SandboxCarrier, receiver: Receiver, playback: Playback
) -> None:
    await send(carrier)
    await SANDBOX_CALLBACKS.change(database.pool, attempts=1, claimed_until=ahead(hours=1))
    assert await playback.due() is False

    await SANDBOX_CALLBACKS.change(database.pool, claimed_until=ago(seconds=1))
    await playback.run()

    assert receiver.statuses() == [(7, "sent"), (7, "delivered")]
    assert await attempts(database) == []


async def test_no_transaction_is_open_while_the_service_is_called(
    database: Database, carrier: SandboxCarrier, receiver: Receiver, playback: Playback
) -> None:
    await send(carrier)
    asked, answer = asyncio.Event(), asyncio.Event()

    async def slowly() -> None:
        asked.set()
        await within("the test to let the service answer", answer.wait())

    receiver.before = slowly
    running = asyncio.create_task(playback.run())
    await within("the service to be asked", asked.wait())
    left_open = await open_transactions(database.pool)
    answer.set()
    await running

    assert left_open == 0


async def test_a_status_reported_by_hand_reads_like_one_of_the_network(receiver: Receiver) -> None:
    await report_status(Service(receiver.url, "sandbox", SECRET), 12, ReceiptStatus.delivered)
    await report_status(Service(receiver.url, "sandbox", SECRET), 13, ReceiptStatus.failed)
    await report_status(Service(receiver.url, "sandbox", SECRET), 14, ReceiptStatus.failed, FailureCode.landline)

    assert receiver.paths == ["/carriers/sandbox/status"] * 3
    said = [(r.provider_message_id, r.reference, r.status, r.code) for r in receiver.said if isinstance(r, Receipt)]
    assert said == [
        ("sbx_12", 12, "delivered", None),
        ("sbx_13", 13, "failed", FailureCode.carrier_error),
        ("sbx_14", 14, "failed", FailureCode.landline),
    ]


async def test_a_text_reported_by_hand_reads_like_one_of_the_network(receiver: Receiver) -> None:
    before = datetime.now(UTC)

    await report_inbound(Service(receiver.url, "sandbox", SECRET), "+14155550100", "+14155550199", "Is it still free?")
    await report_inbound(Service(receiver.url, "sandbox", SECRET), "+14155550100", "+14155550199", "Is it still free?")

    first, second = receiver.said
    assert isinstance(first, InboundMessage)
    assert isinstance(second, InboundMessage)
    assert (first.from_number, first.to_number, first.body) == ("+14155550100", "+14155550199", "Is it still free?")
    assert first.at is not None
    assert first.at >= before
    assert first.provider_message_id != second.provider_message_id


async def test_a_report_that_the_service_refuses_says_so(receiver: Receiver) -> None:
    receiver.status = lambda request: 503

    with pytest.raises(NotReported, match="refused the report with status 503"):
        await report_status(Service(receiver.url, "sandbox", SECRET), 12, ReceiptStatus.delivered)


async def test_a_report_to_a_stopped_service_asks_whether_it_runs(silent_address: str) -> None:
    with pytest.raises(NotReported, match=r"Is the service running there\?"):
        await report_inbound(Service(silent_address, "sandbox", SECRET), "+14155550100", "+14155550199", "Hello")


async def test_callbacks_whose_claim_was_lost_with_the_connection_are_delivered_at_once(
    database: Database, carrier: SandboxCarrier, receiver: Receiver, playback: Playback
) -> None:
    await send(carrier)
    losing: Any = LosingPool(database.pool)
    async with open_poster() as poster:
        with pytest.raises(UNREACHABLE):
            await Playback(losing, poster, receiver.url, lambda _: SECRET).run()

    assert (losing.lost, receiver.said) == (1, [])
    assert await attempts(database) == [0, 0]
    await playback.run()

    assert receiver.statuses() == [(7, "sent"), (7, "delivered")]
    assert await attempts(database) == []
