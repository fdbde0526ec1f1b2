"""Where things are joined: settings become connections, ports, services and jobs."""

import hmac
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from importlib.metadata import version

from app.db import schema
from app.db.base import Base
from app.db.engine import Database, connect
from app.domain.accounts.authentication import Authentication
from app.domain.accounts.mail_sender import MailSender
from app.domain.accounts.tokens import Tokens
from app.domain.automations import models as _automation_tables  # noqa: F401 - METADATA lacks them otherwise
from app.domain.automations.reactions import REACTIONS as AUTOMATION_REACTIONS
from app.domain.erasure.accounts import AccountDeletions
from app.domain.erasure.carriers import CarrierErasures
from app.domain.events.dispatcher import Dispatcher
from app.domain.events.reactions import Watcher
from app.domain.kernel.clock import Clock
from app.domain.kernel.sealing import CursorSeal, Seal
from app.domain.kernel.unit_of_work import Notify
from app.domain.live.feed import Feed
from app.domain.messages.acceptor import SendAcceptor
from app.domain.messages.carrier import Carrier
from app.domain.messages.handoff import Handoff, Pace
from app.domain.messages.inbound import Inbox
from app.domain.messages.receipts import Receipts
from app.domain.numbers import models as _number_tables  # noqa: F401 - METADATA lacks them otherwise
from app.domain.oauth.authority import Authority
from app.domain.oauth.resources import Resources
from app.domain.oauth.signing import KeyRing
from app.domain.sequences import models as _sequence_tables  # noqa: F401 - METADATA lacks them otherwise
from app.domain.sequences.exits import REACTIONS as SEQUENCE_REACTIONS
from app.domain.sequences.steps import Drip
from app.domain.webhooks.delivery_worker import Dependencies
from app.domain.webhooks.delivery_workers import DeliveryWorkers
from app.domain.webhooks.reactions import REACTIONS as WEBHOOK_REACTIONS
from app.domain.webhooks.schedule import Schedule
from app.domain.webhooks.service import Ports as WebhookPorts
from app.jobs import accounts, contacts, mail, oauth, retention
from app.jobs.job import Job
from app.jobs.live import Announcer, Listener
from app.jobs.notifier import Notifier
from app.providers.attempts import RedisAttempts
from app.providers.carriers.sandbox import models as _sandbox_tables  # noqa: F401 - METADATA lacks them otherwise
from app.providers.carriers.sandbox.playback import Playback
from app.providers.http import open_client
from app.providers.limits import Limits
from app.providers.mail import open_mail
from app.providers.outbound.addresses import LOOPBACK
from app.providers.outbound.client import WebhookPoster
from app.providers.outbound.documents import DocumentReader
from app.providers.places import Places
from app.providers.rate_limits import Policy, Rates
from app.providers.registry import open_carrier
from app.providers.shares import Shares
from app.providers.writers.template import TemplateWriter
from app.services import Services
from app.settings import Settings, environment
from app.settings.secret_key import read_or_make
from app.telemetry.metrics import SENDS, WEBHOOKS_IN_FLIGHT

REACTIONS = (*WEBHOOK_REACTIONS, *AUTOMATION_REACTIONS, *SEQUENCE_REACTIONS)
"""Reactions to events, in the order in which they run."""

METADATA = Base.metadata
"""Every table of the service: importing the areas above has entered theirs."""

DOCUMENT_AGENT = f"messaging-oauth/{version('messaging')}"
SANDBOX_EVERY = 0.25
USER_AGENT = f"messaging-webhooks/{version('messaging')}"


@asynccontextmanager
async def open_services(settings: Settings) -> AsyncGenerator[Services]:
    """Connect to everything and join it; disconnect at the end, once what was begun is finished."""
    assert settings.database_url
    assert settings.redis_url
    async with AsyncExitStack() as stack:
        database = await connect(settings.database_url, settings.database_pool)
        stack.push_async_callback(database.close)
        poster = _open_poster(settings)
        stack.push_async_callback(poster.close)
        lines = _open_lines(settings.redis_url, stack)
        services = _join(settings, database, poster, lines)
        stack.push_async_callback(services.acceptor.close)
        stack.push_async_callback(services.authentication.close)
        yield services


@dataclass(frozen=True, slots=True)
class _Lines:
    """What speaks with Redis."""

    notifier: Notifier
    live: Listener
    rates: Rates
    shares: Shares
    attempts: RedisAttempts
    places: Places


def _open_lines(redis_url: str, stack: AsyncExitStack) -> _Lines:
    rates, shares, attempts = Rates(redis_url), Shares(redis_url), RedisAttempts(redis_url, Clock())
    places = Places(redis_url)
    lines = _Lines(Notifier(redis_url), Listener(redis_url), rates, shares, attempts, places)
    for line in (lines.notifier, lines.live, lines.rates, lines.shares, lines.attempts, lines.places):
        stack.push_async_callback(line.close)
    return lines


def _join(settings: Settings, database: Database, poster: WebhookPoster, lines: _Lines) -> Services:
    clock, sessions, pool, notify = Clock(), database.sessions, database.pool, lines.notifier.notify
    carrier = open_carrier(settings, pool, derive(settings, "sandbox"))
    carriers = {carrier.name: carrier}
    return Services(
        settings=settings,
        database=database,
        clock=clock,
        notify=notify,
        acceptor=SendAcceptor(pool, clock, notify, carrier.capabilities.max_segments, settings.database_pool // 2),
        inbox=Inbox(sessions, pool, clock, notify, carriers),
        receipts=Receipts(sessions, pool, clock, notify),
        webhooks=WebhookPorts(poster, Seal(derive(settings, "webhook secrets"))),
        writer=TemplateWriter(),
        carriers=carriers,
        handoff=_open_handoff(settings, database, carriers, clock, notify),
        feed=Feed(pool),
        live=lines.live,
        limits=_limits(settings, lines),
        authentication=Authentication(sessions, clock, notify, lines.attempts, sign_in_tokens(settings)),
        oauth=_open_oauth(settings, database, clock, poster),
        secret=derive(settings, "api keys"),
        cursors=CursorSeal(derive(settings, "cursors")),
        exports=Seal(derive(settings, "export links")),
        places=lines.places,
    )


def _limits(settings: Settings, lines: _Lines) -> Limits:
    anonymous = 6_000 if settings.in_development else 600
    return Limits(
        Policy("requests", settings.rate_limit),
        Policy("sends", settings.send_rate_limit),
        Policy("documents", 250, parts=6),
        Policy("anonymous", anonymous),
        lines.rates,
        lines.shares,
    )


def _open_oauth(settings: Settings, database: Database, clock: Clock, poster: WebhookPoster) -> Authority:
    seal = Seal(derive(settings, "oauth signing keys"))
    return Authority(
        resources=Resources(settings.public_url),
        tokens=oauth_tokens(settings),
        seal=Seal(derive(settings, "oauth requests")),
        key_ring=KeyRing(database.sessions, clock, seal, timedelta(days=settings.oauth_key_days)),
        fetch=DocumentReader(poster, DOCUMENT_AGENT).fetch,
        allow_http=settings.in_development,
    )


@asynccontextmanager
async def open_jobs(settings: Settings) -> AsyncGenerator[Sequence[Job]]:
    """Connect to everything, once it is migrated, and give the work that a worker does."""
    await schema.wait_for(settings.database_url or "")
    assert settings.redis_url
    announcing = aclosing(Announcer(settings.redis_url))
    async with open_services(settings) as services, open_client(settings.tls_cert) as client, announcing as announcer:
        secret = derive(settings, "sandbox")
        playback = Playback(services.database.pool, client, settings.public_url, secret)
        dispatcher = open_dispatcher(services, announcer.announce)
        drip = open_drip(services)
        erasures = CarrierErasures(services.database, services.carriers, services.clock)
        deletions = AccountDeletions(services.database, services.clock, services.notify)
        workers = open_delivery_workers(services)
        await workers.warm()
        yield [
            Job("messages", services.handoff.run, services.handoff.due),
            Job("reconcile", services.handoff.reconcile, services.handoff.lapsed),
            Job("receipts", services.receipts.match, services.receipts.due),
            Job("sequences", drip.run, drip.due),
            Job("sandbox", playback.run, playback.due, every=SANDBOX_EVERY),
            Job("events", dispatcher.run, dispatcher.due),
            Job("erasures", erasures.run, erasures.due),
            Job("deletions", deletions.run, deletions.due),
            Job("webhooks", workers.run, workers.due, finish=workers.finish),
            mail.send(open_mail_sender(services)),
            accounts.remind(services.database, services.clock, services.notify),
            contacts.expire_holds(services.database, services.clock, services.notify),
            oauth.purge(services.database, services.clock),
            retention.purge(
                services.database,
                services.clock,
                timedelta(days=settings.webhook_payload_days),
                timedelta(days=settings.webhook_metadata_days),
            ),
        ]


def _open_handoff(
    settings: Settings, database: Database, carriers: Mapping[str, Carrier], clock: Clock, notify: Notify
) -> Handoff:
    pace = Pace(
        batch=settings.handoff_batch,
        timeout=settings.handoff_timeout_seconds,
        lease=settings.handoff_lease_seconds,
        ambiguous_wait=settings.ambiguous_wait_seconds,
        unconfirmed_after=settings.unconfirmed_after_seconds,
    )
    return Handoff(database, carriers, clock, notify, pace, _count_send)


def open_dispatcher(services: Services, *watchers: Watcher) -> Dispatcher:
    """Return what dispatches events, with the reactions of every area."""
    return Dispatcher(services.database, services.clock, services.notify, REACTIONS, watchers)


def open_mail_sender(services: Services) -> MailSender:
    """Return what sends mail, by the server that the settings name."""
    settings, tokens = services.settings, services.authentication.tokens
    return MailSender(
        services.database.sessions, services.clock, tokens, open_mail(settings), settings.public_url, mail.count
    )


def open_drip(services: Services) -> Drip:
    """Return what sends the steps of drip sequences."""
    return Drip(services.database, services.acceptor, services.clock, services.notify)


def open_delivery_workers(services: Services) -> DeliveryWorkers:
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
    return DeliveryWorkers.of(
        Dependencies(
            services.database,
            services.clock,
            services.notify,
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


def sign_in_tokens(settings: Settings) -> Tokens:
    """Return the maker of session tokens and of the tokens of mailed links."""
    return Tokens(derive(settings, "sessions and mailed links"))


def oauth_tokens(settings: Settings) -> Tokens:
    """Return what makes and recognises the secrets, codes and refresh tokens of OAuth clients."""
    return Tokens(derive(settings, "oauth tokens"))


def derive(settings: Settings, purpose: str) -> bytes:
    """Return the secret for one purpose, made of the service's one secret key.

    In development the key is made at the first start and kept in the data folder; in production it must be
    given: raises `MissingSecretKey` or `InvalidKeyFile`.
    """
    return hmac.digest(_secret_key(settings), purpose.encode(), "sha256")


def _secret_key(settings: Settings) -> bytes:
    if settings.secret_key is not None:
        return settings.secret_key.get_secret_value().encode()
    environment.check_secret_key(settings)
    return read_or_make(settings.data)
