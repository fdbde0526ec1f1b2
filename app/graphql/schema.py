"""The whole contract: every area's queries, mutations and subscriptions, combined into one schema."""

from functools import cache
from pathlib import Path

import strawberry
from graphql import GraphQLSchema, build_schema
from strawberry.schema.config import StrawberryConfig

from app.graphql.accounts import AccountMutation, AccountQuery
from app.graphql.agent_runs import AgentRunMutation, AgentRunQuery
from app.graphql.agents import AgentMutation, AgentQuery
from app.graphql.api_keys import ApiKeyMutation, ApiKeyQuery
from app.graphql.audit import AuditQuery
from app.graphql.automation_runs import AutomationRunQuery
from app.graphql.automations import AutomationMutation, AutomationQuery
from app.graphql.billing import BillingMutation, BillingQuery
from app.graphql.bookings import BookingQuery
from app.graphql.bulk import BulkMutation
from app.graphql.campaign_changes import CampaignMutation
from app.graphql.campaign_previews import CampaignPreviewQuery
from app.graphql.campaign_results import CampaignResultsQuery
from app.graphql.campaigns import CampaignQuery
from app.graphql.carrier_connections import CarrierConnectionMutation, CarrierConnectionQuery
from app.graphql.connection_tests import ConnectionTestQuery
from app.graphql.consents import ConsentQuery
from app.graphql.contact_lists import ContactListQuery
from app.graphql.contact_timelines import ContactTimelineQuery
from app.graphql.contacts import ContactMutation, ContactQuery
from app.graphql.conversations import ConversationMutation, ConversationQuery
from app.graphql.core.scalars import SCALARS
from app.graphql.crm import CrmMutation, CrmQuery
from app.graphql.custom_fields import CustomFieldMutation, CustomFieldQuery
from app.graphql.deliverability import DeliverabilityQuery
from app.graphql.duplicates import DuplicateMutation, DuplicateQuery
from app.graphql.enrollments import EnrollmentMutation, EnrollmentQuery
from app.graphql.exports import ExportMutation
from app.graphql.imports import ImportMutation, ImportQuery
from app.graphql.inbound_webhooks import InboundWebhookMutation, InboundWebhookQuery
from app.graphql.integrations import IntegrationMutation, IntegrationQuery
from app.graphql.jobs import JobMutation, JobQuery
from app.graphql.keywords import KeywordMutation, KeywordQuery
from app.graphql.live import UPDATES, UpdateMutation, UpdateQuery, UpdateSubscription
from app.graphql.messages import MessageMutation, MessageQuery
from app.graphql.notices import NoticeMutation, NoticeQuery
from app.graphql.number_checks import NumberCheckQuery
from app.graphql.numbers import NumberMutation, NumberQuery
from app.graphql.oauth import OauthMutation, OauthQuery
from app.graphql.opt_outs import OptOutMutation
from app.graphql.payments import PaymentMutation, PaymentQuery
from app.graphql.quiet_hours import QuietHoursMutation, QuietHoursQuery
from app.graphql.replies import ReplyMutation, ReplyQuery
from app.graphql.search import SearchQuery
from app.graphql.segments import SegmentMutation, SegmentQuery
from app.graphql.send_explanations import SendExplanationQuery
from app.graphql.sequence_changes import SequenceDraftQuery, SequenceMutation
from app.graphql.sequences import SequenceQuery
from app.graphql.sessions import SessionMutation, SessionQuery
from app.graphql.setup_status import SetupStatusQuery
from app.graphql.tags import TagMutation, TagQuery
from app.graphql.templates import TemplateMutation, TemplateQuery
from app.graphql.texts import TextQuery
from app.graphql.threads import ITEMS, ThreadMutation, ThreadQuery
from app.graphql.webhook_deliveries import DeliveryMutation, DeliveryQuery
from app.graphql.webhook_replays import ReplayMutation, ReplayQuery
from app.graphql.webhooks import WebhookMutation, WebhookQuery
from app.graphql.writing import WritingMutation, WritingQuery

FRAGMENTS = Path(__file__).parent / "fragments"
"""The fragments that documents of several surfaces spread."""


@strawberry.type(description="Queries.")
class Query(
    AccountQuery,
    ConnectionTestQuery,
    ApiKeyQuery,
    AuditQuery,
    SessionQuery,
    AutomationQuery,
    AutomationRunQuery,
    KeywordQuery,
    BillingQuery,
    BookingQuery,
    CarrierConnectionQuery,
    CampaignQuery,
    CampaignPreviewQuery,
    CampaignResultsQuery,
    ConsentQuery,
    ContactListQuery,
    ContactQuery,
    ContactTimelineQuery,
    ConversationQuery,
    CustomFieldQuery,
    DuplicateQuery,
    EnrollmentQuery,
    ImportQuery,
    InboundWebhookQuery,
    IntegrationQuery,
    CrmQuery,
    JobQuery,
    DeliverabilityQuery,
    MessageQuery,
    NoticeQuery,
    NumberQuery,
    NumberCheckQuery,
    OauthQuery,
    PaymentQuery,
    QuietHoursQuery,
    ReplyQuery,
    SearchQuery,
    SegmentQuery,
    SendExplanationQuery,
    SequenceQuery,
    SequenceDraftQuery,
    SetupStatusQuery,
    TemplateQuery,
    TextQuery,
    TagQuery,
    ThreadQuery,
    UpdateQuery,
    WebhookQuery,
    WritingQuery,
    AgentQuery,
    AgentRunQuery,
    DeliveryQuery,
    ReplayQuery,
):
    """Every area's queries."""


@strawberry.type(description="Mutations. An operation has one mutation, which is one transaction.")
class Mutation(
    AccountMutation,
    SessionMutation,
    ApiKeyMutation,
    AutomationMutation,
    KeywordMutation,
    BillingMutation,
    BulkMutation,
    CarrierConnectionMutation,
    CampaignMutation,
    ContactMutation,
    ConversationMutation,
    CustomFieldMutation,
    DuplicateMutation,
    ExportMutation,
    ImportMutation,
    InboundWebhookMutation,
    IntegrationMutation,
    CrmMutation,
    JobMutation,
    MessageMutation,
    NoticeMutation,
    NumberMutation,
    OauthMutation,
    OptOutMutation,
    PaymentMutation,
    QuietHoursMutation,
    ReplyMutation,
    SegmentMutation,
    SequenceMutation,
    EnrollmentMutation,
    TemplateMutation,
    TagMutation,
    ThreadMutation,
    UpdateMutation,
    WebhookMutation,
    WritingMutation,
    AgentMutation,
    AgentRunMutation,
    DeliveryMutation,
    ReplayMutation,
):
    """Every area's mutations."""


@strawberry.type(description="Subscriptions, over a WebSocket or server-sent events.")
class Subscription(UpdateSubscription):
    """Every area's subscriptions."""


schema = strawberry.Schema(
    Query,
    Mutation,
    Subscription,
    types=[*UPDATES.values(), *ITEMS],
    config=StrawberryConfig(auto_camel_case=False, scalar_map=SCALARS, relay_max_results=200),
)
CORE = schema._schema  # noqa: SLF001 - it has no public name
"""The graphql-core schema that operations are run on."""


def _describe_directives() -> None:
    """Give the arguments of directives their descriptions, which Strawberry 0.341 leaves behind."""
    for directive in CORE.directives:
        definition = directive.extensions.get("strawberry-definition")
        for field in definition.fields if definition else ():
            directive.args[field.python_name].description = field.description


_describe_directives()


@cache
def sdl() -> str:
    """Return the contract as text, which is `schema.graphql`."""
    return schema.as_str() + "\n"


@cache
def contract() -> GraphQLSchema:
    """Return the schema of the SDL, directives included; operation documents are compiled against it."""
    return build_schema(sdl())
