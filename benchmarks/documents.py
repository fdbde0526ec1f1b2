"""Other callers beside those who send the worst documents: `GET /billing/balance` alone, and beside 8 senders.

Each sender has one connection and sends the next document as soon as the last is answered, whatever the answer; every
document is new, so that none was read before.
"""

import http.client
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from statistics import median

import orjson

from benchmarks import accounts, stage
from benchmarks.figures import Bar, Comparison, Series
from benchmarks.stage import ROOT, Process, Stage

SENDERS = 8
SECONDS = 8.0
WARM_UP_SECONDS = 2.0
BAR = Bar(2, is_most=True)

WORST = (
    "{account{" + "id " * 980 + "}}",
    "{" + "...{account{id}}" * 59 + "}",
    "{account{" + "id @skip(if:false) " * 120 + "}}",
    "".join(f"query q{n}{{...f}}" for n in range(140)) + "fragment f on Query{account{id}}",
    "{" + " ".join(f"a{n}: contacts(first: 1) {{ total_count }}" for n in range(9)) + "}",
)
"""The first four are refused after they were read; the last one runs."""


async def measure(on: Stage, rounds: int) -> list[Comparison]:
    """Ask for the balance, alone and beside senders without a key and with one of another account."""
    async with on.database("documents") as settings:
        asking, sending = await accounts.open_accounts(settings, 2)
        seen: dict[str, list[tuple[float, float]]] = {"without a key": [], "with a key": []}
        with stage.product(settings, MESSAGING_RATE_LIMIT=str(settings.rate_limit)) as product:
            for _ in range(rounds):
                for name, key in (("without a key", None), ("with a key", sending.key)):
                    alone = _ask(product, asking.key)
                    with _senders(product, key):
                        seen[name].append((_ask(product, asking.key), alone))
    return [
        Comparison(
            f"documents, beside {SENDERS} senders {name}",
            "ms, p50",
            Series("beside", [one for one, _ in pairs]),
            Series("alone", [other for _, other in pairs]),
            BAR,
        )
        for name, pairs in seen.items()
    ]


def _ask(product: Process, key: str) -> float:
    """Return the median time of an answer, in ms."""
    client, times, end = (
        http.client.HTTPConnection("127.0.0.1", product.port),
        list[float](),
        time.monotonic() + SECONDS,
    )
    while time.monotonic() < end:
        begun = time.perf_counter()
        client.request("GET", "/billing/balance", headers={"X-API-Key": key})
        answer = client.getresponse()
        body = answer.read()
        times.append(1000 * (time.perf_counter() - begun))
        assert answer.status == 200, body
        time.sleep(0.02)  # within the limit of requests, as any caller is
    client.close()
    return median(times)


@contextmanager
def _senders(product: Process, key: str | None) -> Generator[None]:
    order = {
        "port": product.port,
        "texts": WORST,
        "headers": {"X-API-Key": key} if key else {},
        "senders": SENDERS,
    }
    with subprocess.Popen([sys.executable, "-m", "benchmarks.flood"], stdin=subprocess.PIPE, cwd=ROOT) as flood:
        assert flood.stdin
        flood.stdin.write(orjson.dumps(order) + b"\n")
        flood.stdin.flush()
        time.sleep(WARM_UP_SECONDS)
        assert flood.poll() is None
        yield
