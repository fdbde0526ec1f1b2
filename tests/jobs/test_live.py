"""News between processes: heard at once while Redis is there, and not missed while it is not."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import ExitStack
from datetime import UTC, datetime

import pytest

from app.domain.events.reactions import OutboxEvent
from app.jobs import live
from app.jobs.live import CHANNEL, Announcer, Listener, Stopping, TooManyStreams, Watch
from tests.jobs.conftest import Valkey
from tests.waiting import until, within

pytestmark = pytest.mark.anyio

PATIENCE_SECONDS = 30


@pytest.fixture(autouse=True)
def quiet_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no watch poll by itself on a slow machine, unless a test says otherwise."""
    monkeypatch.setattr(live, "QUIET_SECONDS", 600.0)


@pytest.fixture
async def listener(valkey: Valkey) -> AsyncGenerator[Listener]:
    listener = Listener(valkey.url)
    yield listener
    await listener.close()


@pytest.fixture
async def announcer(valkey: Valkey) -> AsyncGenerator[Announcer]:
    announcer = Announcer(valkey.url)
    yield announcer
    await announcer.aclose()


def event(account_id: int, name: str = "new_message") -> OutboxEvent:
    return OutboxEvent(1, account_id, name, None, {}, datetime.now(UTC))


async def news(watch: Watch) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        await watch.wait()


async def is_quiet(watch: Watch) -> bool:
    try:
        async with asyncio.timeout(0.2):
            await watch.wait()
    except TimeoutError:
        return True
    return False


async def settle(listener: Listener, valkey: Valkey) -> None:
    """Wait until announcements are heard, and what woke everybody then is over."""
    await until(lambda: valkey.client.pubsub_numsub(CHANNEL)[0][1])
    with listener.watch(0) as watch:
        while not await is_quiet(watch):
            pass


async def test_only_the_streams_of_an_account_hear_its_announcements(
    valkey: Valkey, listener: Listener, announcer: Announcer
):
    with listener.watch(1) as one, listener.watch(1) as another, listener.watch(2) as others:
        await settle(listener, valkey)
        for watch in (one, another, others):
            await is_quiet(watch)

        await announcer.announce([event(1), event(1, "message_sent"), event(2, "new_contact")])

        await news(one)
        await news(another)
        assert await is_quiet(others)


async def test_an_announcement_before_the_wait_ends_the_wait(valkey: Valkey, listener: Listener, announcer: Announcer):
    with listener.watch(1) as watch, listener.watch(1) as other:
        await settle(listener, valkey)
        await is_quiet(watch)
        await is_quiet(other)
        await announcer.announce([event(1)])
        await news(other)

        await news(watch)

        assert await is_quiet(watch)


async def test_all_streams_of_a_process_share_a_connection(valkey: Valkey, listener: Listener):
    with ExitStack() as stack:
        for account_id in range(100):
            stack.enter_context(listener.watch(account_id))
        await settle(listener, valkey)

        assert valkey.client.pubsub_numsub(CHANNEL) == [(CHANNEL.encode(), 1)]


async def test_a_listener_without_a_watch_has_no_connection(valkey: Valkey, listener: Listener):
    await asyncio.sleep(0)

    assert valkey.client.pubsub_numsub(CHANNEL) == [(CHANNEL.encode(), 0)]


async def test_a_watch_polls_while_redis_is_away_and_then_hears_again(
    valkey: Valkey, listener: Listener, announcer: Announcer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(live, "AWAY_SECONDS", 0.05)
    with listener.watch(1) as watch:
        await settle(listener, valkey)
        valkey.kill()

        for _ in range(3):
            await news(watch)

        valkey.start()
        await settle(listener, valkey)
        await is_quiet(watch)
        await announcer.announce([event(1)])
        await news(watch)


async def test_a_quiet_watch_polls_now_and_then(valkey: Valkey, listener: Listener, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(live, "QUIET_SECONDS", 0.05)
    with listener.watch(1) as watch:
        for _ in range(3):
            await news(watch)


async def test_a_watch_without_news_polls_while_another_account_has_news(
    valkey: Valkey, listener: Listener, announcer: Announcer, monkeypatch: pytest.MonkeyPatch
):
    with listener.watch(1) as watch, listener.watch(2) as busy:
        await settle(listener, valkey)
        await is_quiet(watch)
        monkeypatch.setattr(live, "QUIET_SECONDS", 0.2)
        waiting = asyncio.create_task(news(watch))
        while not waiting.done():
            await announcer.announce([event(2)])
            await news(busy)


async def test_a_foreign_message_on_the_channel_does_not_stop_the_listener(
    valkey: Valkey, listener: Listener, announcer: Announcer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(live, "AWAY_SECONDS", 0.05)
    with listener.watch(1) as watch:
        await settle(listener, valkey)
        valkey.client.publish(CHANNEL, "nonsense")
        await settle(listener, valkey)
        await is_quiet(watch)

        await announcer.announce([event(1)])

        await news(watch)


async def test_announcing_does_not_fail_while_redis_is_away(valkey: Valkey, announcer: Announcer):
    await announcer.announce([event(1)])
    valkey.kill()

    await announcer.announce([event(1)])


async def test_announcing_does_not_wait_long_for_a_redis_that_hangs(valkey: Valkey, announcer: Announcer):
    await announcer.announce([event(1)])
    valkey.hang()

    await within("the announcement", announcer.announce([event(1)]))


async def test_events_that_are_not_shown_live_are_not_announced(valkey: Valkey, announcer: Announcer):
    await announcer.announce([event(1, "new_contact")])
    await announcer.announce([])

    assert valkey.client.info("commandstats").get("cmdstat_publish") is None


async def test_stopping_the_listener_ends_a_wait(listener: Listener):
    with listener.watch(1) as watch:
        waiting = asyncio.create_task(watch.wait())
        listener.stop()

        with pytest.raises(Stopping):
            await waiting


async def test_a_wait_that_begins_after_the_stop_ends_at_once(listener: Listener):
    listener.stop()
    with listener.watch(1) as watch, pytest.raises(Stopping):
        await within("news", watch.wait())


async def test_an_account_has_so_many_streams_and_a_closed_one_makes_room(
    listener: Listener, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(live, "MAX_STREAMS", 2)
    with listener.watch(1):
        with listener.watch(1), pytest.raises(TooManyStreams), listener.watch(1):
            pass
        with listener.watch(1), listener.watch(2):
            pass
