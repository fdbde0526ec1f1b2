"""Mailing the letters that wait."""

import structlog

from app.domain.accounts.mail_outbox import TOPIC
from app.domain.accounts.mail_sender import MailSender
from app.jobs.job import Job
from app.telemetry.metrics import MAILS

log = structlog.get_logger(__name__)


def send(mail_sender: MailSender) -> Job:
    """Return the job that sends mail."""
    return Job(TOPIC, mail_sender.run, mail_sender.due)


def count(result: str, reason: str) -> None:
    """Count a mail, and log one that no server took."""
    MAILS.labels(result).inc()
    if reason:
        log.warning("mail not sent", result=result, reason=reason)
