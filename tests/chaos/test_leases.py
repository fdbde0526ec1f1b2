"""A worker that dies, or stops for longer than its lease, amid a call of a CRM."""

import signal
import sys
from pathlib import Path

import pytest

from tests.chaos.connectors import exchange
from tests.chaos.leases import ADD, ADD_TEXT, CHANGE, COMPARE, FETCH, RENEW, Duel

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGSTOP], ids=lambda sign: sign.name)
async def test_another_worker_goes_on_and_the_former_one_writes_nothing(
    sign: signal.Signals, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with exchange(tmp_path, seed=20_261_124) as exchanged:
        duel, peer = Duel(exchanged, sign), exchanged.peer
        await duel.prepare()
        for call, act in (
            (ADD_TEXT, exchanged.say),
            (ADD, duel.add_here),
            (CHANGE, duel.rename_here),
            (COMPARE, duel.rename_there),
            (FETCH, duel.synchronize),
        ):
            await duel.strike(call, act)
            await duel.check()
        renewed, reconnected = peer.calls.count(RENEW), peer.calls.count("POST /oauth/reconnect")
        await duel.strike(RENEW, duel.expire_tokens)
        await duel.check()

        renewals = peer.calls.count(RENEW) - renewed, peer.calls.count("POST /oauth/reconnect") - reconnected
        texts = [each["altId"] for each in peer.messages if each["direction"] == "inbound"]

    with capsys.disabled():
        sys.stdout.write(f"\n{sign.name}: 6 moments; {len(texts)} entries of {len(exchanged.said)} texts\n")
    assert renewals == (3, 1)  # of the former holder, of the other with the token that is used up, and by a new code
    assert len(texts) <= len(exchanged.said) + 1  # the entry whose answer was lost
