"""Texts, receipts and inbound messages through a connection that a process of the role `smpp` binds."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from app.db.engine import Pool
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages import synchronous
from app.domain.messages.requests import Send
from app.providers.carriers.smpp import addresses
from app.providers.carriers.smpp.leases import Lease
from app.providers.carriers.smpp.pdu import Command, Pdu, ShortMessage, encode_message
from app.providers.carriers.smpp.statuses import Status
from tests.domain.messages.handing import hand_over, reconcile
from tests.factories.billing import audit, entries
from tests.factories.carriers import add_smpp_connection, change_connection
from tests.factories.clocks import Later
from tests.factories.contacts import CONTACTS
from tests.factories.messages import MESSAGES, OUTGOING, UNMATCHED_CALLBACKS, UNMATCHED_RECEIPTS
from tests.factories.tables import Rows, ago, ahead
from tests.factories.traps import table_locked, until_blocked, writes_refused
from tests.smpp.lines import DELIVERIES, KEY, LEASES, Line, binding, running
from tests.smpp.smscs import THEM, Smsc
from tests.waiting import until, within

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("short_times")]


async def test_a_text_leaves_through_the_connection_and_its_receipt_delivers_it(line: Line, smsc: Smsc, pool: Pool):
    smsc.command("name", ids=["77"])
    async with binding(line):
        await line.send("Olá")
        await line.until_status("sent")
        assert await line.report("77") == Status.ok

    [submit] = smsc.all("submit")
    assert (submit["text"], submit["destination"]) == ("Olá", [1, 1, THEM[1:]])
    assert await MESSAGES.only(pool, "status", "provider_message_id", "carrier") == ("delivered", "77", KEY)
    assert await OUTGOING.count(pool) == 0


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        (["1", "2", "3"], ["3", "1", "2"]),
        (["0000AB", "0000AC", "0000AD"], ["ac", "AD", "AB"]),
        (["1A2B", "1A2C", "1A2D"], ["6699", "6701", "6700"]),
        (["6699", "6700", "6701"], ["1A2B", "1A2C", "1A2D"]),
    ],
)
async def test_the_receipts_of_parts_deliver_a_message_in_any_order_and_spelling(
    line: Line, smsc: Smsc, pool: Pool, ids: list[str], said: list[str]
):
    smsc.command("name", ids=ids)
    async with binding(line):
        await line.send("A" * 400)
        await line.until_status("sent")
        statuses = []
        for id in said:
            await line.report(id)
            statuses.append(await MESSAGES.only(pool, "status"))

    assert statuses == ["sent", "sent", "delivered"]
    assert await UNMATCHED_RECEIPTS.count(pool) == 0


@pytest.mark.parametrize(("body", "ids"), [("Hello", ["1"]), ("A" * 200, ["1", "2"])])
async def test_the_receipts_of_ids_that_come_again_after_a_restart_of_the_smsc_are_those_of_the_later_text(
    line: Line, smsc: Smsc, pool: Pool, body: str, ids: list[str]
):
    smsc.command("name", ids=ids * 2)
    async with binding(line):
        await line.send(body)
        await line.until_status("sent")
        for id in ids:
            await line.report(id)
        await line.send(body, "+12025550199")
        await until(partial(is_sent_to, pool, "+12025550199"))
        await line.report(ids[-1], "UNDELIV", "027")

    states = await MESSAGES.read(pool, "to_number", "status", "carrier_error")
    assert {tuple(each) for each in states} == {
        (THEM, "delivered", None),
        ("+12025550199", "failed", "UNDELIV err:027"),
    }


async def test_a_part_that_fails_fails_the_message_and_refunds_it(line: Line, smsc: Smsc, pool: Pool):
    smsc.command("name", ids=["1", "2"])
    async with binding(line):
        await line.send("A" * 200)
        await line.until_status("sent")
        await line.report("1")
        await line.report("2", "UNDELIV", "027")

    failed = await MESSAGES.only(pool, "status", "error_code", "carrier_error")
    assert failed == ("failed", "unreachable", "UNDELIV err:027")
    assert await entries(pool) == [("debit", -2, 998), ("refund", 2, 1000)]
    await audit(pool)


async def test_workers_leave_its_texts_alone(line: Line, pool: Pool):
    await line.send()

    await hand_over(line.services.handoff)
    await reconcile(line.services.handoff)

    assert not await line.services.handoff.due()
    assert await OUTGOING.only(pool, "claimed_until", "attempts") == (None, 0)


async def test_a_synchronous_send_waits_for_the_process_that_is_bound(line: Line, smsc: Smsc, actor: Actor):
    async with binding(line):
        wish = Send(THEM, "Hello", consent_attested=True)
        taken = await synchronous.send(line.services.acceptor, line.services.handoff, actor, wish)

    assert taken.segments == 1
    assert len(smsc.all("submit")) == 1


async def test_texts_wait_unclaimed_until_the_connection_is_bound(line: Line, smsc: Smsc, pool: Pool):
    smsc.command("mute", commands=["bind_transceiver"])
    await line.send()
    async with running(line.services):
        await smsc.await_all("connect")
        assert await OUTGOING.only(pool, "attempts") == 0


async def test_two_processes_never_hold_the_same_bind_and_one_takes_over_from_the_other(
    line: Line, smsc: Smsc, pool: Pool
):
    async with running(line.services) as first, running(line.services) as second:
        await until(lambda: first.sessions() or second.sessions())
        await asyncio.sleep(0.3)
        held, free = (first, second) if first.sessions() else (second, first)
        assert (len(held.sessions()), len(free.sessions())) == (1, 0)
        assert len(smsc.all("bind")) == 1

        await held.stop(grace=1)
        await until(free.sessions)

    assert len(smsc.all("unbind")) >= 1


async def test_a_connection_is_bound_once_though_the_lease_of_another_one_fails_meanwhile(
    line: Line, monkeypatch: pytest.MonkeyPatch
):
    await add_smpp_connection(line.services, "smpp_2")
    asked, going_on = list[str](), asyncio.Event()

    async def acquire(lease: Lease, problem: str) -> bool:
        asked.append(lease.carrier)
        if lease.carrier != KEY:
            raise OSError("the database is away")
        await within("the test to let the lease be taken", going_on.wait())
        return True

    monkeypatch.setattr(Lease, "acquire", acquire)
    async with running(line.services):
        await until(lambda: len(asked) == 2)
        await asyncio.sleep(0.3)
        asked_meanwhile = asked.count(KEY)
        going_on.set()

    assert asked_meanwhile == 1


async def test_a_session_ends_before_a_lease_that_is_not_renewed(line: Line, smsc: Smsc, pool: Pool):
    async with binding(line) as binds:
        session = binds.sessions()[0]
        await LEASES.change(pool, holder="another process")

        await within("the end of the session", session.ended)
        await until(lambda: not binds.sessions())
        assert await LEASES.only(pool, "holder") == "another process"


async def test_texts_leave_again_once_a_lost_lease_is_taken_back(line: Line, smsc: Smsc, pool: Pool):
    async with binding(line) as binds:
        await LEASES.change(pool, holder="another process", held_until=ahead(hours=1))
        await until(lambda: not binds.sessions())
        await line.send()
        await LEASES.change(pool, held_until=ago())

        await line.until_status("sent")

    assert len(smsc.all("submit")) == 1


async def test_a_lost_session_leaves_texts_ambiguous_and_never_sends_them_again(line: Line, smsc: Smsc, pool: Pool):
    smsc.answer("silent")
    async with binding(line) as binds:
        await line.send()
        await smsc.await_all("submit")
        smsc.command("drop")
        await until(lambda: len(smsc.all("bind")) == 2 and binds.sessions())
        await asyncio.sleep(0.3)

    assert len(smsc.all("submit")) == 1
    assert await MESSAGES.only(pool, "status") == "pending"
    assert (await OUTGOING.only(pool, "unanswered_since")) is not None


async def test_a_throttled_text_is_submitted_again_after_a_wait(line: Line, smsc: Smsc):
    smsc.answer(Status.throttled)
    async with binding(line):
        await line.send()
        await line.until_status("sent")

    assert len(smsc.all("submit")) == 2


async def test_a_text_is_answered_after_its_commit_and_kept_once_when_it_is_repeated(
    line: Line, smsc: Smsc, pool: Pool
):
    async with binding(line):
        async with writes_refused(pool, "messages", "direction <> 'inbound'"):
            assert await line.text("Hello") == Status.temporary_error
        assert await line.bodies() == []
        assert await line.text("Hello") == Status.ok

    assert await line.bodies() == ["Hello"]


async def test_a_text_that_is_repeated_in_a_later_session_is_kept_once(line: Line, smsc: Smsc, pool: Pool):
    async with binding(line) as binds:
        await line.text("Yes")
        smsc.command("drop")
        await until(lambda: len(smsc.all("bind")) == 2 and binds.sessions())
        repeated = await line.text("Yes")
        again = await line.text("Yes")

    assert (repeated, again) == (Status.ok, Status.ok)
    assert await line.bodies() == ["Yes", "Yes"]


async def test_a_text_whose_response_was_lost_after_its_commit_is_kept_once(line: Line, smsc: Smsc, pool: Pool):
    async with binding(line) as binds:
        async with table_locked(pool, "messages", "SHARE"):
            delivering = asyncio.create_task(line.text("Yes"))
            await until_blocked(pool)
            smsc.command("drop")
            await until(lambda: len(smsc.all("bind")) == 2 and binds.sessions())
        repeated = await line.text("Yes")
        delivering.cancel()

    assert repeated == Status.ok
    assert await line.bodies() == ["Yes"]


async def test_a_text_that_the_smsc_has_the_response_to_is_no_repetition_of_a_later_one(
    line: Line, smsc: Smsc, pool: Pool
):
    await change_connection(pool, KEY, settings={"host": "127.0.0.1", "port": smsc.port, "enquire_seconds": 1})
    async with binding(line) as binds:
        await line.text("Yes")
        await until(partial(is_empty, DELIVERIES, pool))
        smsc.command("drop")
        await until(lambda: len(smsc.all("bind")) == 2 and binds.sessions())
        await line.text("Yes")

    assert await line.bodies() == ["Yes", "Yes"]


async def test_two_equal_texts_of_a_person_are_two(line: Line):
    async with binding(line):
        await line.text("Yes")
        await line.text("Yes")

    assert await line.bodies() == ["Yes", "Yes"]


@pytest.mark.parametrize("order", [(1, 2, 3), (3, 1, 2)])
async def test_the_parts_of_a_long_text_are_joined_in_any_order_and_over_sessions(
    line: Line, smsc: Smsc, order: tuple[int, ...]
):
    body = "Жé👋" * 50
    octets = body.encode("utf-16-be")
    pieces = {1: octets[:134], 2: octets[134:265], 3: octets[265:]}  # a character is divided
    async with binding(line) as binds:
        for place, part in enumerate(order):
            udh = f"0500037f03{part:02x}"
            await line.text(None, hex=pieces[part].hex(), udh=udh, data_coding=8, esm_class=0x40)
            if place == 0:
                smsc.command("drop")
                await until(lambda: len(smsc.all("bind")) == 2 and binds.sessions())

    assert await line.bodies() == [body]


async def test_a_long_text_in_sar_parameters_is_joined(line: Line):
    async with binding(line):
        for number, body in ((2, "world"), (1, "Hello, ")):
            await line.text(body, sar_msg_ref_num=700, sar_total_segments=2, sar_segment_seqnum=number)

    assert await line.bodies() == ["Hello, world"]


async def test_a_long_text_in_one_payload_is_received(line: Line):
    async with binding(line):
        await line.text(None, message_payload="A" * 1000)

    assert await line.bodies() == ["A" * 1000]


async def test_the_parts_of_a_text_that_never_becomes_whole_are_received_after_a_day(line: Line, pool: Pool):
    async with binding(line):
        await line.text("the end", udh="050003090202", esm_class=0x40)
        assert await line.bodies() == []
    later = replace(line.services, clock=Later(timedelta(hours=25)))
    async with binding(replace(line, services=later)):
        await until(line.bodies)

    assert await line.bodies() == ["[…] the end"]


async def test_a_receipt_that_names_no_message_is_kept_for_inspection(line: Line, pool: Pool):
    async with binding(line):
        await line.smsc.deliver(source_addr="1", destination_addr="2", esm_class=4, short_message="stat:DELIVRD")
        assert await line.report("unknown-1") == Status.ok

    assert await UNMATCHED_CALLBACKS.only(pool, "kind", "problem") == ("status", "the receipt names no message")
    assert await UNMATCHED_RECEIPTS.only(pool, "provider_message_id") == "unknown-1"


async def test_a_stop_with_a_last_parameter_that_ends_too_early_opts_the_sender_out(line: Line, smsc: Smsc, pool: Pool):
    here, them = addresses.encode(line.account.phone_number), addresses.encode(THEM)
    body = encode_message(ShortMessage(them, here, b"STOP")) + b"\x14\x03\x00\x09\x01"
    async with binding(line):
        smsc.command("raw", hex=Pdu(Command.deliver_sm, 0, 9, body).encode().hex())
        await until(line.bodies)

    assert await line.bodies() == ["STOP"]
    assert await CONTACTS.only(pool, "phone", "status") == (THEM, "opted_out")


async def test_a_delivery_that_cannot_be_read_is_kept_for_inspection(line: Line, smsc: Smsc, pool: Pool):
    async with binding(line):
        smsc.command("raw", hex=Pdu(Command.deliver_sm, 0, 9, b"\0\1\1" + b"1" * 90).encode().hex())
        await until(partial(UNMATCHED_CALLBACKS.count, pool))

    kept = await UNMATCHED_CALLBACKS.only(pool, "carrier", "kind", "problem", "payload")
    octets = (b"\0\1\1" + b"1" * 90).hex()
    assert tuple(kept) == (KEY, "inbound", "a text without its end", {"octets": octets})


async def is_sent_to(pool: Pool, to: str) -> bool:
    return await MESSAGES.where(to_number=to).only(pool, "status") == "sent"


async def is_empty(rows: Rows, pool: Pool) -> bool:
    return not await rows.count(pool)
