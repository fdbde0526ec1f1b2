"""Contacts, as the contract shows them."""

from datetime import datetime
from typing import Annotated, Any

import strawberry

from app.domain.contacts import consent, models, queries, score, service
from app.domain.contacts.models import ConsentKind, ContactFields, ContactStatus, PipelineStage
from app.domain.contacts.queries import ContactFilter, ContactSort
from app.domain.kernel import idempotency
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.paging import Page, Window
from app.domain.messages import erasure
from app.graphql.context import Info, given
from app.graphql.directives import guarded
from app.graphql.enums import describe
from app.graphql.paging import After, Connection, First, Offset
from app.graphql.scalars import BigInt

describe(
    PipelineStage,
    "Where a contact stands in the sales pipeline.",
    {
        "new_lead": "Nobody has been in touch yet.",
        "contacted": "Somebody has been in touch.",
        "qualified": "Worth pursuing.",
        "proposal": "An offer was made.",
        "won": "A customer.",
        "lost": "Not to become a customer.",
    },
)
describe(
    ContactStatus,
    "Whether a contact has opted out of texts.",
    {"active": "May be texted.", "opted_out": "Has said stop, and must not be texted."},
)
describe(
    ConsentKind,
    "What a consent record says.",
    {
        "opt_in": "The person agreed to texts.",
        "opt_out": "The person texted a stop word.",
        "re_opt_in": "The person agreed again after an opt-out.",
        "attested": "The sender of a text certified that the person had agreed.",
        "revoked_other": "The person took consent back in another way than by a stop word.",
    },
)
describe(
    ContactSort,
    "How contacts are sorted.",
    {
        "name_asc": "By first and last name, from A to Z.",
        "name_desc": "By first and last name, from Z to A.",
        "score_high": "The highest score first.",
        "date_added": "The latest added first.",
    },
)

ContactId = Annotated[BigInt, strawberry.argument(description="The contact's id.")]
PHONE = "In E.164 form, such as +12025550143, or national form of the account's region."


@strawberry.type(description="One part of a contact's score.")
class ScoreReason:
    """One part of a score."""

    reason: str = strawberry.field(description="What the points are for.")
    points: int = strawberry.field(description="How many points it gives.")


@strawberry.type(description="One statement of consent or its withdrawal. Records are only ever added.")
class Consent:
    """A consent record."""

    id: BigInt = strawberry.field(description="The record's id.")
    kind: ConsentKind = strawberry.field(description="What the record says.")
    method: str = strawberry.field(description="How consent was given or taken back, such as keyword or web_form.")
    text: str = strawberry.field(description="The words that were shown or received.")
    message_id: BigInt | None = strawberry.field(description="The message that carried it.")
    actor: str = strawberry.field(description="Who recorded it.")
    recorded_at: datetime = strawberry.field(description="When it was recorded.")


@strawberry.type(description="A person whom messages are sent to. There is one contact per phone.")
class Contact:
    """A contact."""

    id: BigInt = strawberry.field(description="The contact's id.")
    phone: str = strawberry.field(description="The phone in E.164 form, such as +12025550143.")
    first_name: str = strawberry.field(description="The first name; empty when not known.")
    last_name: str = strawberry.field(description="The last name; empty when not known.")
    email: str = strawberry.field(description="The e-mail address; empty when not known.")
    tags: list[str] = strawberry.field(description="Labels that the account gave, in the order it gave them.")
    pipeline_stage: PipelineStage = strawberry.field(description="Where the contact stands in the sales pipeline.")
    source: str = strawberry.field(description="Where the contact came from, such as api or inbound_sms.")
    status: ContactStatus = strawberry.field(description="Whether the contact has opted out of texts.")
    dnd_sms: bool = strawberry.field(description="Whether the account has set do-not-disturb.")
    held_until: datetime | None = strawberry.field(
        description="Until when texts wait for a person to decide on an unclear reply."
    )
    score: int = strawberry.field(description="How promising the contact is, 0 to 100.")
    created_at: datetime = strawberry.field(description="When the contact was added.")
    updated_at: datetime = strawberry.field(description="When the contact was last changed.")

    @strawberry.field(description="What the score is made of; the points add up to it.")
    def score_reasons(self) -> list[ScoreReason]:
        """Explain the score."""
        return [ScoreReason(reason=part.reason, points=part.points) for part in score.explain(_row(self))]

    @strawberry.field(graphql_type=list[Consent], description="All that is recorded of the consent of this phone.")
    async def consents(self, info: Info) -> Any:
        """Return the consent records of the phone."""
        return await queries.find_consents(info.context.unit, _row(self).phone)


@strawberry.input(description="A contact to add.")
class NewContact:
    """What a contact is made of."""

    phone: str = strawberry.field(description=PHONE)
    first_name: strawberry.Maybe[str | None] = strawberry.field(description="The first name.")
    last_name: strawberry.Maybe[str | None] = strawberry.field(description="The last name.")
    email: strawberry.Maybe[str | None] = strawberry.field(description="The e-mail address.")
    tags: strawberry.Maybe[list[str] | None] = strawberry.field(description="Labels; each once, 64 characters at most.")
    pipeline_stage: strawberry.Maybe[PipelineStage | None] = strawberry.field(
        description="The stage; new_lead if none."
    )
    source: strawberry.Maybe[str | None] = strawberry.field(description="Where the contact came from.")
    dnd_sms: strawberry.Maybe[bool | None] = strawberry.field(description="True to set do-not-disturb.")


@strawberry.input(description="The fields to change; what is left out stays as it is, and null empties it.")
class ContactChanges:
    """What of a contact is to change."""

    phone: strawberry.Maybe[str] = strawberry.field(description=PHONE)
    first_name: strawberry.Maybe[str | None] = strawberry.field(description="The first name.")
    last_name: strawberry.Maybe[str | None] = strawberry.field(description="The last name.")
    email: strawberry.Maybe[str | None] = strawberry.field(description="The e-mail address.")
    tags: strawberry.Maybe[list[str] | None] = strawberry.field(
        description="All labels; they replace those there were."
    )
    pipeline_stage: strawberry.Maybe[PipelineStage | None] = strawberry.field(description="The stage.")
    source: strawberry.Maybe[str | None] = strawberry.field(description="Where the contact came from.")
    dnd_sms: strawberry.Maybe[bool | None] = strawberry.field(description="True to set do-not-disturb.")


@strawberry.type(description="What a deletion removed.")
class DeletedContact:
    """What a deletion removed."""

    deleted_id: BigInt = strawberry.field(description="The id of the contact that is gone.")
    deleted_messages: BigInt = strawberry.field(description="How many of its messages are gone too.")


@strawberry.type
class ContactQuery:
    """Reading contacts."""

    @strawberry.field(
        graphql_type=Connection[Contact],
        description="The account's contacts.",
        directives=guarded("contacts:read"),
    )
    async def contacts(
        self,
        info: Info,
        search: Annotated[str | None, strawberry.argument(description="Part of a name, phone or e-mail.")] = None,
        stage: Annotated[PipelineStage | None, strawberry.argument(description="Only this stage.")] = None,
        status: Annotated[ContactStatus | None, strawberry.argument(description="Only this status.")] = None,
        tag: Annotated[str | None, strawberry.argument(description="Only with this tag.")] = None,
        sort: Annotated[ContactSort, strawberry.argument(description="The order.")] = ContactSort.date_added,
        first: First = 50,
        after: After = None,
        offset: Offset = 0,
    ) -> Page[models.Contact]:
        """Return one page of contacts."""
        wanted = ContactFilter(search=search, stage=stage, status=status, tag=tag)
        return await queries.find_page(info.context.unit, wanted, sort, Window(first, after, offset))

    @strawberry.field(
        graphql_type=Contact,
        description="One contact, by its id or its phone.",
        directives=guarded("contacts:read", "not_found", "invalid_phone"),
    )
    async def contact(
        self,
        info: Info,
        id: Annotated[BigInt | None, strawberry.argument(description="The contact's id.")] = None,
        phone: Annotated[str | None, strawberry.argument(description=PHONE)] = None,
    ) -> models.Contact:
        """Return one contact."""
        if (id is None) == (phone is None):
            raise InvalidInput(reason="Give either id or phone.")
        if id is not None:
            return await queries.get(info.context.unit, id)
        return await service.get_by_phone(info.context.unit, phone or "")


@strawberry.type
class ContactMutation:
    """Changing contacts."""

    @strawberry.mutation(
        graphql_type=Contact,
        description="Add a contact. A phone that has opted out stays opted out, whoever adds it again.",
        directives=guarded("contacts:write", "conflict", "invalid_phone", "idempotency_key_reused"),
    )
    async def create_contact(
        self,
        info: Info,
        contact: Annotated[NewContact, strawberry.argument(description="The contact.")],
        idempotency_key: Annotated[
            str | None, strawberry.argument(description="Repeat a request with the same key to have it done once.")
        ] = None,
    ) -> models.Contact:
        """Add a contact."""
        unit, fields = (
            info.context.unit,
            given({**vars(contact), "phone": strawberry.Some(contact.phone)}, ContactFields),
        )

        async def act() -> dict[str, Any]:
            return {"id": (await service.create(unit, fields)).id}

        done = await idempotency.once(unit, idempotency_key, idempotency.fingerprint("create_contact", **fields), act)
        info.context.replayed = done.replayed
        return await queries.get(unit, done.answer["id"])

    @strawberry.mutation(
        graphql_type=Contact,
        description="Change some fields of a contact.",
        directives=guarded("contacts:write", "not_found", "conflict", "invalid_phone"),
    )
    async def update_contact(
        self,
        info: Info,
        id: ContactId,
        changes: Annotated[ContactChanges, strawberry.argument(description="What to change.")],
    ) -> models.Contact:
        """Change a contact."""
        return await service.update(info.context.unit, id, given(vars(changes), ContactFields))

    @strawberry.mutation(
        graphql_type=DeletedContact,
        description=(
            "Remove a contact for good, with all its messages and conversations. Texts that have not left are "
            "refunded. An opt-out of the phone stays."
        ),
        directives=guarded("contacts:delete", "not_found"),
    )
    async def delete_contact(self, info: Info, id: ContactId) -> erasure.Erased:
        """Erase a contact."""
        return await erasure.erase(info.context.unit, id)

    @strawberry.mutation(
        graphql_type=Contact,
        description="Give a contact a tag.",
        directives=guarded("contacts:write", "not_found"),
    )
    async def add_tag(
        self, info: Info, id: ContactId, tag: Annotated[str, strawberry.argument(description="The tag.")]
    ) -> models.Contact:
        """Add a tag."""
        return await service.add_tag(info.context.unit, id, tag)

    @strawberry.mutation(
        graphql_type=Contact,
        description="Take a tag from a contact.",
        directives=guarded("contacts:write", "not_found"),
    )
    async def remove_tag(
        self, info: Info, id: ContactId, tag: Annotated[str, strawberry.argument(description="The tag.")]
    ) -> models.Contact:
        """Remove a tag."""
        return await service.remove_tag(info.context.unit, id, tag)

    @strawberry.mutation(
        graphql_type=Contact,
        description="Record an opt-out that came by mail, on the phone or in person. It holds at once.",
        directives=guarded("contacts:write", "not_found"),
    )
    async def record_opt_out(
        self,
        info: Info,
        id: ContactId,
        method: Annotated[str, strawberry.argument(description="How it came, such as email or verbal.")],
        text: Annotated[str, strawberry.argument(description="What was said.")] = "",
    ) -> models.Contact:
        """Record an opt-out."""
        return await consent.record_opt_out(info.context.unit, id, method, text)

    @strawberry.mutation(
        graphql_type=Contact,
        description="Record a new written consent of a person who had opted out, with its evidence.",
        directives=guarded("contacts:write", "not_found"),
    )
    async def record_opt_in(
        self,
        info: Info,
        id: ContactId,
        method: Annotated[str, strawberry.argument(description="How it was given, such as web_form.")],
        text: Annotated[str, strawberry.argument(description="The words that the person agreed to.")],
    ) -> models.Contact:
        """Record a consent."""
        return await consent.record_opt_in(info.context.unit, id, method, text)


def _row(root: object) -> models.Contact:
    """Resolvers give rows where the contract says contact."""
    assert isinstance(root, models.Contact)
    return root
