"""Simulated carriers as processes of their own, and what each does to texts to special numbers."""

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import orjson

from app.domain.messages import retries
from app.providers.carriers.sandbox.numbers import MAGIC
from app.providers.carriers.smpp import statuses
from app.providers.carriers.telnyx import errors as telnyx_errors
from app.providers.carriers.twilio import errors as twilio_errors
from tests.e2e.processes import ROOT
from tests.peers.telnyx import public_key

NUMBER = "+14155550100"
SIGNING, ROTATED = bytes(range(32)).hex(), bytes(range(1, 33)).hex()
ACCOUNT = "AC" + "0" * 32
Fate = tuple[str, str | None, int]
"""The status of a message, our error code, and the calls of the carrier."""


ACCEPTED = {"twilio": "simulated", "telnyx": "KEYsimulated"}
"""The secrets that are accepted at first."""


@dataclass
class Simulator:
    """A running simulated carrier."""

    kind: str
    url: str
    client: httpx2.Client

    def ask(self, path: str, said: object = None) -> Any:
        """Ask the simulator for its state, or tell it something."""
        url = f"{self.url}/simulator/{path}"
        answer = self.client.get(url) if said is None else self.client.post(url, content=orjson.dumps(said))
        return answer.raise_for_status() and (answer.json() if answer.content else None)

    def reset(self) -> None:
        """Have the first credentials accepted, and sign with them."""
        accepted = ACCEPTED[self.kind]
        signing = {"twilio": "simulated", "telnyx": SIGNING}[self.kind]
        self.ask("secrets", {"accepted": [accepted], "signing": signing})

    def brought(self, number: str) -> int:
        """Return how often a text of a person was posted to the service."""
        return self.ask("state")["brought"].get(number, 0)

    def calls(self) -> dict[int, int]:
        """Return how often each message was handed off, by our reference."""
        state: dict[str, int] = self.ask("state")["calls"]
        return {int(url.rpartition("=")[2]): count for url, count in state.items() if url}


ROTATIONS: Mapping[str, tuple[dict[str, str], dict[str, Any]]] = {
    "twilio": (
        {"account_sid": ACCOUNT, "auth_token": "rotated"},
        {"accepted": ["rotated"], "signing": "rotated"},
    ),
    "telnyx": (
        {"api_key": "KEYrotated", "public_key": public_key(ROTATED)},
        {"accepted": ["KEYrotated"], "signing": ROTATED},
    ),
}
"""New credentials of a connection, and those that the simulator is told."""


@contextmanager
def simulating(kind: str, inbound_url: str, *options: str, delay: float = 0.02) -> Iterator[Simulator]:
    """Run a simulated carrier."""
    arguments = ["--port", "0", "--number", NUMBER, "--delay", str(delay), "--inbound-url", inbound_url, *options]
    command = [sys.executable, "-m", f"tests.peers.{kind}", *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            with httpx2.Client() as client:
                yield Simulator(kind, process.stdout.readline().strip(), client)
        finally:
            process.kill()


@dataclass(frozen=True)
class Kind:
    """A kind of connection under test. `refusals` and `failures` are the numbers of each error code."""

    name: str
    configure: Callable[[str], tuple[dict[str, Any], dict[str, Any]]]
    refusals: Mapping[str, tuple[str, str]]
    failures: Mapping[str, tuple[str, str]]
    odd: Mapping[str, Fate]
    stop: str


def _twilio(url: str) -> tuple[dict[str, Any], dict[str, Any]]:
    return {"api_url": url, "lookups_url": url}, {"account_sid": ACCOUNT, "auth_token": "simulated"}


def _telnyx(url: str) -> tuple[dict[str, Any], dict[str, Any]]:
    return {"api_url": f"{url}/v2"}, {"api_key": "KEYsimulated", "public_key": public_key(SIGNING)}


def _numbers(codes: Mapping[int, str], chosen: Callable[[int], bool]) -> dict[str, tuple[str, str]]:
    """Return the numbers of the chosen codes, but for those that are tried again, with our code and theirs."""
    tried_again = ("rate_limited", *retries.RULES)
    return {
        f"+150055{code}": (failure, str(code))
        for code, failure in codes.items()
        if chosen(code) and failure not in tried_again and code not in (20003, 10009)
    }


DELIVERED: Fate = ("delivered", None, 1)
COMMON: Mapping[str, Fate] = {
    "+12025550143": DELIVERED,
    "+15005560001": ("delivered", None, 3),
    "+15005560003": DELIVERED,
    "+15005560005": DELIVERED,
    "+15005560007": DELIVERED,
    "+15005560008": DELIVERED,
    "+15005560009": DELIVERED,
    "+15005560010": DELIVERED,
    "+15005560011": DELIVERED,
    "+15005560012": DELIVERED,
    "+15005560017": DELIVERED,
}
LOST = ("+15005560002", "+15005560004", "+15005560006", "+15005560018")
"""Numbers whose first call has no usable answer, and was not accepted."""

TWILIO = Kind(
    "twilio",
    _twilio,
    _numbers(twilio_errors.CODES, lambda code: code < 30000),
    _numbers(twilio_errors.CODES, lambda code: 30000 <= code < 40000),
    {**COMMON, **dict.fromkeys(LOST, ("delivered", None, 2)), "+15005560013": ("sent", None, 1)},
    "+15005560014",
)
TELNYX = Kind(
    "telnyx",
    _telnyx,
    _numbers(telnyx_errors.CODES, lambda code: not 40000 <= code < 40100),
    _numbers(telnyx_errors.CODES, lambda code: 40000 <= code < 40100),
    {**COMMON, **dict.fromkeys(LOST, ("pending", None, 1)), "+15005560013": ("sent", None, 1)},
    "+15005560014",
)
SANDBOX = Kind(
    "sandbox",
    lambda _: ({}, {}),
    {
        number: (script.refusal, script.refusal)
        for number, script in MAGIC.items()
        if script.refused_calls > 2 and script.refusal
    },
    {
        number: (script.reports[1].code, script.reports[1].code)
        for number, script in MAGIC.items()
        if number.startswith("+150055501") and script.reports[1].code and script.reports[1].code not in retries.RULES
    },
    {
        "+12025550143": DELIVERED,
        "+15005550007": ("delivered", None, 3),
        "+15005550202": DELIVERED,
        "+15005550203": DELIVERED,
        "+15005550204": DELIVERED,
        "+15005550205": ("sent", None, 1),
        "+15005550301": DELIVERED,
        "+15005550303": ("pending", None, 1),
    },
    "+15005550401",
)
SCRIPTS: Mapping[str, dict[str, Any]] = {
    **{f"+1500557{status:04d}": {"status": status} for status in (*statuses.CODES, 0x45)},
    "+15005580001": {"stat": "UNDELIV", "err": "027"},
    "+15005580002": {"stat": "EXPIRED"},
    "+15005580003": {"stat": "REJECTD"},
    "+15005580004": {"stat": "DELETED"},
    "+15005590001": {"status": 0x58, "refused": 1},
    "+15005590002": {"receipt": 0, "response": 300},
    "+15005590003": {"times": 3},
    "+15005590004": {"silent": True},
    "+15005590005": {"stat": "ACCEPTD"},
    "+15005590006": {"reply": "STOP"},
}
"""What the simulated SMSC does with texts to special numbers; it delivers those to any other."""

SMPP = Kind(
    "smpp",
    lambda url: (
        {"host": "127.0.0.1", "port": int(url), "response_seconds": 5},
        {"system_id": "messaging", "password": "secret12"},
    ),
    {
        number: (statuses.CODES.get(script["status"], "carrier_error"), statuses.describe(script["status"]))
        for number, script in SCRIPTS.items()
        if number.startswith("+1500557")
    },
    {
        "+15005580001": ("unreachable", "UNDELIV err:027"),
        "+15005580002": ("expired", "EXPIRED"),
        "+15005580003": ("message_rejected", "REJECTD"),
        "+15005580004": ("carrier_error", "DELETED"),
    },
    {
        "+12025550143": DELIVERED,
        "+15005590001": ("delivered", None, 2),
        "+15005590002": DELIVERED,
        "+15005590003": DELIVERED,
        "+15005590004": ("pending", None, 1),
        "+15005590005": ("sent", None, 1),
    },
    "+15005590006",
)
UNDER_TEST = (SANDBOX, SMPP, TELNYX, TWILIO)
