"""The contract of every kind of carrier, through the whole service: hand-off, callbacks, events and ledger."""

import asyncio

import pytest

from app.domain.carriers import lookups, queries
from app.domain.carriers import service as carriers
from app.domain.carriers.carrier import LookedUpNumber
from app.domain.carriers.errors import CarrierConnectionRefused
from app.domain.kernel.errors import DomainError, InvalidInput, NotFound, RateLimited
from app.domain.kernel.phone import LineType
from app.domain.kernel.unit_of_work import Actor
from app.providers.registry import KINDS
from tests.carriers.conftest import Bench
from tests.carriers.simulators import ACCEPTED, LOST, ROTATIONS, SANDBOX, SMPP, TELNYX, UNDER_TEST, Simulator
from tests.conftest import unit_of
from tests.domain.messages.handing import after, reconcile
from tests.factories.billing import LEDGER_ENTRIES, audit
from tests.factories.carriers import MINUTES, change_connection
from tests.factories.events import event_names
from tests.factories.messages import MESSAGES
from tests.waiting import until

pytestmark = pytest.mark.anyio

TWICE = "+15005560016"
OVER_HTTP = [kind for kind in UNDER_TEST if kind not in (SANDBOX, SMPP)]
WITH_SIMULATORS = pytest.mark.parametrize("bench", OVER_HTTP, ids=lambda kind: kind.name, indirect=True)


def test_every_kind_of_the_registry_is_under_test() -> None:
    assert {kind.name for kind in UNDER_TEST} == set(KINDS)


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

    await bench.settle({number: status for number, (status, *_) in odd.items()}, hurry=5)

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
    assert isinstance(bench.simulator, Simulator)
    earlier = bench.simulator.brought(TWICE)

    await bench.send(TWICE)

    await inbound_arrives(bench, "Hello")
    simulator = bench.simulator
    await until(lambda: simulator.brought(TWICE) == earlier + 2)
    assert await MESSAGES.where(direction="inbound").read(bench.pool, "body") == ["Hello"]


async def test_a_number_is_looked_up_where_the_carrier_has_lookups(bench: Bench) -> None:
    own, connections = bench.account.account_id, bench.services.connections
    if bench.simulator is not None:
        await change_connection(bench.pool, bench.kind.name, account_id=own)
    async with unit_of(bench.services, Actor(own, frozenset(), "test")) as unit:
        if bench.kind is SMPP:
            with pytest.raises(InvalidInput, match="looks up no numbers"):
                await lookups.look_up(unit, connections, "smpp", "+12025550143")
            return
        found = await lookups.look_up(unit, connections, bench.kind.name, "+12025550143")

    simulated = LookedUpNumber(True, LineType.mobile, "Simulated Mobile", "US")
    offline = LookedUpNumber(True, country="US")
    assert found.said == (simulated if bench.simulator else offline)


@WITH_SIMULATORS
async def test_lookups_through_a_connection_of_the_installation_need_its_consent(bench: Bench) -> None:
    settings, _ = bench.kind.configure(bench.simulator.url if isinstance(bench.simulator, Simulator) else "")
    actor = Actor(bench.account.account_id, frozenset(), "test")
    key, connections = bench.kind.name, bench.services.connections
    async with unit_of(bench.services, actor) as unit:
        with pytest.raises(NotFound):
            await lookups.look_up(unit, connections, key, "+12025550143")

    await change_connection(bench.pool, key, settings={**settings, "shares_lookups": True})
    connections.expire()

    async with unit_of(bench.services, actor) as unit:
        assert (await lookups.look_up(unit, connections, key, "+12025550143")).said.carrier == "Simulated Mobile"


LIMITED = {"twilio": "+15005520429", "telnyx": "+15005510011"}
REFUSED = {"twilio": "+15005520003", "telnyx": "+15005510009"}


@WITH_SIMULATORS
@pytest.mark.parametrize(
    ("numbers", "error", "said"),
    [(LIMITED, RateLimited, "again in 10 s"), (REFUSED, CarrierConnectionRefused, "HTTP 401")],
)
async def test_each_refusal_of_a_lookup_is_an_error_of_the_catalogue(
    bench: Bench, numbers: dict[str, str], error: type[DomainError], said: str
) -> None:
    own, key = bench.account.account_id, bench.kind.name
    await change_connection(bench.pool, key, account_id=own)

    async with unit_of(bench.services, Actor(own, frozenset(), "test")) as unit:
        with pytest.raises(error, match=said):
            await lookups.look_up(unit, bench.services.connections, key, numbers[key])


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
    assert isinstance(bench.simulator, Simulator)

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


@WITH_SIMULATORS
async def test_no_text_is_refused_while_credentials_that_the_carrier_knows_are_rotated(bench: Bench) -> None:
    (credentials, said), simulator, services = ROTATIONS[bench.kind.name], bench.simulator, bench.services
    assert isinstance(simulator, Simulator)
    simulator.ask("secrets", {"accepted": [ACCEPTED[bench.kind.name], *said["accepted"]]})

    async def load(part: int) -> None:
        for number in range(20):
            await bench.send(f"+12025550{part}{number:02d}")
            await bench.work()

    async def rotate() -> None:
        await until(lambda: len(bench.sent) >= 15)
        async with unit_of(services, Actor(0, frozenset(), "command line")) as unit:
            connection = await queries.get_any(unit, bench.kind.name)
            await carriers.rotate(unit, services.carriers, connection, credentials, 1)

    await asyncio.gather(*(load(part) for part in (1, 2, 3)), rotate())
    services.connections.expire()  # processes use new credentials after a second
    simulator.ask("secrets", said)  # the former ones are refused from now on
    await bench.send("+12025550143")
    await bench.settle(dict.fromkeys(bench.sent, "delivered"))
    await services.health.flush()

    assert await bench.calls() == dict.fromkeys(bench.sent, 1)
    assert sum(await MINUTES.where(result="accepted").read(services, "count")) == len(bench.sent) == 61
    assert await MINUTES.where(result="rejected").count(services) == 0
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
