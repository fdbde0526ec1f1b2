"""`python -m benchmarks [PROGRAM ...] [--rounds N] [--strict]`: run benchmarks, and print one table."""

import argparse
import os
import platform
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import uvloop

from app import gc
from app.embedded.servers import Servers
from benchmarks import (
    arrivals,
    backlog,
    campaigns,
    contacts,
    dashboard,
    dispatch,
    documents,
    handoff,
    idle,
    imports,
    nested,
    pipeline,
    queue,
    receipts,
    rendering,
    segments,
    send,
    smpp,
    tools,
    webhooks,
)
from benchmarks.figures import Comparison, table
from benchmarks.harness import Stage

Program = Callable[[Stage, int], Awaitable[list[Comparison]]]

PROGRAMS: dict[str, Program] = {
    "send": send.measure,
    "contacts": contacts.measure,
    "dashboard": dashboard.measure,
    "arrivals": arrivals.measure,
    "segments": segments.measure,
    "campaigns": campaigns.measure,
    "queue": queue.measure,
    "handoff": handoff.measure,
    "receipts": receipts.measure,
    "dispatch": dispatch.measure,
    "webhooks": webhooks.measure,
    "documents": documents.measure,
    "pipeline": pipeline.measure,
    "backlog": backlog.measure,
    "idle": idle.measure,
    "imports": imports.measure,
    "rendering": rendering.measure,
    "smpp": smpp.measure,
    "tools": tools.measure,
    "nested": nested.measure,
}
ROUNDS = 5


def main() -> int:
    """Run benchmarks on temporary servers; return 1 with `--strict` if a ratio misses its limit."""
    asked = _arguments()
    with tempfile.TemporaryDirectory(prefix="benchmarks-of-messaging-") as folder:
        servers = Servers.start(Path(folder))
        try:
            found = uvloop.run(_measure(Path(folder), servers, asked.programs or list(PROGRAMS), asked.rounds))
        finally:
            servers.stop()
    print(table(found))
    print(_conditions(asked.rounds))
    return int(asked.strict and not all(comparison.is_met for comparison in found))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks", description="Measure the service against floors.")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=f"{', '.join(PROGRAMS)}; all if none is named")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"how often each is run; {ROUNDS} if not given")
    parser.add_argument("--strict", action="store_true", help="end with exit code 1 when a ratio misses its limit")
    asked = parser.parse_args()
    for name in asked.programs:
        if name not in PROGRAMS:
            parser.error(f"There is no program {name}. There are {', '.join(PROGRAMS)}.")
    if asked.rounds < 1:
        parser.error("At least one round is needed.")
    return asked


async def _measure(folder: Path, servers: Servers, programs: Sequence[str], rounds: int) -> list[Comparison]:
    stage = await Stage.prepare(folder, servers)
    gc.settle()  # as every process of the service does
    return [comparison for name in programs for comparison in await PROGRAMS[name](stage, rounds)]


def _conditions(rounds: int) -> str:
    load, cores = os.getloadavg()[0], os.cpu_count()
    return (
        f"\nMedians of {rounds} rounds on {cores} cores, load {load:.1f}; Python {platform.python_version()}, fsync on."
    )


if __name__ == "__main__":
    sys.exit(main())
