"""The services that all surfaces use; `app.bootstrap` opens them."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.db.engine import Database
from app.db.partitions import Partitions
from app.domain.accounts.sign_in.authentication import Authentication
from app.domain.carriers.connections import OpenConnections
from app.domain.carriers.health import Health
from app.domain.carriers.service import Ports as CarrierPorts
from app.domain.crm.service import Ports as CrmPorts
from app.domain.integrations.intake import Intake
from app.domain.kernel.clock import Clock
from app.domain.kernel.sealing import CursorSeal, Seal
from app.domain.kernel.unit_of_work import Notify
from app.domain.live.feed import Feed
from app.domain.messages.acceptor import SendAcceptor
from app.domain.messages.handoff import Handoff
from app.domain.messages.inbound import Inbox
from app.domain.messages.receipts.journal import Receipts
from app.domain.oauth.authority import Authority
from app.domain.payments.service import Payments
from app.domain.webhooks.service import Ports as WebhookPorts
from app.domain.writing.drafting import Writers
from app.jobs.live import Listener
from app.providers.limits import Limits
from app.providers.places import Places
from app.settings import Settings


@dataclass(frozen=True, slots=True)
class Services:
    """The services that a surface uses.

    `secret` makes the fingerprints of API keys, `cursors` the places in lists, `exports` the links to exports,
    `confirmations` the proofs that assistants pass back to the tool server, `answers` the secrets in stored answers;
    `places` bounds the downloads of exports. `histories` are the tables that are divided by ranges of ids.
    """

    settings: Settings
    database: Database
    clock: Clock
    notify: Notify
    acceptor: SendAcceptor
    inbox: Inbox
    intake: Intake
    crm: CrmPorts
    receipts: Receipts
    webhooks: WebhookPorts
    writers: Writers
    payments: Payments
    connections: OpenConnections
    health: Health
    carriers: CarrierPorts
    handoff: Handoff
    feed: Feed
    live: Listener
    limits: Limits
    authentication: Authentication
    oauth: Authority
    secret: bytes
    cursors: CursorSeal
    exports: Seal
    confirmations: Seal
    answers: Seal
    places: Places
    histories: Sequence[Partitions]
