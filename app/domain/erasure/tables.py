"""Tables that the deletion of an account empties, and that an export of it contains, joined from the areas."""

from app.domain.accounts import account_tables as accounts
from app.domain.agents import account_tables as agents
from app.domain.automations import account_tables as automations
from app.domain.billing import account_tables as billing
from app.domain.campaigns import account_tables as campaigns
from app.domain.carriers import account_tables as carriers
from app.domain.consent import account_tables as consent
from app.domain.contacts import account_tables as contacts
from app.domain.conversations import account_tables as conversations
from app.domain.crm import account_tables as crm
from app.domain.deliverability import account_tables as deliverability
from app.domain.events import account_tables as events
from app.domain.grants import account_tables as grants
from app.domain.integrations import account_tables as integrations
from app.domain.jobs import account_tables as jobs
from app.domain.kernel import idempotency
from app.domain.live import account_tables as live
from app.domain.messages import account_tables as messages
from app.domain.notices import account_tables as notices
from app.domain.numbers import account_tables as numbers
from app.domain.oauth import account_tables as oauth
from app.domain.payments import account_tables as payments
from app.domain.quiet_hours import account_tables as quiet_hours
from app.domain.segments import account_tables as segments
from app.domain.sequences import account_tables as sequences
from app.domain.templates import account_tables as templates
from app.domain.webhooks import account_tables as webhooks
from app.domain.writing import account_tables as writing

DELETED = (
    *webhooks.ENDED,
    *numbers.DELETED,
    *crm.DELETED,
    *integrations.DELETED,
    *automations.DELETED,
    *sequences.DELETED,
    *campaigns.DELETED,
    *agents.DELETED,
    *segments.DELETED,
    *notices.DELETED,
    *messages.DELETED,
    *jobs.DELETED,
    *quiet_hours.DELETED,
    *conversations.DELETED,
    *contacts.DELETED,
    *consent.DELETED,
    *templates.DELETED,
    *writing.DELETED,
    *webhooks.DELETED,
    *deliverability.DELETED,
    *live.DELETED,
    *events.DELETED,
    *idempotency.DELETED,
    *oauth.DELETED,
    *grants.DELETED,
    *carriers.DELETED,
    *accounts.DELETED,
    *payments.DELETED,
    *billing.DELETED,
)
"""In the order of deletion: children first, and numbers before the messages that arrive on them."""

EXPORTED = (
    *accounts.EXPORTED,
    *grants.EXPORTED,
    *carriers.EXPORTED,
    *numbers.EXPORTED,
    *contacts.EXPORTED,
    *consent.EXPORTED,
    *conversations.EXPORTED,
    *messages.EXPORTED,
    *integrations.EXPORTED,
    *crm.EXPORTED,
    *sequences.EXPORTED,
    *templates.EXPORTED,
    *segments.EXPORTED,
    *quiet_hours.EXPORTED,
    *campaigns.EXPORTED,
    *automations.EXPORTED,
    *jobs.EXPORTED,
    *billing.EXPORTED,
    *writing.EXPORTED,
    *agents.EXPORTED,
    *payments.EXPORTED,
    *notices.EXPORTED,
    *events.EXPORTED,
    *webhooks.EXPORTED,
)
"""The files of an export, in the order in which they are written."""
