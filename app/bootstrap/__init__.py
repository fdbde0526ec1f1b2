"""Create the services and jobs of a process from its settings, and join the areas' reactions, rules and tables."""

from app.bootstrap.jobs import (
    REACTIONS,
    open_applier,
    open_booking_texts,
    open_campaigns,
    open_crm_sends,
    open_crm_worker,
    open_delivery_workers,
    open_dispatcher,
    open_drip,
    open_history_retention,
    open_job_worker,
    open_jobs,
    open_leftovers,
    open_mail_sender,
    open_partitions,
    retention_rules,
)
from app.bootstrap.secrets import derive, oauth_tokens, sign_in_tokens
from app.bootstrap.services import open_services
from app.bootstrap.tables import METADATA

__all__ = [
    "METADATA",
    "REACTIONS",
    "derive",
    "oauth_tokens",
    "open_applier",
    "open_booking_texts",
    "open_campaigns",
    "open_crm_sends",
    "open_crm_worker",
    "open_delivery_workers",
    "open_dispatcher",
    "open_drip",
    "open_history_retention",
    "open_job_worker",
    "open_jobs",
    "open_leftovers",
    "open_mail_sender",
    "open_partitions",
    "open_services",
    "retention_rules",
    "sign_in_tokens",
]
