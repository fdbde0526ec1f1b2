"""Jobs of the worker, with the reactions and retention rules of the areas."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from datetime import timedelta
from importlib.metadata import version

import structlog

from app.bootstrap.late import late_jobs
from app.bootstrap.secrets import derive
from app.bootstrap.services import open_services
from app.db import schema
from app.domain.accounts import deletion, mail_outbox
from app.domain.accounts.mail_sender import MailSender
from app.domain.accounts.retention import RULES as ACCOUNT_RULES
from app.domain.agents.reactions import REACTIONS as AGENT_REACTIONS
from app.domain.agents.retention import RULES as AGENT_RULES
from app.domain.agents.runner import TOPIC as AGENT_TOPIC
from app.domain.agents.runner import AgentRunner
from app.domain.automations import runs, times
from app.domain.automations.reactions import REACTIONS as AUTOMATION_REACTIONS
from app.domain.automations.retention import RULES as AUTOMATION_RULES
from app.domain.automations.runner import AutomationRunner
from app.domain.billing import alerts
from app.domain.bulk.steps import make_steps
from app.domain.campaigns.progress import Progress
from app.domain.campaigns.results import REACTIONS as CAMPAIGN_REACTIONS
from app.domain.campaigns.runner import CampaignRunner
from app.domain.carriers.retention import RULES as CARRIER_RULES
from app.domain.contacts import opt_outs
from app.domain.conversations import review
from app.domain.conversations import service as conversations
from app.domain.crm import account_tables as crm
from app.domain.crm.reactions import REACTIONS as CRM_REACTIONS
from app.domain.crm.retention import RULES as CRM_RULES
from app.domain.crm.sending import CrmSends
from app.domain.crm.worker import CrmWorker
from app.domain.deliverability.reactions import REACTIONS as DELIVERABILITY_REACTIONS
from app.domain.deliverability.refusals import REACTIONS as REFUSALS
from app.domain.deliverability.retention import RULES as DELIVERABILITY_RULES
from app.domain.erasure.accounts import AccountDeletions
from app.domain.events import retention as events
from app.domain.events.dispatcher import Dispatcher
from app.domain.events.failures import Retries
from app.domain.events.reactions import Watcher
from app.domain.grants import retention as grants
from app.domain.integrations import account_tables as integrations
from app.domain.integrations import endings
from app.domain.integrations import leftovers as integration_leftovers
from app.domain.integrations.applying import Applier
from app.domain.integrations.retention import RULES as INTEGRATION_RULES
from app.domain.integrations.sending import BookingTexts
from app.domain.jobs import service as account_jobs
from app.domain.jobs.retention import RULES as JOB_RULES
from app.domain.jobs.worker import JobWorker
from app.domain.kernel.idempotency import RULES as IDEMPOTENCY_RULES
from app.domain.kernel.retention import HistoryRetention, Rule
from app.domain.live.reactions import REACTIONS as LIVE_REACTIONS
from app.domain.live.retention import RULES as LIVE_RULES
from app.domain.messages import retention as messages
from app.domain.messages.carrier_erasures import CarrierErasures
from app.domain.messages.erased_calls import ErasedCalls
from app.domain.messages.handoff import Handoff
from app.domain.messages.verdicts import REACTIONS as VERDICTS
from app.domain.notices.mails import NoticeMails
from app.domain.notices.reactions import REACTIONS as NOTICE_REACTIONS
from app.domain.notices.reactions import TOPIC as NOTICE_TOPIC
from app.domain.notices.retention import RULES as NOTICE_RULES
from app.domain.oauth.retention import RULES as OAUTH_RULES
from app.domain.payments.upkeep import Upkeep
from app.domain.quiet_hours.retention import RULES as QUIET_HOURS_RULES
from app.domain.sequences.exits import REACTIONS as SEQUENCE_EXITS
from app.domain.sequences.results import REACTIONS as SEQUENCE_RESULTS
from app.domain.sequences.steps import Drip
from app.domain.webhooks import leftovers
from app.domain.webhooks import retention as webhooks
from app.domain.webhooks.delivery_worker import Dependencies
from app.domain.webhooks.delivery_workers import DeliveryWorkers
from app.domain.webhooks.leftovers import Leftovers
from app.domain.webhooks.reactions import REACTIONS as WEBHOOK_REACTIONS
from app.domain.webhooks.schedule import Schedule
from app.domain.writing import calls
from app.domain.writing.retention import RULES as WRITING_RULES
from app.jobs.job import Job
from app.jobs.live import Announcer
from app.jobs.notifier import Notifier
from app.jobs.sweeps import end_histories, make_partitions, purge, sweep, sweep_in_parts, watch_connections
from app.providers.carriers.sandbox.callbacks import open_poster
from app.providers.carriers.sandbox.carrier import SandboxCarrier
from app.providers.carriers.sandbox.playback import Playback
from app.providers.carriers.sandbox.retention import RULES as SANDBOX_RULES
from app.providers.carriers.smpp.retention import RULES as SMPP_RULES
from app.providers.mail import open_mail
from app.services import Services
from app.settings import Settings
from app.telemetry.metrics import MAILS, WEBHOOKS_IN_FLIGHT

REACTIONS = (
    *WEBHOOK_REACTIONS,
    *LIVE_REACTIONS,
    *AUTOMATION_REACTIONS,
    *VERDICTS,
    *SEQUENCE_EXITS,
    *SEQUENCE_RESULTS,
    *CAMPAIGN_REACTIONS,
    *DELIVERABILITY_REACTIONS,
    *REFUSALS,
    *AGENT_REACTIONS,
    *CRM_REACTIONS,
    *NOTICE_REACTIONS,
)
"""Reactions to events, in the order in which they run."""

RULES = (
    *IDEMPOTENCY_RULES,
    *ACCOUNT_RULES,
    *SANDBOX_RULES,
    *SMPP_RULES,
    *CARRIER_RULES,
    *messages.RULES,
    *QUIET_HOURS_RULES,
    *LIVE_RULES,
    *JOB_RULES,
    *AUTOMATION_RULES,
    *DELIVERABILITY_RULES,
    *WRITING_RULES,
    *INTEGRATION_RULES,
    *AGENT_RULES,
    *CRM_RULES,
    *NOTICE_RULES,
)
"""Rules of retention that no setting changes."""

SELDOM = 10.0
"""Seconds between the polls of jobs whose work is nearly always announced, and never urgent."""

USER_AGENT = f"messaging-webhooks/{version('messaging')}"

log = structlog.get_logger(__name__)


@asynccontextmanager
async def open_jobs(settings: Settings, notifier: Notifier) -> AsyncGenerator[Sequence[Job]]:
    """Wait for the schema, connect, and yield the jobs of a worker, which notify of more work through its notifier."""
    await schema.wait_for(settings.database_url or "")
    assert settings.redis_url
    announcing = aclosing(Announcer(settings.redis_url))
    async with (
        open_services(settings, notifier=notifier) as services,
        open_poster(settings.tls_cert) as poster,
        announcing as announcer,
    ):
        playback = Playback(services.database.pool, poster, settings.public_url, sandbox_secrets(services))
        workers = open_delivery_workers(services)
        dispatcher = open_dispatcher(services, announcer.announce, workers.tell)
        retries = Retries(services.database, services.clock, services.notify, REACTIONS)
        drip = open_drip(services)
        remains = Leftovers(services.database)
        await workers.warm()
        yield [
            *_handoff_jobs(services.handoff),
            Job("receipts", services.receipts.match, services.receipts.due),
            *late_jobs(services, SELDOM),
            Job("sequences", drip.run, drip.due),
            *_campaign_jobs(services),
            *_integration_jobs(services),
            open_agents(services),
            _automation_job(services),
            Job("sandbox", playback.run, playback.due, watch=playback.watch),
            Job("events", dispatcher.run, dispatcher.due),
            Job("failed_reactions", retries.run, retries.due),
            *_erasure_jobs(services),
            Job("webhooks", workers.run, workers.due, finish=workers.finish),
            Job(leftovers.TOPIC, remains.run, remains.due, every=SELDOM),
            *_mail_jobs(services),
            *_sweeps(services),
            open_job_worker(services),
            *_maintenance_jobs(services),
        ]


def sandbox_secrets(services: Services) -> Callable[[str], bytes]:
    """Return the function that returns the secret of the callbacks to a connection to the sandbox."""

    derived = derive(services.settings, "sandbox")

    def find(key: str) -> bytes:
        connection = services.connections.find(key)
        return connection.carrier.secret if connection and isinstance(connection.carrier, SandboxCarrier) else derived

    return find


def _handoff_jobs(handoff: Handoff) -> Sequence[Job]:
    sends, questions = handoff.sends, handoff.questions
    return (
        Job("messages", handoff.run, handoff.due, finish=handoff.finish, watch=sends.watch),
        Job("reconcile", handoff.reconcile, handoff.lapsed, finish=handoff.finish_questions, watch=questions.watch),
    )


def _erasure_jobs(services: Services) -> Sequence[Job]:
    erased_calls = ErasedCalls(services.database, services.clock, services.notify)
    erasures = CarrierErasures(services.database, services.connections, services.clock)
    deletions = open_deletions(services)
    return (
        Job("erased_calls", erased_calls.run, erased_calls.due, every=SELDOM),
        Job("erasures", erasures.run, erasures.due, every=SELDOM),
        Job("deletions", deletions.run, deletions.due, every=SELDOM),
    )


def _campaign_jobs(services: Services) -> Sequence[Job]:
    runner, progress = open_campaigns(services), Progress(services.database, services.notify)
    return (
        Job("campaigns", runner.run, runner.due),
        Job("campaign_progress", progress.run, progress.due),
    )


def _integration_jobs(services: Services) -> Sequence[Job]:
    applier, texts, leftovers = open_applier(services), open_booking_texts(services), open_leftovers(services)
    ended = endings.Endings(services.database, services.clock, services.notify)
    return (
        Job("integrations", applier.run, applier.due),
        Job("booking_texts", texts.run, texts.due),
        Job(endings.TOPIC, ended.run, ended.due, every=endings.EVERY_SECONDS),
        Job(integration_leftovers.TOPIC, leftovers.run, leftovers.due, every=SELDOM),
        *_crm_jobs(services),
    )


def _crm_jobs(services: Services) -> Sequence[Job]:
    sends, worker = open_crm_sends(services), open_crm_worker(services)
    return (
        Job("crm_sends", sends.run, sends.due),
        Job("crm", worker.run, worker.due, finish=worker.finish),
    )


def _mail_jobs(services: Services) -> Sequence[Job]:
    notices = NoticeMails(services.database, services.clock, services.notify)
    sender = open_mail_sender(services)
    return (
        Job(NOTICE_TOPIC, notices.run, notices.due, every=SELDOM),
        Job(mail_outbox.TOPIC, sender.run, sender.due, every=SELDOM),
    )


def _sweeps(services: Services) -> Sequence[Job]:
    of = services.database, services.clock, services.notify
    return (
        sweep("deletion_notices", deletion.FIND_DUE_REMINDERS, deletion.remind, *of),
        sweep("holds", opt_outs.FIND_OVERDUE_HOLDS, review.expire, *of),
        sweep_in_parts("automation_times", times.FIND_DUE_ACCOUNTS, times.start_due, *of),
        sweep("low_balances", alerts.FIND_LOW, alerts.warn, *of),
        sweep("snoozes", conversations.FIND_SNOOZED, conversations.wake, *of),
        sweep("writer_calls", calls.FIND_LAPSED, calls.refund_lapsed, *of),
    )


def _automation_job(services: Services) -> Job:
    runner = AutomationRunner(services.database, services.acceptor, services.clock, services.notify)
    return Job(runs.TOPIC, runner.run, runner.due)


def _maintenance_jobs(services: Services) -> Sequence[Job]:
    of = services.database, services.clock
    upkeep = Upkeep(services.database, services.payments)
    return (
        Job("payments", upkeep.run, upkeep.due, every=SELDOM),
        purge("oauth", (*OAUTH_RULES, *grants.make_rules()), *of),
        purge("retention", retention_rules(services.settings), *of),
        open_partitions(services),
        watch_connections("carrier_alerts", *of),
        end_histories("histories", open_history_retention(services), services.clock),
    )


def open_dispatcher(services: Services, *watchers: Watcher) -> Dispatcher:
    """Return the event dispatcher with the reactions of all areas."""
    return Dispatcher(services.database, services.clock, services.notify, REACTIONS, watchers)


def open_deletions(services: Services) -> AccountDeletions:
    """Return the deletion of accounts, which first ends the payments of an account."""
    of = services.database, services.clock, services.notify
    return AccountDeletions(*of, prepare=services.payments.release)


def open_mail_sender(services: Services) -> MailSender:
    """Return the mail sender for the configured server."""
    settings, tokens = services.settings, services.authentication.tokens
    return MailSender(
        services.database.sessions, services.clock, tokens, open_mail(settings), settings.public_url, _count_mail
    )


def open_job_worker(services: Services) -> Job:
    """Return the job that advances the long jobs of accounts."""
    steps = make_steps(services.database.pool)
    worker = JobWorker(services.database, services.clock, services.notify, steps)
    return Job(account_jobs.TOPIC, worker.run, worker.due)


def open_drip(services: Services) -> Drip:
    """Return the sender of drip steps."""
    return Drip(services.database, services.acceptor, services.clock, services.notify)


def open_campaigns(services: Services) -> CampaignRunner:
    """Return the runner of campaigns."""
    return CampaignRunner(services.database, services.acceptor, services.clock, services.notify)


def open_applier(services: Services) -> Applier:
    """Return the applier of events that arrive for integrations."""
    return Applier(services.database, services.clock, services.notify, services.intake.ports)


def open_booking_texts(services: Services) -> BookingTexts:
    """Return the sender of texts about bookings."""
    return BookingTexts(services.database, services.acceptor, services.clock, services.notify)


def open_leftovers(services: Services) -> integration_leftovers.Leftovers:
    """Return the deletion of what is left of removed integrations."""
    return integration_leftovers.Leftovers(services.database, (*crm.LEFT, *integrations.LEFT))


def open_crm_sends(services: Services) -> CrmSends:
    """Return the sender of the texts that CRMs ask for."""
    return CrmSends(services.database, services.acceptor, services.clock, services.notify)


def open_crm_worker(services: Services) -> CrmWorker:
    """Return the worker of the connections to CRMs."""
    return CrmWorker(services.database, services.clock, services.notify, services.crm)


def open_agents(services: Services) -> Job:
    """Return the job that runs AI agents."""
    runner = AgentRunner(services.database, services.acceptor, services.writers, services.clock, services.notify)
    return Job(AGENT_TOPIC, runner.run, runner.due)


def open_delivery_workers(services: Services) -> DeliveryWorkers:
    """Return the delivery workers with the configured timings."""
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


def retention_rules(settings: Settings) -> Sequence[Rule]:
    """Return the retention rules of all areas except `oauth`."""
    return (*RULES, *webhooks.make_rules(timedelta(days=settings.webhook_metadata_days)))


def open_partitions(services: Services) -> Job:
    """Return the job that makes partitions: each process that adds rows runs it."""
    return make_partitions("partitions", services.histories)


def open_history_retention(services: Services) -> HistoryRetention:
    """Return the retention of histories for the configured times."""
    settings = services.settings
    message_days, receipt_days = timedelta(days=settings.message_days), timedelta(days=settings.receipt_days)
    payloads, metadata = timedelta(days=settings.webhook_payload_days), timedelta(days=settings.webhook_metadata_days)
    rules = (
        *messages.make_history_rules(message_days, receipt_days),
        *webhooks.make_history_rules(payloads, metadata),
        *events.make_history_rules(timedelta(days=settings.event_days), (webhooks.DELIVERED_EVENTS,)),
    )
    return HistoryRetention(services.histories, rules, services.database.pool)


def _count_mail(result: str, reason: str) -> None:
    MAILS.labels(result).inc()
    if reason:
        log.warning("mail_not_sent", result=result, reason=reason)
