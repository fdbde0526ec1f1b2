"""Response times during floods: `GET /billing/balance` of one account alone, and with 8 senders of each flood.

The limit of requests is disabled, as for an account with many keys at the beginning of its minute.
"""

import http.client
import re
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import asyncpg
import orjson

from app.settings import Settings
from benchmarks import accounts, burdens, harness
from benchmarks.accounts import Opened
from benchmarks.burdens import Request
from benchmarks.figures import Bar, Comparison, Series
from benchmarks.handoff import ADD_PENDING, ADD_PEOPLE
from benchmarks.harness import ROOT, Process, Stage

SENDERS = 8
SECONDS = 4.0
WARM_UP_SECONDS = 2.0
CONTACTS = 400
PRODUCTION = {"MESSAGING_ENVIRONMENT": "production", "MESSAGING_BASE_URL": "https://sms.example.com"}
BAR = Bar(2, is_most=True)

_form_token = re.compile(r'name="form_token" value="([^"]+)"').search


class Times(NamedTuple):
    """The median and the 95th percentile of response times, in ms."""

    p50: float
    p95: float


async def measure(on: Stage, rounds: int) -> list[Comparison]:
    """Query the balance, alone and during each flood."""
    async with on.database("documents") as settings:
        asking, sending = await accounts.open_accounts(settings, 2)
        await _fill(settings, sending)
        seen: dict[str, list[tuple[Times, Times]]] = {}
        with harness.product(settings, **PRODUCTION) as product:
            floods = burdens.of(sending.key, *_open_form(product))
            for _ in range(rounds):
                for name, requests in floods.items():
                    alone = _ask(product, asking.key)
                    with _senders(product, requests):
                        seen.setdefault(name, []).append((_ask(product, asking.key), alone))
    return [_compare(name, place, pairs) for name, pairs in seen.items() for place in range(len(Times._fields))]


def _compare(name: str, place: int, pairs: Sequence[tuple[Times, Times]]) -> Comparison:
    return Comparison(
        f"beside {SENDERS} senders of {name}",
        f"ms, {Times._fields[place]}",
        Series("beside", [beside[place] for beside, _ in pairs]),
        Series("alone", [alone[place] for _, alone in pairs]),
        None if place else BAR,
    )


async def _fill(settings: Settings, account: Opened) -> None:
    connection = await asyncpg.connect(settings.database_url)
    await connection.execute(ADD_PEOPLE, account.id, CONTACTS)
    await connection.execute(ADD_PENDING)
    await connection.execute("VACUUM ANALYZE")
    await connection.close()


def _open_form(product: Process) -> tuple[str, str]:
    """Return the cookie and the token of a sign-in form."""
    client = http.client.HTTPConnection("127.0.0.1", product.port)
    client.request("GET", "/login")
    answer = client.getresponse()
    cookie, token = answer.headers["Set-Cookie"].partition(";")[0], _form_token(answer.read().decode())
    client.close()
    assert token
    return cookie, token[1]


def _ask(product: Process, key: str) -> Times:
    client = http.client.HTTPConnection("127.0.0.1", product.port)
    times, end = list[float](), time.monotonic() + SECONDS
    while time.monotonic() < end:
        begun = time.perf_counter()
        client.request("GET", "/billing/balance", headers={"X-API-Key": key})
        answer = client.getresponse()
        body = answer.read()
        times.append(1000 * (time.perf_counter() - begun))
        assert answer.status == 200, body
        time.sleep(0.02)
    client.close()
    times.sort()
    return Times(times[len(times) // 2], times[len(times) * 95 // 100])


@contextmanager
def _senders(product: Process, requests: Sequence[Request]) -> Generator[None]:
    order = {"port": product.port, "requests": requests, "senders": SENDERS}
    with subprocess.Popen([sys.executable, "-m", "benchmarks.flood"], stdin=subprocess.PIPE, cwd=ROOT) as flood:
        assert flood.stdin
        flood.stdin.write(orjson.dumps(order) + b"\n")
        flood.stdin.flush()
        time.sleep(WARM_UP_SECONDS)
        assert flood.poll() is None
        yield
