"""The contract of every kind of carrier, through the whole service: hand-off, callbacks, events and ledger."""

import pytest

from app.providers.registry import KINDS
from tests.carriers.conftest import Bench
from tests.carriers.simulators import LOST, ROTATIONS, TELNYX, TWILIO, UNDER_TEST
from tests.domain.messages.handing import after, reconcile
from tests.factories.billing import LEDGER_ENTRIES, audit
from tests.factories.events import event_names
from tests.factories.messages import MESSAGES
from tests.waiting import until

pytestmark = pytest.mark.anyio

AWAITED = frozenset({"smpp"})
TWICE = "+15005560016"
WITH_SIMULATORS = pytest.mark.parametrize("bench", [TELNYX, TWILIO], ids=lambda kind: kind.name, indirect=True)


def test_every_kind_of_the_registry_is_under_test() -> None:
    assert {kind.name for kind in UNDER_TEST} == set(KINDS) - AWAITED


async def test_each_refusal_fails_the_text_with_its_cause_and_refunds_it(bench: Bench) -> None:
    refusals = bench.kind.refusals
    await bench.send(*refusals)

    await bench.settle(dict.fromkeys(refusals, "failed"))

    assert await bench.states() == {number: ("failed", *codes) for number, codes in refusals.items()}
    assert await bench.calls() == dict.fromkeys(refusals, 1)
    assert await refunds(bench) == len(refusals)
    await audit(bench.pool)


async def test_each_failure_in_a_report_fails_the_text_with_its_cause_and_refunds_it(bench: Bench) -> None:
    failures = bench.kind.failures
    await bench.send(*failures)

    await bench.settle(dict.fromkeys(failures, "failed"))

    assert await bench.states() == {number: ("failed", *codes) for number, codes in failures.items()}
    assert await bench.calls() == dict.fromkeys(failures, 1)
    assert await refunds(bench) == len(failures)
    await audit(bench.pool)


async def test_no_odd_answer_or_report_loses_or_doubles_a_text(bench: Bench) -> None:
    odd = bench.kind.odd
    await bench.send(*odd)

    await bench.settle({number: status for number, (status, *_) in odd.items()})

    states, calls = await bench.states(), await bench.calls()
    assert {number: (*states[number][:2], calls[number]) for number in odd} == odd
    delivered = sum(status == "delivered" for status, *_ in odd.values())
    assert len(await event_names(bench.pool, "message_delivered")) == delivered
    assert await refunds(bench) == 0
    await audit(bench.pool)


async def refunds(bench: Bench) -> int:
    """Count the refunds."""
    return await LEDGER_ENTRIES.where(type="refund").count(bench.pool)


async def test_a_person_who_replies_stop_is_opted_out_by_one_message(bench: Bench) -> None:
    await bench.send(bench.kind.stop)

    await inbound_arrives(bench, "STOP")

    assert await event_names(bench.pool, "new_opt_out") == ["new_opt_out"]
    await audit(bench.pool)


@WITH_SIMULATORS
async def test_a_reply_that_is_brought_twice_is_one_message(bench: Bench) -> None:
    assert bench.simulator
    earlier = bench.simulator.brought(TWICE)

    await bench.send(TWICE)

    await inbound_arrives(bench, "Hello")
    await until(lambda: bench.simulator and bench.simulator.brought(TWICE) == earlier + 2)
    assert await MESSAGES.where(direction="inbound").read(bench.pool, "body") == ["Hello"]


async def inbound_arrives(bench: Bench, body: str) -> None:
    """Work until one text of a person has arrived."""

    async def has_arrived() -> bool:
        await bench.work()
        return await MESSAGES.where(direction="inbound").read(bench.pool, "body") == [body]

    await until(has_arrived, every=0.1)


@WITH_SIMULATORS
async def test_credentials_are_rotated_under_load_without_a_loss(bench: Bench) -> None:
    credentials, said = ROTATIONS[bench.kind.name]
    before, meanwhile, afterwards = (
        [f"+1202555{part}{number:02d}" for number in range(20)] for part in ("01", "02", "03")
    )
    assert bench.simulator

    await bench.send(*before)
    await bench.work()
    bench.simulator.ask("secrets", {"accepted": said["accepted"]})  # calls with the old ones are refused from now on
    await bench.send(*meanwhile)
    await bench.work()
    await bench.rotate(credentials)
    bench.services.connections.expire()
    await bench.send(*afterwards)
    await bench.work()
    bench.simulator.ask("secrets", said)  # callbacks are signed with the new ones from now on
    await bench.settle(dict.fromkeys(bench.sent, "delivered"))

    assert await bench.calls() == dict.fromkeys(bench.sent, 1)
    await audit(bench.pool)


@pytest.mark.parametrize("bench", [TELNYX], ids=["telnyx"], indirect=True)
async def test_a_text_that_telnyx_does_not_list_is_presumed_sent_and_not_sent_again(bench: Bench) -> None:
    await bench.send(*LOST)
    await bench.settle(dict.fromkeys(LOST, "pending"))

    await reconcile(after(bench.services.handoff, hours=2))

    assert {status for status, *_ in (await bench.states()).values()} == {"sent"}
    assert await MESSAGES.read(bench.pool, "unconfirmed") == [True] * len(LOST)
    assert await bench.calls() == dict.fromkeys(LOST, 1)
    assert await refunds(bench) == 0
    await audit(bench.pool)
