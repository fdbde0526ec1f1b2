"""Contacts, as the contract shows them."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Annotated, Any, cast

import strawberry

from app.domain.accounts import queries as accounts
from app.domain.consent import queries as consents
from app.domain.consent.queries import MAX_CONSENTS
from app.domain.contacts import models, queries, score, service
from app.domain.contacts.models import ContactFields, ContactStatus, PipelineStage, TimeZoneSource
from app.domain.contacts.queries import MAX_SEARCH
from app.domain.conversations import queries as conversations
from app.domain.conversations import review
from app.domain.erasure import service as erasure
from app.domain.kernel import idempotency
from app.domain.kernel import phone as phones
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages.eligibility import recipients
from app.domain.messages.sending.explanation import Verdict
from app.domain.quiet_hours import area_codes
from app.graphql.accounts import User
from app.graphql.consents import Consent
from app.graphql.core.context import Info, columns_of, given, row_of
from app.graphql.core.directives import Constraint, guarded
from app.graphql.core.enums import describe
from app.graphql.core.idempotency import IdempotencyKey, once
from app.graphql.core.lazy import lazily
from app.graphql.core.loading import Load, links, reads
from app.graphql.core.scalars import BigInt
from app.graphql.custom_fields import CustomFieldValue, CustomValue, texts_of, values_of
from app.graphql.gates import CheckedGate
from app.graphql.number_checks import LineType, NumberValidation

describe(
    TimeZoneSource,
    "The source of a contact's time zone.",
    {
        "user": "A user, or a request to the service.",
        "crm": "A connected CRM.",
        "booking": "A booking that the person made.",
    },
)
describe(
    PipelineStage,
    "The contact's stage in the pipeline.",
    {
        "new_lead": "Not contacted yet.",
        "contacted": "Contacted.",
        "qualified": "Worth pursuing.",
        "proposal": "An offer was made.",
        "won": "A customer.",
        "lost": "Not to become a customer.",
    },
)
describe(
    ContactStatus,
    "Whether a contact has opted out of texts.",
    {"active": "May be texted.", "opted_out": "Has opted out."},
)
ContactId = Annotated[BigInt, strawberry.argument(description="The contact's id.")]
OptionalId = Annotated[BigInt | None, strawberry.argument(description="The contact's id, or give phone.")]
PHONE = "In E.164 form, such as +12025550143, or national form of the account's region."
Phone = Annotated[str | None, strawberry.argument(description=f"The contact's phone. {PHONE}")]
SEARCH = f"Part of a name, phone or e-mail, at most {MAX_SEARCH} characters; + and 7 or more digits, a phone's start."
SEARCHED = Constraint(max_length=MAX_SEARCH)
STATUS = "opted_out records an opt-out. active changes nothing; once opted out it is refused (contact_opted_out)."
WRITE_REFUSALS = ("conflict", "contact_opted_out", "invalid_phone", "not_found")


@strawberry.type(description="One part of a contact's score.")
class ScoreReason:
    """One part of a score."""

    reason: str = strawberry.field(description="The reason for the points.")
    points: int = strawberry.field(description="The number of points.")


@strawberry.type(description="A person whom messages are sent to. There is one contact per phone.")
class Contact:
    """A contact."""

    id: BigInt = strawberry.field(description="The contact's id.")
    phone: str = strawberry.field(description="The phone in E.164 form, such as +12025550143.")
    first_name: str = strawberry.field(description="The first name; empty when not known.")
    last_name: str = strawberry.field(description="The last name; empty when not known.")
    email: str = strawberry.field(description="The e-mail address; empty when not known.")
    tags: list[str] = strawberry.field(description="Labels that the account gave, in the order it gave them.")
    pipeline_stage: PipelineStage = strawberry.field(description="The stage of the contact in the sales pipeline.")
    source: str = strawberry.field(description="The source of the contact, such as api or inbound_sms.")
    status: ContactStatus = strawberry.field(description="Whether the contact has opted out of texts.")
    dnd_sms: bool = strawberry.field(description="Whether the account has set do-not-disturb.")
    time_zone: str | None = strawberry.field(
        description="The time zone (IANA) of the person; null if only the possible zones of the phone are known."
    )
    time_zone_source: TimeZoneSource | None = strawberry.field(description="The source of the time zone.")
    held_until: datetime | None = strawberry.field(
        description="The time until which messages wait for a decision on an unclear reply."
    )
    assignee_id: BigInt | None = strawberry.field(description="The id of the assigned user.")
    score: int = strawberry.field(description="The score from 0 to 100: how promising the contact is.")
    created_at: datetime = strawberry.field(description="The time at which the contact was added.")
    updated_at: datetime = strawberry.field(description="The time of the last change.")

    @strawberry.field(description="The name and the phone, for lists to choose from.")
    def label(self) -> str:
        """Return the name, if any, and the phone."""
        name = f"{self.first_name} {self.last_name}".strip()
        return f"{name} ({self.phone})" if name else self.phone

    @strawberry.field(description="Whether the phone fits the numbering plan of its country.")
    def validation(self) -> NumberValidation:
        """Return the validity of the phone."""
        return phones.describe(self.phone).validation

    @strawberry.field(description="The kind of line of the phone by its numbering plan; unknown in North America.")
    def line_type(self) -> LineType:
        """Return the line type of the phone."""
        return phones.describe(self.phone).line_type

    @strawberry.field(description="The country of the phone, such as US; null when it is of none.")
    def region(self) -> str | None:
        """Return the country of the phone."""
        return phones.describe(self.phone).region

    @strawberry.field(
        description="The state of the USA that the phone's area code is of, such as TX; null for another phone. People "
        "keep their phones when they move."
    )
    def state(self) -> str | None:
        """Return the state of the phone."""
        return area_codes.find_state(self.phone)

    @strawberry.field(
        description="True when no opt-out, do-not-disturb, hold or kind of phone keeps the contact from a text. "
        "explain_send checks everything else, too."
    )
    def can_send(self) -> bool:
        """Tell whether the contact may be sent a text."""
        return recipients.find_refusal(row_of(self, models.Contact)) is None

    @strawberry.field(description="The gate that makes can_send false, with its reason; null while that is true.")
    def blocked_by(self) -> CheckedGate | None:
        """Return the gate that refuses."""
        found = recipients.find_refusal(row_of(self, models.Contact))
        return CheckedGate.of(found[0], Verdict.refused, found[1]) if found else None

    @strawberry.field(
        graphql_type=datetime | None,
        description="The time of the last message from or to the contact, without texts of campaigns, sequences and "
        "automations; null before the first.",
        directives=guarded("conversations:read"),
    )
    @reads("id")
    def last_message_at(self, info: Info) -> Load[Any]:
        """Return the time of the last message."""
        return info.context.load(conversations.find_last_messages, self.id)

    @strawberry.field(description="The values of the account's custom fields that the contact has, by key.")
    async def custom_fields(self, info: Info) -> list[CustomFieldValue]:
        """Return the values in the order of the keys."""
        contact = row_of(self, models.Contact)
        return await values_of(info, contact.account_id, contact.custom_fields)

    @strawberry.field(
        graphql_type=User | None,
        description="The assigned user, removed or not; null while none is.",
        directives=guarded("conversations:read"),
    )
    def assignee(self, info: Info) -> Load[Any]:
        """Return the assignee."""
        return info.context.load(accounts.find_users, self.assignee_id)

    @strawberry.field(description="The parts of the score; the points add up to it.")
    def score_reasons(self) -> list[ScoreReason]:
        """Explain the score."""
        return [ScoreReason(reason=it.reason, points=it.points) for it in score.explain(row_of(self, models.Contact))]

    @strawberry.field(
        graphql_type=list[Consent],
        description=f"The newest {MAX_CONSENTS} consent records of the phone, the oldest first. phone_consent has all.",
    )
    def consents(self, info: Info) -> Load[Any]:
        """Return the consent records of the phone."""
        return info.context.load_rows(consents.find_consents, "phone", row_of(self, models.Contact).phone)

    @strawberry.field(
        graphql_type=lazily("Conversation", "app.graphql.conversations") | None,
        description="The conversation with the contact; null before the first message.",
        directives=guarded("conversations:read"),
    )
    @links(conversations.OF_CONTACT, "id")
    def conversation(self, info: Info) -> Load[Any]:
        """Return the conversation."""
        return info.context.load(conversations.FindByContacts(columns_of(info)), self.id)


@strawberry.input
class ContactDetails:
    """Fields of a contact, except its phone."""

    first_name: strawberry.Maybe[str | None] = strawberry.field(
        description="The first name.", directives=[Constraint(max_length=service.MAX_NAME)]
    )
    last_name: strawberry.Maybe[str | None] = strawberry.field(
        description="The last name.", directives=[Constraint(max_length=service.MAX_NAME)]
    )
    email: strawberry.Maybe[str | None] = strawberry.field(
        description="The e-mail address.", directives=[Constraint(max_length=service.MAX_EMAIL)]
    )
    tags: strawberry.Maybe[list[str] | None] = strawberry.field(
        description="All labels, each once; they replace those there were.",
        directives=[Constraint(max_length=service.MAX_TAG, max_items=service.MAX_TAGS)],
    )
    pipeline_stage: strawberry.Maybe[PipelineStage | None] = strawberry.field(
        description="The stage; new_lead by default."
    )
    source: strawberry.Maybe[str | None] = strawberry.field(
        description="The source of the contact.", directives=[Constraint(max_length=service.MAX_NAME)]
    )
    time_zone: strawberry.Maybe[str | None] = strawberry.field(
        description="The time zone (IANA) of the person, such as America/Chicago; null to use the zones of the phone."
    )
    dnd_sms: strawberry.Maybe[bool | None] = strawberry.field(description="True sets do-not-disturb, false lifts it.")
    status: strawberry.Maybe[ContactStatus | None] = strawberry.field(description=STATUS)
    custom_fields: strawberry.Maybe[list[CustomValue] | None] = strawberry.field(
        description="Values of custom fields to set; fields that are not named keep theirs."
    )


@strawberry.input(description="A contact to add.")
class NewContact(ContactDetails):
    """A contact to add."""

    phone: str = strawberry.field(description=PHONE)


@strawberry.input(
    description="The fields to change; fields that are left out keep their values, and null empties a field."
)
class ContactChanges(ContactDetails):
    """Changes to a contact; a field that is left out stays as it is."""

    phone: strawberry.Maybe[str | None] = strawberry.field(description=f"{PHONE} Not null: a contact has one.")


@strawberry.type(description="The result of a deletion.")
class DeletedContact:
    """The result of a deletion."""

    deleted_id: BigInt = strawberry.field(description="The id of the deleted contact.")
    deleted_messages: BigInt = strawberry.field(description="The number of its messages that were deleted.")


@strawberry.type
class ContactQuery:
    """Reading contacts."""

    @strawberry.field(
        graphql_type=Contact | None,
        description="One contact, by its id or its phone; null beside the error not_found.",
        directives=guarded("contacts:read", "not_found", "invalid_phone"),
    )
    async def contact(
        self,
        info: Info,
        id: Annotated[BigInt | None, strawberry.argument(description="The contact's id.")] = None,
        phone: Annotated[str | None, strawberry.argument(description=PHONE)] = None,
    ) -> models.Contact:
        """Return one contact."""
        return await service.get(info.context.unit, id, phone)


@strawberry.type
class ContactMutation:
    """Changing contacts."""

    @strawberry.mutation(
        graphql_type=Contact,
        description="Add a contact, and return it. A phone that has opted out stays opted out.",
        directives=guarded("contacts:write", *WRITE_REFUSALS, "idempotency_key_reused"),
    )
    async def create_contact(
        self,
        info: Info,
        contact: Annotated[NewContact, strawberry.argument(description="The contact.")],
        idempotency_key: IdempotencyKey = None,
    ) -> models.Contact:
        """Add a contact."""
        fields = _fields(contact)
        digest = idempotency.fingerprint("create_contact", **fields)
        return await once_for_contact(info, idempotency_key, digest, lambda unit: service.create(unit, fields))

    @strawberry.mutation(
        graphql_type=Contact,
        description=(
            "Add a contact, or change the given fields of the one with that phone, and return it. A field that is null "
            "stays as it is; tags replace those there were."
        ),
        directives=guarded("contacts:write", *WRITE_REFUSALS, "idempotency_key_reused"),
    )
    async def upsert_contact(
        self,
        info: Info,
        contact: Annotated[NewContact, strawberry.argument(description="The contact.")],
        source_if_new: Annotated[str, strawberry.argument(description="The source of a new contact without one.")] = "",
        idempotency_key: IdempotencyKey = None,
    ) -> models.Contact:
        """Add or change a contact."""
        fields = _fields(contact)
        digest = idempotency.fingerprint("upsert_contact", **fields)
        return await once_for_contact(
            info, idempotency_key, digest, lambda unit: review.upsert_contact(unit, fields, source_if_new)
        )

    @strawberry.mutation(
        graphql_type=Contact,
        description="Change some fields of a contact, named by its id or its phone, and return it.",
        directives=guarded("contacts:write", *WRITE_REFUSALS),
    )
    async def update_contact(
        self,
        info: Info,
        changes: Annotated[ContactChanges, strawberry.argument(description="The fields to change.")],
        id: OptionalId = None,
        phone: Phone = None,
    ) -> models.Contact:
        """Change a contact."""
        contact = await service.get(info.context.unit, id, phone)
        return await review.update_contact(info.context.unit, contact.id, _given(vars(changes)))

    @strawberry.mutation(
        graphql_type=Contact,
        description="Assign a contact, named by its id or its phone, to a user, and return it.",
        directives=guarded("contacts:write", "not_found", "invalid_phone"),
    )
    async def assign_contact(
        self,
        info: Info,
        id: OptionalId = None,
        phone: Phone = None,
        assignee_id: Annotated[BigInt | None, strawberry.argument(description="The user; null for none.")] = None,
    ) -> models.Contact:
        """Assign a contact."""
        contact = await service.get(info.context.unit, id, phone)
        return await service.assign(info.context.unit, contact.id, assignee_id)

    @strawberry.mutation(
        graphql_type=DeletedContact,
        description=(
            "Remove a contact for good, with all its messages and conversations, and its webhook payloads, and return "
            "its id. Texts that have not left are refunded. An opt-out of the phone stays, and an unclear reply counts "
            "as one."
        ),
        directives=guarded("contacts:delete", "not_found"),
    )
    async def delete_contact(self, info: Info, id: ContactId) -> erasure.Erased:
        """Erase a contact."""
        return await erasure.erase(info.context.unit, id)


def _fields(contact: NewContact) -> ContactFields:
    return _given({**vars(contact), "phone": strawberry.Some(contact.phone)})


def _given(written: dict[str, Any]) -> ContactFields:
    fields = given(written, ContactFields)
    if custom := cast("list[CustomValue] | None", fields.get("custom_fields")):
        fields["custom_fields"] = texts_of(custom)
    return fields


async def once_for_contact(
    info: Info, key: str | None, digest: str, change: Callable[[UnitOfWork], Awaitable[models.Contact]]
) -> models.Contact:
    """Make a change once; return the contact as it is now."""
    unit = info.context.unit
    return await queries.get(unit, await once(info, key, digest, lambda: change(unit)))
