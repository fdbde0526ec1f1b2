"""Connections, ports and services, created from the settings."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cache, partial
from importlib.metadata import version

from app.bootstrap.payments import open_payments
from app.bootstrap.secrets import derive, oauth_tokens, sign_in_tokens
from app.db.engine import Database, Pool, connect
from app.db.partitions import Partitions
from app.domain.accounts.sign_in.authentication import Authentication
from app.domain.campaigns.segment_fields import REPLIED_TO
from app.domain.carriers.connections import OpenConnections
from app.domain.carriers.health import Health
from app.domain.carriers.service import Ports as CarrierPorts
from app.domain.crm.receiving import CrmReceiver
from app.domain.crm.service import Ports as CrmPorts
from app.domain.events import retention as events
from app.domain.integrations.intake import Intake
from app.domain.integrations.service import Ports as IntegrationPorts
from app.domain.kernel.clock import Clock, SharedClock
from app.domain.kernel.sealing import CursorSeal, Seal
from app.domain.kernel.unit_of_work import Notify
from app.domain.live.feed import Feed
from app.domain.messages import retention as messages
from app.domain.messages.acceptor import SendAcceptor
from app.domain.messages.handoff import Handoff, Pace
from app.domain.messages.inbound import Inbox
from app.domain.messages.receipts.journal import Receipts
from app.domain.oauth.authority import Authority
from app.domain.oauth.resources import Resources
from app.domain.oauth.signing import KeyRing
from app.domain.segments import fields as segment_fields
from app.domain.sequences.segment_fields import ENROLLED_IN
from app.domain.webhooks.service import Ports as WebhookPorts
from app.domain.writing.drafting import Writers
from app.jobs.live import Listener
from app.jobs.notifier import Notifier
from app.providers.attempts import RedisAttempts
from app.providers.crms import open_crms
from app.providers.language_models.endpoint import Endpoint
from app.providers.language_models.writer import LanguageModelWriter
from app.providers.limits import Limits
from app.providers.outbound.addresses import LOOPBACK
from app.providers.outbound.client import HttpClient
from app.providers.outbound.documents import DocumentReader
from app.providers.places import Places
from app.providers.rate_limits import Policy, Rates
from app.providers.registry import KINDS, Environment, open_with
from app.providers.scheduling_tools import TOOLS
from app.providers.shares import Shares
from app.providers.writers.template import TemplateWriter
from app.services import Services
from app.settings import Settings
from app.telemetry.metrics import CARRIER_RESULTS, SENDS

HISTORIES = (messages.HISTORY, events.HISTORY)

DOCUMENT_AGENT = f"messaging-oauth/{version('messaging')}"


@asynccontextmanager
async def open_services(
    settings: Settings, statement_seconds: float = 0, notifier: Notifier | None = None
) -> AsyncGenerator[Services]:
    """Connect and create the services; at the end finish running work and disconnect.

    A statement of a unit of work is canceled after `statement_seconds`, unless that is 0. A given notifier is
    disconnected too.
    """
    assert settings.database_url
    assert settings.redis_url
    segment_fields.declare(REPLIED_TO, ENROLLED_IN)
    async with AsyncExitStack() as stack:
        database = await connect(settings.database_url, settings.database_pool, statement_seconds)
        stack.push_async_callback(database.close)
        poster = _open_poster(settings)
        stack.push_async_callback(poster.close)
        lines = _open_lines(settings.redis_url, notifier, stack)
        services = _join(settings, database, poster, lines, _open_writers(settings, stack))
        stack.push_async_callback(services.health.close)
        stack.push_async_callback(services.connections.close)
        stack.push_async_callback(services.acceptor.close)
        stack.push_async_callback(services.handoff.close)
        stack.push_async_callback(services.receipts.close)
        stack.push_async_callback(services.intake.close)
        stack.push_async_callback(services.authentication.close)
        yield services


@dataclass(frozen=True, slots=True)
class _Lines:
    """The clients of Redis."""

    notifier: Notifier
    live: Listener
    rates: Rates
    shares: Shares
    attempts: RedisAttempts
    places: Places


def _open_lines(redis_url: str, notifier: Notifier | None, stack: AsyncExitStack) -> _Lines:
    rates, shares, attempts = Rates(redis_url), Shares(redis_url), RedisAttempts(redis_url, Clock())
    places = Places(redis_url)
    lines = _Lines(notifier or Notifier(redis_url), Listener(redis_url), rates, shares, attempts, places)
    for line in (lines.notifier, lines.live, lines.rates, lines.shares, lines.attempts, lines.places):
        stack.push_async_callback(line.close)
    return lines


def _open_writers(settings: Settings, stack: AsyncExitStack) -> Writers:
    model = None
    if settings.ai_model:
        endpoint = Endpoint(
            settings.ai_protocol,
            settings.ai_model,
            settings.ai_api_key.get_secret_value() if settings.ai_api_key else "",
            settings.ai_base_url,
            settings.ai_output,
            settings.ai_timeout_seconds,
        )
        model = LanguageModelWriter(endpoint)
        stack.push_async_callback(model.close)
    return Writers(TemplateWriter(), model, settings.ai_timeout_seconds, settings.ai_calls_at_once)


def _join(settings: Settings, database: Database, poster: HttpClient, lines: _Lines, writers: Writers) -> Services:
    clock, sessions, pool, notify = Clock(), database.sessions, database.pool, lines.notifier.notify
    shared = SharedClock()
    connections = _open_connections(settings, pool, shared, notify, poster)
    health = Health(pool, clock, partial(_count_result, connections))
    crm = _open_crm(settings, poster)
    return Services(
        settings=settings,
        database=database,
        clock=clock,
        notify=notify,
        acceptor=SendAcceptor(pool, shared, notify, connections, settings.database_pool // 2),
        inbox=Inbox(sessions, pool, clock, notify, connections),
        intake=Intake(database, clock, notify, crm.integrations, settings.database_pool // 2),
        crm=crm,
        receipts=Receipts(database, clock, notify, health, settings.database_pool // 2),
        webhooks=WebhookPorts(poster, Seal(derive(settings, "webhook secrets"))),
        writers=writers,
        payments=open_payments(settings, sessions, clock, notify),
        connections=connections,
        health=health,
        carriers=CarrierPorts(KINDS, connections),
        handoff=_open_handoff(settings, database, connections, health, shared, notify),
        feed=Feed(pool),
        live=lines.live,
        limits=_limits(settings, lines),
        authentication=Authentication(sessions, clock, notify, lines.attempts, sign_in_tokens(settings)),
        oauth=_open_oauth(settings, database, clock, poster),
        secret=derive(settings, "api keys"),
        cursors=CursorSeal(derive(settings, "cursors")),
        exports=Seal(derive(settings, "export links")),
        confirmations=Seal(derive(settings, "confirmations of tools")),
        answers=Seal(derive(settings, "stored answers")),
        places=lines.places,
        histories=[Partitions(pool, history) for history in HISTORIES],
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


def _open_oauth(settings: Settings, database: Database, clock: Clock, poster: HttpClient) -> Authority:
    seal = Seal(derive(settings, "oauth signing keys"))
    return Authority(
        resources=Resources(settings.public_url),
        tokens=oauth_tokens(settings),
        seal=Seal(derive(settings, "oauth requests")),
        key_ring=KeyRing(database.sessions, clock, seal, timedelta(days=settings.oauth_key_days)),
        fetch=DocumentReader(poster, DOCUMENT_AGENT).fetch,
        allow_http=settings.in_development,
    )


def _open_crm(settings: Settings, client: HttpClient) -> CrmPorts:
    """Return the ports of CRMs and of all integrations."""
    connectors = open_crms(settings, client)
    receivers = {name: CrmReceiver(connector) for name, connector in connectors.items()}
    integrations = IntegrationPorts(TOOLS, Seal(derive(settings, "integration secrets")), receivers)
    return CrmPorts(
        connectors, Seal(derive(settings, "crm tokens")), f"{settings.public_url}/crm/callback", integrations
    )


def _open_connections(
    settings: Settings, pool: Pool, clock: Clock, notify: Notify, poster: HttpClient
) -> OpenConnections:
    environment = Environment(
        pool=pool,
        notify=notify,
        client=poster,
        public_url=settings.public_url,
        timeout=settings.handoff_timeout_seconds,
        sandbox_secret=derive(settings, "sandbox"),
        sandbox_delay=settings.sandbox_delay_seconds,
    )
    return OpenConnections(pool, clock, Seal(derive(settings, "carrier credentials")), open_with(environment))


def _open_handoff(
    settings: Settings,
    database: Database,
    connections: OpenConnections,
    health: Health,
    clock: Clock,
    notify: Notify,
) -> Handoff:
    pace = Pace(
        window=settings.handoff_window,
        timeout=settings.handoff_timeout_seconds,
        lease=settings.handoff_lease_seconds,
        ambiguous_wait=settings.ambiguous_wait_seconds,
        unconfirmed_after=settings.unconfirmed_after_seconds,
    )
    return Handoff(database, connections, clock, notify, pace, _count_send, health)


def _open_poster(settings: Settings) -> HttpClient:
    networks = [*settings.webhook_allow_nets, *(LOOPBACK if settings.in_development else ())]
    return HttpClient(
        allow_http=settings.in_development,
        allow_networks=networks,
        connect_timeout=settings.webhook_connect_seconds,
        timeout=settings.webhook_timeout_seconds,
    )


_sends, _carrier_results = cache(SENDS.labels), cache(CARRIER_RESULTS.labels)
"""The counters by their labels, which the library reads and checks anew each time."""


def _count_send(result: str) -> None:
    _sends(result).inc()


def _count_result(connections: OpenConnections, key: str, result: str, code: str) -> None:
    """Count the results of a connection; those of accounts share a label, because there may be very many."""
    known = connections.find(key)
    label = "own" if known and known.row.account_id is not None else key
    _carrier_results(label, result, code).inc()
