"""No operation answers with records that its scopes may not read: every field of the contract is walked."""

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
import strawberry
from graphql import GraphQLInterfaceType, GraphQLObjectType, GraphQLSchema, GraphQLUnionType, get_named_type, parse

from app.domain.accounts.scopes import ALL, AUTOMATION, INCLUDED, Scope, complete
from app.domain.carriers.carrier import InboundMessage
from app.domain.onboarding.service import Opened
from app.graphql.core.directives import ScopeNeeded
from app.graphql.execution.documents import SCOPES, FieldVisitor, declared_scopes
from app.graphql.schema import CORE
from app.services import Services
from tests.factories.accounts import API_KEYS, USERS
from tests.factories.conversations import CONVERSATIONS
from tests.graphql.calls import codes, post

READING = {
    "Account": "account:read",
    "ApiKey": "account:write",
    "AiAgent": "agents:read",
    "AiAgentRun": "agents:read",
    "AiKnowledge": "agents:read",
    "AiStatus": "ai:use",
    "AuditEntry": "account:write",
    "Automation": "account:read",
    "AutomationRun": "account:read",
    "AutomationTemplate": "account:read",
    "Balance": "billing:read",
    "BillingStatus": "billing:read",
    "Booking": "contacts:read",
    "Campaign": "campaigns:read",
    "CampaignAudience": "campaigns:read",
    "CampaignBreakdownRow": "campaigns:read",
    "CampaignCharacter": "campaigns:read",
    "CampaignFinding": "campaigns:read",
    "CampaignPreview": "campaigns:read",
    "CampaignRecipient": "campaigns:read",
    "AgentUpdate": "messages:read",
    "BalanceUpdate": "messages:read",
    "CampaignUpdate": "messages:read",
    "ContactUpdate": "messages:read",
    "ConnectedCrm": "webhooks:manage",
    "ConnectionTest": "account:read",
    "Consent": "contacts:read",
    "Contact": "contacts:read",
    "ContactTag": "contacts:read",
    "Conversation": "conversations:read",
    "ConversationCounts": "conversations:read",
    "ConversationEvent": "conversations:read",
    "ConversationUpdate": "messages:read",
    "ConversationsChanged": "conversations:read",
    "CrmKind": "webhooks:manage",
    "CrmPush": "webhooks:manage",
    "CustomField": "contacts:read",
    "CustomFieldValue": "contacts:read",
    "DeliveryPoint": "messages:read",
    "DeliveryRate": "messages:read",
    "DestinationPrice": "billing:read",
    "EncodingCount": "campaigns:read",
    "ZoneCount": "campaigns:read",
    "Enrollment": "campaigns:read",
    "ImportColumn": "contacts:read",
    "ImportPreview": "contacts:read",
    "ExcludedCount": "campaigns:read",
    "HealthDeduction": "numbers:read",
    "InboundWebhook": "webhooks:manage",
    "Integration": "webhooks:manage",
    "IntegrationEvent": "webhooks:manage",
    "IntegrationKind": "webhooks:manage",
    "Invitation": "account:write",
    "DuplicateContact": "contacts:read",
    "DuplicateContacts": "contacts:read",
    "MergePreview": "contacts:read",
    "MergedField": "contacts:read",
    "Job": "contacts:read",
    "JobFile": "contacts:read",
    "JobCount": "contacts:read",
    "JobProgressUpdate": "messages:read",
    "CarrierAlert": "numbers:read",
    "CarrierCheck": "numbers:read",
    "CarrierFailure": "numbers:read",
    "CarrierField": "numbers:read",
    "CarrierResultCount": "numbers:read",
    "CarrierHealth": "numbers:read",
    "CarrierKind": "numbers:read",
    "CarrierValue": "numbers:read",
    "Media": "messages:read",
    "Message": "messages:read",
    "NumberImport": "numbers:read",
    "MessageStatusUpdate": "messages:read",
    "NewMessageUpdate": "messages:read",
    "Note": "conversations:read",
    "NoteUpdate": "messages:read",
    "NumberCheck": "contacts:read",
    "NumberHealth": "numbers:read",
    "OauthClient": "account:write",
    "OauthGrant": "account:write",
    "PartsCount": "campaigns:read",
    "Payment": "billing:read",
    "PaymentMethod": "billing:read",
    "Plan": "billing:read",
    "PlanSubscription": "billing:read",
    "OptInRequest": "contacts:read",
    "PhoneConsent": "contacts:read",
    "PhoneNumber": "numbers:read",
    "Placeholder": "campaigns:read",
    "RecipientCount": "campaigns:read",
    "SampleText": "contacts:read",
    "ScoreReason": "contacts:read",
    "ScheduledMessage": "messages:read",
    "Segment": "campaigns:read",
    "SegmentField": "campaigns:read",
    "SegmentPreview": "campaigns:read",
    "ContactTimeline": "contacts:read",
    "ContactTimelineEntry": "contacts:read",
    "FoundRecord": "account:read",
    "ScopeDescription": "account:read",
    "Sequence": "campaigns:read",
    "SequenceText": "campaigns:read",
    "SequenceCounts": "campaigns:read",
    "SequenceExits": "campaigns:read",
    "SequenceVersion": "campaigns:read",
    "SequenceWindow": "campaigns:read",
    "ExitCount": "campaigns:read",
    "SequenceStep": "campaigns:read",
    "PresenceUpdate": "messages:read",
    "QuietHoursRule": "account:read",
    "Session": "account:write",
    "SetupStatus": "account:read",
    "SetupStep": "account:read",
    "SpamCheck": "numbers:read",
    "SpamFinding": "numbers:read",
    "SpamSource": "numbers:read",
    "Suppression": "contacts:read",
    "SpendHistory": "billing:read",
    "SpendPoint": "billing:read",
    "Tariff": "billing:read",
    "Template": "campaigns:read",
    "Timeline": "conversations:read",
    "TimelineMessage": "conversations:read",
    "Transaction": "billing:read",
    "Notice": "account:read",
    "NoticeSetting": "account:read",
    "NoticeUpdate": "messages:read",
    "Upload": "contacts:read",
    "User": "conversations:read",
    "Viewer": "account:read",
    "WatchedKeyword": "campaigns:read",
    "Webhook": "webhooks:manage",
    "WebhookAttempt": "webhooks:manage",
    "WebhookDelivery": "webhooks:manage",
    "WebhookNotice": "webhooks:manage",
}
"""The scope that reading a record of each type needs."""

RESULTS = {
    "AccountDeletion",
    "AiAgentTest",
    "AiDraftDecision",
    "CanceledCampaign",
    "CanceledMessage",
    "ConsentLink",
    "CostlyCharacter",
    "DeletedCampaign",
    "DeletedContact",
    "EndedSessions",
    "Enrolled",
    "EnrolledContacts",
    "ExportLink",
    "GeneratedCopy",
    "MeasuredText",
    "InboundWebhookTest",
    "JobLink",
    "NewApiKey",
    "NewInboundWebhook",
    "NewOauthClient",
    "NewWebhook",
    "PageInfo",
    "PaymentPage",
    "RefusedWebhookReplays",
    "SendExplanation",
    "SentMessage",
    "SuggestedReply",
    "TakenMessage",
    "TextFinding",
    "TextMeasure",
    "CrmAuthorization",
    "TextParts",
    "UnreadNotices",
    "WebhookReplay",
    "WebhookSecret",
}
"""Types returned only by the operation that creates them, with data that the caller has sent."""

OF_LISTS = ("Connection", "Edge")

PARTS = {
    "Actor",
    "AiGateVerdict",
    "AiPassage",
    "AutomationAction",
    "AutomationTrigger",
    "BookingText",
    "CheckedGate",
    "EventCondition",
    "IntegrationText",
    "PickedValue",
    "RunCondition",
    "RunResult",
    "WebhookCustomField",
    "WebhookStats",
}
"""Parts of records, which tell no more than the record."""

ROOTS = {"Query", "Mutation", "Subscription"}
MEANT = {
    *(
        (field, type)
        for field in ("bulk_delete", "bulk_enroll", "delete_custom_field")
        for type in ("Job", "JobCount", "JobFile")
    ),
    *(("merge_contacts", type) for type in ("Contact", "CustomFieldValue", "ScoreReason", "Consent")),
    *((field, "User") for field in ("invite_user", "change_role", "remove_user", "update_user")),
    *((f"{verb}_automation", "Automation") for verb in ("create", "update", "delete")),
    ("set_automation_status", "Automation"),
    ("preview_sequence_draft", "SequenceText"),
    *((f"{verb}_inbound_webhook", type) for verb in ("add", "update") for type in ("InboundWebhook", "Integration")),
    *((field, "Session") for field in ("sessions", "end_session", "end_other_sessions")),
    *((field, "OauthGrant") for field in ("oauth_grants", "revoke_oauth_grant")),
    *((field, "ApiKey") for field in ("automation_keys", "revoke_automation_key")),
}
"""Merging and bulk_enroll check contacts:read themselves. Owners hold every scope: that a key made for changing the
account reads its people is meant. So is that whoever may make automation keys sees those it made, that the caller of a
change sees the automation or the inbound webhook that it changed, that the caller of a preview sees the texts that it
gave, and that a signed-in user sees the own sessions and applications.
"""


def answers() -> Iterator[tuple[str, str, frozenset[str]]]:
    """Return every root field with each type that it can answer with, and the scopes needed on the way there."""
    for kind in (CORE.query_type, CORE.mutation_type, CORE.subscription_type):
        assert kind
        for name, field in kind.fields.items():
            needed = complete({SCOPES[kind.name, name]})
            yield from ((name, type, scopes) for type, scopes in reached(get_named_type(field.type), needed, ()))


def reached(kind: object, scopes: frozenset[str], path: tuple[str, ...]) -> Iterator[tuple[str, frozenset[str]]]:
    if isinstance(kind, GraphQLInterfaceType | GraphQLUnionType):
        for each in CORE.get_possible_types(kind):
            yield from reached(each, scopes, path)
    if not isinstance(kind, GraphQLObjectType) or kind.name in path:
        return
    if not kind.name.endswith(OF_LISTS):
        yield kind.name, scopes
    for name, field in kind.fields.items():
        needed = {SCOPES[kind.name, name]} if (kind.name, name) in SCOPES else set[str]()
        yield from reached(get_named_type(field.type), complete(scopes | needed), (*path, kind.name))


def test_every_type_of_the_contract_declares_the_scopes_to_read_it() -> None:
    kinds = {name for name, kind in CORE.type_map.items() if isinstance(kind, GraphQLObjectType)}
    records = {name for name in kinds if not name.startswith("__") and not name.endswith(OF_LISTS)}

    assert records - ROOTS == READING.keys() | RESULTS | PARTS


def test_every_caller_may_read_the_types_of_its_answer() -> None:
    found = list(answers())

    leaks = [
        (field, type)
        for field, type, scopes in found
        if type in READING and READING[type] not in scopes and (field, type) not in MEANT
    ]

    assert leaks == []
    assert len(found) > 70


CONSENT_WORDS = "{ contacts { nodes { consents { text } } } }"


def thread() -> Any:
    return strawberry.field(directives=[ScopeNeeded(requires="conversations:read")])


@strawberry.interface
class News:
    id: strawberry.ID | None
    thread: strawberry.ID | None = thread()


@strawberry.type
class Text(News):
    body: strawberry.ID | None = strawberry.field(directives=[ScopeNeeded(requires="messages:read")])


@strawberry.interface
class Bare:
    thread: strawberry.ID | None


@strawberry.type
class Unlike(Bare):
    thread: strawberry.ID | None = thread()


def schema_of(answer: type, kind: type) -> GraphQLSchema:
    """Return the schema of a query of the field `news`."""
    query = strawberry.type(type("Query", (), {"__annotations__": {"news": answer}}))
    return strawberry.Schema(query, types=[kind])._schema


@pytest.mark.parametrize(
    ("selection", "scopes"),
    [
        ("id", set[str]()),
        ("thread", {"conversations:read"}),
        ("... on Text { thread }", {"conversations:read"}),
        ("... on News { ... on Text { body } }", {"messages:read"}),
    ],
)
def test_a_field_of_an_interface_needs_its_scope_whichever_type_a_query_names(selection: str, scopes: set[str]) -> None:
    schema = schema_of(News, Text)

    walked = FieldVisitor.walk(parse(f"{{ news {{ {selection} }} }}"), schema, declared_scopes(schema))

    assert walked.scopes == scopes


def test_an_interface_and_the_types_that_implement_it_need_the_same_scopes() -> None:
    with pytest.raises(ValueError, match=r"^Unlike\.thread and Bare\.thread need different scopes$"):
        declared_scopes(schema_of(Bare, Unlike))


def test_every_scope_to_change_includes_the_scope_to_read() -> None:
    writing = {scope for scope in Scope if scope.endswith(":write")}

    assert INCLUDED.keys() == writing | {Scope.campaigns_send}
    assert complete(["contacts:write"]) == {"contacts:write", "contacts:read"}
    assert complete(AUTOMATION) == AUTOMATION
    assert complete(ALL) == ALL


async def test_the_words_of_a_consent_record_need_the_scope_for_messages(
    services: Services, account: Opened, api: httpx2.AsyncClient
) -> None:
    stop = InboundMessage("in-1", "+12025550143", account.phone_number, "STOP")
    await services.inbox.receive("sandbox", stop)
    await API_KEYS.change(services, scopes=["contacts:read"])

    without = await post(api, {"query": "{ contacts { nodes { consents { kind method } } } }"})
    refused = await post(api, {"query": CONSENT_WORDS})
    await API_KEYS.change(services, scopes=["contacts:read", "messages:read"])
    shown = await post(api, {"query": CONSENT_WORDS})

    assert without.json()["data"]["contacts"]["nodes"] == [{"consents": [{"kind": "opt_out", "method": "keyword"}]}]
    assert (codes(refused), "STOP" in refused.text) == (["insufficient_scope"], False)
    assert shown.json()["data"]["contacts"]["nodes"] == [{"consents": [{"text": "STOP"}]}]


async def test_an_assignee_is_read_with_the_scope_for_reading_conversations(
    services: Services, account: Opened, api: httpx2.AsyncClient
) -> None:
    await services.inbox.receive("sandbox", InboundMessage("in-1", "+12025550143", account.phone_number, "Hi"))
    await CONVERSATIONS.change(services, assignee_id=await USERS.only(services, "id"))
    await API_KEYS.change(services, scopes=["conversations:read"])

    shown = await post(api, {"query": "{ conversations { nodes { assignee { email } } } }"})
    users = await post(api, {"query": "{ users { email } }"})

    assert shown.json() == {"data": {"conversations": {"nodes": [{"assignee": {"email": account.email}}]}}}
    assert codes(users) == ["insufficient_scope"]


@pytest.mark.parametrize("scope", ["contacts:write", "contacts:delete"])
async def test_a_key_that_may_change_contacts_may_read_them_and_no_other_may(
    services: Services, account: Opened, api: httpx2.AsyncClient, scope: str
) -> None:
    await API_KEYS.change(services, scopes=[scope])

    answer = await post(api, {"query": "{ contacts { total_count } }"})

    if scope == "contacts:write":
        assert answer.json() == {"data": {"contacts": {"total_count": 0}}}
    else:
        assert codes(answer) == ["insufficient_scope"]
