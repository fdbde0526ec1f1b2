"""Where things are joined: settings become connections, ports, services and jobs."""

import hmac
import os
import secrets
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from importlib.metadata import version

from app.db.base import Base
from app.db.engine import Database, connect
from app.db.migrate import wait_for
from app.domain.agents.writer import Writer
from app.domain.automations import events as _automation_events  # noqa: F401 - EVENTS lacks them otherwise
from app.domain.kernel.clock import Clock
from app.domain.kernel.sealing import Seal
from app.domain.kernel.unit import Ring
from app.domain.messages.carrier import Carrier
from app.domain.messages.desk import Desk
from app.domain.messages.handoff import Handoff, Pace
from app.domain.messages.inbound import Inbox
from app.domain.messages.receipts import Receipts
from app.domain.numbers import models as _number_tables  # noqa: F401 - METADATA lacks them otherwise
from app.domain.oauth import models as _oauth_tables  # noqa: F401 - METADATA lacks them otherwise
from app.domain.sequences import events as _sequence_events  # noqa: F401 - EVENTS lacks them otherwise
from app.domain.sequences import models as _sequence_tables  # noqa: F401 - METADATA lacks them otherwise
from app.domain.updates.feed import Feed
from app.domain.webhooks.dispatcher import Dispatcher
from app.domain.webhooks.engine import Engine
from app.domain.webhooks.poster import Poster
from app.domain.webhooks.pump import Means
from app.domain.webhooks.schedule import Schedule
from app.domain.webhooks.service import Ports as WebhookPorts
from app.jobs import contacts, retention
from app.jobs.doorbell import Doorbell
from app.jobs.job import Job
from app.jobs.live import Announcer, Listener
from app.providers.carriers.sandbox import models as _sandbox_tables  # noqa: F401 - METADATA lacks them otherwise
from app.providers.carriers.sandbox.playback import Playback
from app.providers.http import open_client
from app.providers.outbound.addresses import LOOPBACK
from app.providers.outbound.client import WebhookPoster
from app.providers.registry import open_carrier
from app.providers.writers.template import TemplateWriter
from app.settings import Settings
from app.telemetry.metrics import SENDS, WEBHOOKS_IN_FLIGHT

METADATA = Base.metadata
"""Every table of the service: importing the areas above has entered theirs."""

KEY_FILE = "secret.key"
SANDBOX_EVERY = 0.25
USER_AGENT = f"messaging-webhooks/{version('messaging')}"


@dataclass(frozen=True, slots=True)
class Services:
    """What the surfaces are given. `secret` makes the fingerprints of API keys."""

    settings: Settings
    database: Database
    clock: Clock
    ring: Ring
    desk: Desk
    inbox: Inbox
    receipts: Receipts
    webhooks: WebhookPorts
    writer: Writer
    carriers: Mapping[str, Carrier]
    feed: Feed
    live: Listener
    secret: bytes


@asynccontextmanager
async def open_services(settings: Settings) -> AsyncGenerator[Services]:
    """Connect to everything and join it; disconnect at the end, once what was begun is finished."""
    assert settings.database_url
    assert settings.redis_url
    async with AsyncExitStack() as stack:
        database = await connect(settings.database_url, settings.database_pool)
        stack.push_async_callback(database.close)
        doorbell = Doorbell(settings.redis_url)
        stack.push_async_callback(doorbell.close)
        poster = _open_poster(settings)
        stack.push_async_callback(poster.close)
        live = Listener(settings.redis_url)
        stack.push_async_callback(live.close)
        services = _join(settings, database, poster, doorbell.ring, live)
        stack.push_async_callback(services.desk.close)
        yield services


def _join(settings: Settings, database: Database, poster: Poster, ring: Ring, live: Listener) -> Services:
    clock, sessions, pool = Clock(), database.sessions, database.pool
    carrier = open_carrier(settings, pool, derive(settings, "sandbox"))
    carriers = {carrier.name: carrier}
    return Services(
        settings=settings,
        database=database,
        clock=clock,
        ring=ring,
        desk=Desk(pool, clock, ring, carrier.capabilities.max_segments),
        inbox=Inbox(sessions, pool, clock, ring, carriers),
        receipts=Receipts(sessions, pool, clock, ring),
        webhooks=WebhookPorts(poster, Seal(derive(settings, "webhook secrets"))),
        writer=TemplateWriter(),
        carriers=carriers,
        feed=Feed(pool),
        live=live,
        secret=derive(settings, "api keys"),
    )


@asynccontextmanager
async def open_jobs(settings: Settings) -> AsyncGenerator[Sequence[Job]]:
    """Connect to everything, once it is migrated, and give the work that a worker does."""
    await wait_for(settings.database_url or "", METADATA)
    assert settings.redis_url
    announcing = aclosing(Announcer(settings.redis_url))
    async with open_services(settings) as services, open_client() as client, announcing as announcer:
        secret = derive(settings, "sandbox")
        playback = Playback(services.database.pool, client, settings.public_url, secret)
        handoff = open_handoff(services)
        dispatcher = Dispatcher(services.database, services.clock, services.ring, [announcer.announce])
        engine = open_engine(services)
        yield [
            Job("messages", handoff.run, handoff.due),
            Job("reconcile", handoff.reconcile, handoff.lapsed),
            Job("receipts", services.receipts.match, services.receipts.due),
            Job("sandbox", playback.run, playback.due, every=SANDBOX_EVERY),
            Job("events", dispatcher.run, dispatcher.due),
            Job("webhooks", engine.run, engine.due, finish=engine.finish),
            contacts.expire_holds(services.database, services.clock, services.ring),
            retention.purge(
                services.database,
                services.clock,
                timedelta(days=settings.webhook_payload_days),
                timedelta(days=settings.webhook_metadata_days),
            ),
        ]


def open_handoff(services: Services) -> Handoff:
    """Return what hands messages to carriers, at the pace that the settings say."""
    settings = services.settings
    pace = Pace(
        batch=settings.handoff_batch,
        timeout=settings.handoff_timeout_seconds,
        lease=settings.handoff_lease_seconds,
        ambiguous_wait=settings.ambiguous_wait_seconds,
    )
    return Handoff(services.database, services.carriers, services.clock, services.ring, pace, _count_send)


def open_engine(services: Services) -> Engine:
    """Return what delivers webhooks, at the timings that the settings say."""
    settings = services.settings
    schedule = Schedule(
        waits=settings.webhook_retry_schedule,
        breaker_waits=settings.webhook_breaker_seconds,
        notice_after=settings.webhook_notice_seconds,
        disable_after=settings.webhook_disable_seconds,
        lease=settings.webhook_lease_seconds,
    )
    ports = services.webhooks
    return Engine.of(
        Means(
            services.database,
            services.clock,
            services.ring,
            ports.poster,
            ports.seal,
            schedule,
            USER_AGENT,
            WEBHOOKS_IN_FLIGHT.inc,
        )
    )


def _open_poster(settings: Settings) -> WebhookPoster:
    networks = [*settings.webhook_allow_nets, *(LOOPBACK if settings.in_development else ())]
    return WebhookPoster(
        allow_http=settings.in_development,
        allow_networks=networks,
        connect_timeout=settings.webhook_connect_seconds,
        timeout=settings.webhook_timeout_seconds,
    )


def _count_send(result: str) -> None:
    SENDS.labels(result).inc()


def derive(settings: Settings, purpose: str) -> bytes:
    """Return the secret for one purpose, made of the service's one secret key.

    In development the key is made at the first start and kept in the data folder; elsewhere it must be
    given: raises `MissingSecretKey`.
    """
    return hmac.digest(_secret_key(settings), purpose.encode(), "sha256")


def _secret_key(settings: Settings) -> bytes:
    if settings.secret_key is not None:
        return settings.secret_key.get_secret_value().encode()
    settings.check_secret_key()
    path = settings.data / KEY_FILE
    if not path.exists():
        settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        made = path.with_suffix(f".{os.getpid()}")
        made.touch(mode=0o600)
        made.write_text(secrets.token_hex(32))
        with suppress(FileExistsError):
            path.hardlink_to(made)  # of two processes that start at once, one wins
        made.unlink()
    return path.read_bytes()
