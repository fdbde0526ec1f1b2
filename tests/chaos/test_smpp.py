"""A thousand texts through an SMSC, while the processes that bind to it are killed, and workers too."""

import asyncio
import json
import sys
from collections import Counter
from pathlib import Path

import pytest

from app.bootstrap import derive
from app.domain.kernel.sealing import Seal
from tests.chaos.storm import UNSETTLED, Storm, storm
from tests.e2e.processes import Process
from tests.factories.billing import audit
from tests.factories.carriers import add_connection
from tests.factories.messages import MESSAGES
from tests.factories.numbers import add_number
from tests.smpp.smscs import HOST, LOGIN, Smsc, open_smsc
from tests.waiting import until

pytestmark = pytest.mark.anyio

TEXTS, KILLS, WINDOW, PARTS_PER_SECOND = 1_000, 20, 10, 25.0
NUMBER = "+14155550100"
UNCONFIRMED = {"MESSAGING_UNCONFIRMED_AFTER_SECONDS": 10}
SETTLED = f"{UNSETTLED} AND NOT unconfirmed"


async def test_no_text_is_submitted_twice_and_few_are_unconfirmed_whatever_is_killed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with storm(tmp_path, TEXTS, 20_261_125, **UNCONFIRMED) as weather:
        with open_smsc() as smsc:
            smsc.command("pace", response=200, receipt=300)
            await connect(weather, smsc.port)
            binding = [start(weather) for _ in range(2)]
            await asyncio.gather(
                weather.send(TEXTS), kill_bound(weather, smsc, binding), weather.kill(KILLS, pause=5.0)
            )
            await weather.settle(SETTLED, seconds=300)

            submitted = Counter(each["text"] for each in smsc.all("submit"))
            rows = await MESSAGES.where(direction="outbound").read(weather.pool, "id", "body", "status")
            await audit(weather.pool)

    statuses = Counter(status for _, _, status in rows)
    with capsys.disabled():
        sys.stdout.write(
            f"\nsmpp: {TEXTS} texts, {KILLS} kills of bound processes and {weather.killed} of workers; "
            f"{dict(statuses)}, {len(submitted)} submitted\n"
        )
    assert {id for id, _, _ in rows} == set(weather.ids)
    assert set(submitted.values()) == {1}
    assert {body for _, body, status in rows if status == "delivered"} <= submitted.keys()
    assert statuses.keys() <= {"delivered", "sent"}
    assert statuses["sent"] <= KILLS * 1.5 * WINDOW


async def connect(weather: Storm, port: int) -> None:
    """Connect the account to an SMSC; its texts leave from there."""
    seal = Seal(derive(weather.settings, "carrier credentials"))
    credentials = seal.close(json.dumps({"system_id": LOGIN.system_id, "password": LOGIN.password}))
    settings = {"host": HOST, "port": port, "window": WINDOW}
    known = {"settings": settings, "credentials": credentials, "parts_per_second": PARTS_PER_SECOND}
    await add_connection(weather.pool, "smpp", kind="smpp", role="smpp", **known)
    number_id = await add_number(weather.pool, weather.account_id, NUMBER, carrier="smpp")
    weather.from_number = {"from_phone_number_id": number_id}


def start(weather: Storm) -> Process:
    return weather.start("smpp", MESSAGING_LOG_LEVEL="info")


async def kill_bound(weather: Storm, smsc: Smsc, binding: list[Process]) -> None:
    """Kill the process that is bound, a moment after it has bound, and start another."""
    for killed in range(KILLS):
        await until(lambda: len(smsc.all("bind")) > killed, 120)  # noqa: B023
        await until(lambda: any("smpp_bound" in each.output for each in binding), 120)
        await asyncio.sleep(weather.chance.uniform(0.2, 3))
        victim = next(each for each in binding if "smpp_bound" in each.output)
        binding.remove(victim)
        await asyncio.to_thread(victim.kill)
        binding.append(start(weather))
