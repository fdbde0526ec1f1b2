"""Metrics for Prometheus, read by `GET /metrics`.

Each process counts for itself. When `PROMETHEUS_MULTIPROC_DIR` names a folder before the first import of this
module, the counts are kept in files there, and one process can report the metrics of all processes of the machine.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4 as CONTENT_TYPE
from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector

from app.telemetry import ended_processes

__all__ = [
    "ATTEMPTS_UNCHECKED",
    "CARRIER_RESULTS",
    "CONTENT_TYPE",
    "ERRORS",
    "JOB_RUNS",
    "JOB_SECONDS",
    "MAILS",
    "NOTIFICATIONS",
    "RATE_LIMITS",
    "REQUEST_SECONDS",
    "SENDS",
    "SIGN_INS",
    "SMPP_BOUND",
    "WEBHOOKS_IN_FLIGHT",
    "Source",
    "fold",
    "render",
]

SOURCE_TIMEOUT = 5.0

REGISTRY = CollectorRegistry()
REQUEST_SECONDS = Histogram(
    "messaging_request_seconds",
    "Seconds from a request to the beginning of its answer.",
    ["method", "route", "status"],
    registry=REGISTRY,
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0),
)
ERRORS = Counter("messaging_errors", "Errors answered, by code.", ["code"], registry=REGISTRY)
SENDS = Counter("messaging_sends", "Messages handed to a carrier, by result.", ["result"], registry=REGISTRY)
CARRIER_RESULTS = Counter(
    "messaging_carrier_results",
    "Answers, final reports and callbacks of carriers, by connection and failure code; own: those of accounts.",
    ["connection", "result", "code"],
    registry=REGISTRY,
)
NOTIFICATIONS = Counter(
    "messaging_notifications", "Notifications of the notifier, by result.", ["topic", "result"], registry=REGISTRY
)
RATE_LIMITS = Counter(
    "messaging_rate_limits",
    "Requests counted against a rate limit, by result.",
    ["policy", "result"],
    registry=REGISTRY,
)
WEBHOOKS_IN_FLIGHT = Gauge(
    "messaging_webhooks_in_flight",
    "POSTs to subscribers in flight.",
    registry=REGISTRY,
    multiprocess_mode="livesum",
)
SIGN_INS = Counter("messaging_sign_ins", "Attempts to sign in, by result.", ["result"], registry=REGISTRY)
SMPP_BOUND = Gauge(
    "messaging_smpp_bound",
    "SMPP connections with a bound session: 1, or 0 without one.",
    ["connection"],
    registry=REGISTRY,
    multiprocess_mode="livesum",
)
ATTEMPTS_UNCHECKED = Counter(
    "messaging_attempts_unchecked",
    "Password attempts that were not throttled because Redis was unreachable.",
    registry=REGISTRY,
)
MAILS = Counter("messaging_mails", "Mails, by result.", ["result"], registry=REGISTRY)
JOB_RUNS = Counter("messaging_job_runs", "Batches of a job, by result.", ["topic", "result"], registry=REGISTRY)
JOB_SECONDS = Histogram(
    "messaging_job_seconds",
    "Seconds that one batch of a job took.",
    ["topic"],
    registry=REGISTRY,
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0),
)

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Source:
    """A metric that is read at each scrape: `read` returns one number for each value of `label`."""

    name: str
    documentation: str
    label: str
    read: Callable[[], Awaitable[Mapping[str, float]]]


async def render(sources: Sequence[Source] = (), folder: str | None = None) -> bytes:
    """Return all metrics in Prometheus' text format; `folder` is where several processes keep their counts."""
    gauges = await asyncio.gather(*map(_read, sources))
    return await asyncio.to_thread(_render_counts, folder) + generate_latest(_Gauges(gauges))


def fold() -> None:
    """Fold the counts of processes that have ended, so that restarts do not fill the folder."""
    folder = os.environ.get("PROMETHEUS_MULTIPROC_DIR")  # noqa: TID251 - prometheus_client reads it in the same way
    if folder and Path(folder).is_dir():
        with ended_processes.folded(Path(folder)):
            pass


def _render_counts(folder: str | None) -> bytes:
    if not folder:
        return generate_latest(REGISTRY)
    with ended_processes.folded(Path(folder)):
        return generate_latest(MultiProcessCollector(None, folder))


@dataclass(frozen=True, slots=True)
class _Gauges:
    families: Sequence[GaugeMetricFamily]

    def collect(self) -> Iterator[GaugeMetricFamily]:
        return iter(self.families)


async def _read(source: Source) -> GaugeMetricFamily:
    family = GaugeMetricFamily(source.name, source.documentation, labels=[source.label])
    try:
        async with asyncio.timeout(SOURCE_TIMEOUT):
            figures = await source.read()
    except Exception:
        log.exception("metrics_source_failed", source=source.name)
        return family
    for value, figure in figures.items():
        family.add_metric([value], figure)
    return family
