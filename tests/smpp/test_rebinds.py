"""Changes of the rows of connections that a process of the role `smpp` has bound."""

import asyncio
from datetime import datetime
from functools import partial
from typing import Any

import pytest

from app.bootstrap import smpp
from app.db.engine import Pool
from app.domain.kernel.time_limit import TimeLimit
from app.providers.carriers.smpp.statuses import Status
from tests.factories.carriers import CONNECTIONS, change_connection
from tests.factories.messages import MESSAGES, OUTGOING
from tests.smpp.lines import KEY, LEASES, Line, binding, running
from tests.smpp.smscs import Smsc, open_smsc
from tests.waiting import until, within

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("short_times")]


async def test_a_paused_connection_keeps_its_session_and_its_texts_wait(line: Line, smsc: Smsc, pool: Pool):
    await change_connection(pool, KEY, status="paused")
    await line.send()
    async with binding(line):
        assert await line.text("Hi") == Status.ok

    assert await line.bodies() == ["Hi"]
    assert smsc.all("submit") == []


async def test_new_settings_are_followed_by_a_new_session(line: Line, smsc: Smsc, pool: Pool):
    async with binding(line):
        with open_smsc() as other:
            settings = {"host": "127.0.0.1", "port": other.port, "system_type": "new"}
            await change_connection(pool, KEY, settings=settings)
            [bind] = await other.await_all("bind")
            await smsc.await_all("unbind")

    assert bind["system_type"] == "new"


async def test_new_settings_are_followed_although_the_connection_is_not_bound(line: Line, smsc: Smsc, pool: Pool):
    smsc.command("mute", commands=["bind_transceiver"])
    async with running(line.services) as binds:
        await smsc.await_all("connect")
        with open_smsc() as other:
            await change_connection(pool, KEY, settings={"host": "127.0.0.1", "port": other.port})
            await other.await_all("bind")
            await until(binds.sessions)

    assert smsc.all("bind") == []


@pytest.mark.parametrize("changed", [{"status": "paused"}, {"previous_credentials": None}, {"parts_per_second": 5.0}])
async def test_a_change_of_a_row_that_needs_no_new_session_leaves_texts_in_flight_alone(
    line: Line, smsc: Smsc, pool: Pool, changed: dict[str, Any]
):
    smsc.answer("held")
    smsc.command("name", ids=["77"])
    async with binding(line) as binds:
        await line.send()
        await smsc.await_all("submit")
        await change_connection(pool, KEY, **changed)
        await until_followed(line, binds)
        smsc.command("release")
        await line.until_status("sent")
        assert smsc.all("unbind") == []

    assert len(smsc.all("bind")) == 1
    assert await MESSAGES.only(pool, "provider_message_id", "unconfirmed") == ("77", False)


async def test_texts_in_flight_end_on_the_former_session_when_settings_change_and_the_lease_is_kept(
    line: Line, smsc: Smsc, pool: Pool
):
    smsc.answer("held")
    smsc.command("name", ids=["77", "78"])
    async with binding(line) as binds:
        await line.send("First")
        await smsc.await_all("submit")
        await change_connection(pool, KEY, settings=settings_of(smsc, system_type="new"))
        await until_followed(line, binds)
        held_until = await LEASES.only(pool, "held_until")
        await until(partial(is_held_after, pool, held_until))
        await line.send("Second")
        await asyncio.sleep(0.3)
        assert [each["text"] for each in smsc.all("submit")] == ["First"]
        smsc.command("release")
        await smsc.await_all("submit", 2)
        await until(lambda: binds.sessions())
        await until(partial(are_sent, pool, 2))

    await smsc.await_all("unbind", 2)
    kinds = [each["event"] for each in smsc.events if each["event"] in ("bind", "submit", "unbind")]
    assert kinds == ["bind", "submit", "unbind", "bind", "submit", "unbind"]
    assert sorted(await MESSAGES.read(pool, "provider_message_id")) == ["77", "78"]


async def test_the_parts_that_were_accepted_before_settings_changed_are_not_submitted_again(
    line: Line, smsc: Smsc, pool: Pool
):
    smsc.answer(0, 0x04)
    smsc.command("name", ids=["1", "2"])
    async with binding(line):
        await line.send("A" * 200)
        await smsc.await_all("submit", 2)
        await change_connection(pool, KEY, settings=settings_of(smsc, system_type="new"))
        await line.until_status("sent")
        await line.report("1")
        await line.report("2")

    assert [each["udh"][0][-2:] for each in smsc.all("submit")] == ["01", "02", "02"]
    assert await MESSAGES.only(pool, "status") == "delivered"


async def test_a_process_that_stops_while_a_session_is_replaced_waits_no_longer_than_it_is_allowed_to(
    line: Line, smsc: Smsc, pool: Pool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(smpp, "CALL_SECONDS", 3600.0)
    monkeypatch.setattr(smpp, "CLAIM_SECONDS", 7200.0)
    monkeypatch.setattr(smpp.Bind, "grace", 7200.0)
    smsc.answer("silent")
    binds = smpp.Binds(line.services, "a process")
    following = asyncio.create_task(binds.run())
    [session] = await until(binds.sessions)
    session._responses = TimeLimit(3600)
    await line.send()
    await smsc.await_all("submit")
    await change_connection(pool, KEY, settings=settings_of(smsc, system_type="new"))
    await until_followed(line, binds)
    following.cancel()
    await within("the stop", binds.stop(grace=2))

    assert await LEASES.count(pool) == 0
    assert len(smsc.all("bind")) == 1
    assert (await OUTGOING.only(pool, "unanswered_since")) is not None


def settings_of(smsc: Smsc, **settings: Any) -> dict[str, Any]:
    return {"host": "127.0.0.1", "port": smsc.port, **settings}


async def until_followed(line: Line, binds: smpp.Binds) -> None:
    """Wait until a process knows the present row of the connection, and some time more."""
    revision = await CONNECTIONS.where(key=KEY).only(line.services, "revision")

    def is_known() -> bool:
        known = binds._connections.find(KEY)
        return known is not None and known.row.revision == revision

    await until(is_known)
    await asyncio.sleep(0.3)


async def is_held_after(pool: Pool, time: datetime) -> bool:
    return await LEASES.only(pool, "held_until") > time


async def are_sent(pool: Pool, count: int) -> bool:
    return await MESSAGES.where(status="sent").count(pool) == count
