"""A thousand texts through a simulated carrier, while workers are killed."""

import asyncio
import json
import sys
from collections import Counter
from pathlib import Path

import pytest

from app.bootstrap import derive
from app.domain.kernel.sealing import Seal
from tests.carriers.simulators import NUMBER, TELNYX, TWILIO, Kind, Simulator, simulating
from tests.chaos.storm import Storm, storm
from tests.factories.billing import audit
from tests.factories.carriers import add_connection
from tests.factories.messages import MESSAGES
from tests.factories.numbers import add_number

pytestmark = pytest.mark.anyio

TEXTS, KILLS = 1_000, 20
ASKED_SECONDS = {"telnyx": 30, "twilio": 3600}
"""How long a carrier is asked for a text: Telnyx never says that it does not have one."""

UNSETTLED = "SELECT count(*) FROM messages WHERE status = 'pending' OR (status = 'sent' AND NOT unconfirmed)"


@pytest.mark.parametrize("kind", [TELNYX, TWILIO], ids=lambda kind: kind.name)
async def test_no_text_is_lost_or_given_twice_to_a_carrier_whatever_is_killed(
    kind: Kind, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with storm(
        tmp_path, TEXTS, 20_261_124, MESSAGING_UNCONFIRMED_AFTER_SECONDS=ASKED_SECONDS[kind.name]
    ) as weather:
        with simulating(kind.name, f"{weather.settings.public_url}/carriers/{kind.name}/inbound") as simulator:
            await connect(weather, kind, simulator)
            await asyncio.gather(weather.send(TEXTS), weather.kill(KILLS, pause=1.0))
            await weather.settle(UNSETTLED)

            calls = simulator.calls()
            statuses = dict(await MESSAGES.where(direction="outbound").read(weather.pool, "id", "status"))
            await audit(weather.pool)

    with capsys.disabled():
        sys.stdout.write(f"\n{kind.name}: {TEXTS} texts, {KILLS} kills; {dict(Counter(statuses.values()))}\n")
    assert set(calls.values()) == {1}
    assert set(statuses) == set(weather.ids)
    assert {id for id, status in statuses.items() if status == "delivered"} >= set(calls)
    lost = {id for id, status in statuses.items() if status != "delivered"}
    assert {statuses[id] for id in lost} <= {"sent"}
    assert kind is TELNYX or not lost


async def connect(weather: Storm, kind: Kind, simulator: Simulator) -> None:
    """Connect the account to a simulated carrier; its texts leave from there."""
    settings, credentials = kind.configure(simulator.url)
    seal = Seal(derive(weather.settings, "carrier credentials"))
    known = {"settings": settings, "credentials": seal.close(json.dumps(credentials))}
    await add_connection(weather.pool, kind.name, kind=kind.name, **known)
    number_id = await add_number(weather.pool, weather.account_id, NUMBER, carrier=kind.name)
    weather.from_number = {"from_phone_number_id": number_id}
