"""Jobs that ask carriers for what no callback has brought."""

from collections.abc import Sequence

from app.domain.kernel.time_limit import TimeLimit
from app.domain.messages.carrier_calls import CarrierCalls
from app.domain.messages.late_reports import LateReports
from app.domain.messages.missed_texts import MissedTexts
from app.jobs.job import Job
from app.services import Services

LISTING_SECONDS = 60.0
"""The time limit of a listing, which may have many pages; each page has that of a call."""


def late_jobs(services: Services, every: float) -> Sequence[Job]:
    """Return the jobs, polled each `every` seconds."""
    reports, texts = open_late_reports(services), open_missed_texts(services)
    return (
        Job("late_reports", reports.run, reports.due, every=every),
        Job("missed_texts", texts.run, texts.due, every=every),
    )


def open_late_reports(services: Services) -> LateReports:
    """Return the questions to carriers for final reports."""
    limit = TimeLimit(services.settings.handoff_timeout_seconds)
    calls = CarrierCalls(services.connections, services.clock, limit)
    return LateReports(services.database, calls, services.clock, services.receipts)


def open_missed_texts(services: Services) -> MissedTexts:
    """Return the questions to carriers for texts of people."""
    calls = CarrierCalls(services.connections, services.clock, TimeLimit(LISTING_SECONDS))
    return MissedTexts(services.database, calls, services.clock, services.inbox)
