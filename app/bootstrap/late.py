"""Jobs that ask carriers for what no callback has brought."""

from collections.abc import Sequence

from app.domain.kernel.time_limit import TimeLimit
from app.domain.messages.carrier_calls import CarrierCalls
from app.domain.messages.late_reports import LateReports
from app.jobs.job import Job
from app.services import Services


def late_jobs(services: Services, every: float) -> Sequence[Job]:
    """Return the jobs, polled each `every` seconds."""
    reports = open_late_reports(services)
    return (Job("late_reports", reports.run, reports.due, every=every),)


def open_late_reports(services: Services) -> LateReports:
    """Return the questions to carriers for final reports."""
    limit = TimeLimit(services.settings.handoff_timeout_seconds)
    calls = CarrierCalls(services.connections, services.clock, limit)
    return LateReports(services.database, services.receipts, calls, services.clock)
