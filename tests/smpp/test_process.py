"""`messaging smpp` as a process: it is killed, and stopped."""

from pathlib import Path

import pytest

from tests.conftest import SECRET
from tests.e2e.processes import Process, starting
from tests.smpp.lines import LEASES, Line, run_with_long_leases
from tests.smpp.smscs import Smsc
from tests.waiting import until

pytestmark = pytest.mark.anyio

PATIENCE_SECONDS = 90


async def until_started(process: Process) -> None:
    """Wait until a process runs; fail with its output when it ends instead."""

    def is_started() -> bool:
        assert process.is_running(), process.output
        return "smpp_started" in process.output

    await until(is_started, PATIENCE_SECONDS)


async def test_another_process_binds_after_a_kill_and_unbinds_when_it_is_stopped(
    tmp_path: Path, line: Line, smsc: Smsc
) -> None:
    known = line.services.settings
    settings = {
        "DATABASE_URL": known.database_url,
        "REDIS_URL": known.redis_url,
        "MESSAGING_ENVIRONMENT": "development",
        "MESSAGING_SECRET_KEY": SECRET,
    }
    with starting(tmp_path, run_with_long_leases) as start:
        first = start("smpp", **settings)
        await until(lambda: smsc.all("bind"), PATIENCE_SECONDS)
        second = start("smpp", **settings)
        await until_started(second)
        assert len(smsc.all("bind")) == 1

        first.kill()
        assert len(smsc.all("bind")) == 1
        await LEASES.age(line.services, "held_until", hours=1)
        await until(lambda: len(smsc.all("bind")) == 2, PATIENCE_SECONDS)
        await line.send("After the kill")
        await line.until_status("sent")
        code = second.stop()

    assert code == 0
    assert [each["text"] for each in smsc.all("submit")] == ["After the kill"]
    assert len(await smsc.await_all("unbind")) == 1
    assert "smpp_lease_released" in second.output
