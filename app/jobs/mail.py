"""Mailing the letters that wait."""

import structlog

from app.domain.accounts.mailroom import Mailroom
from app.domain.accounts.outbox import BELL
from app.jobs.job import Job
from app.telemetry.metrics import MAILS

log = structlog.get_logger(__name__)


def send(mailroom: Mailroom) -> Job:
    """Return the job that sends mail."""
    return Job(BELL, mailroom.run, mailroom.due)


def count(result: str, reason: str) -> None:
    """Count a mail, and log one that no server took."""
    MAILS.labels(result).inc()
    if reason:
        log.warning("mail not sent", result=result, reason=reason)
