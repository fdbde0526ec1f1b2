"""Changes of many contacts, as the contract shows them."""

from typing import Annotated

import strawberry

from app.domain.accounts.scopes import Scope, require
from app.domain.bulk import changes, deletions, enrollments
from app.domain.bulk.selection import MAX_IDS, FrozenSegment, Selection, freeze
from app.domain.contacts import queries, service
from app.domain.contacts.models import ContactStatus, PipelineStage
from app.domain.jobs import models
from app.domain.kernel.errors import InvalidInput
from app.domain.messages.errors import ConsentNotAttested
from app.graphql.contacts import SEARCH, SEARCHED
from app.graphql.core.context import Info
from app.graphql.core.directives import Constraint, guarded
from app.graphql.core.scalars import BigInt
from app.graphql.custom_fields import CustomValue, texts_of
from app.graphql.jobs import Job

FOR_IDS = (
    "Contacts named by their ids are changed at once, and the answer is a job that has ended; those of a filter or "
    "of a segment are changed in the background."
)


@strawberry.input(description="The contacts that satisfy all that is given; without anything, every contact.")
class ContactFilter:
    """A filter of contacts."""

    search: str | None = strawberry.field(default=None, description=SEARCH, directives=[SEARCHED])
    stage: PipelineStage | None = strawberry.field(default=None, description="Only this stage.")
    status: ContactStatus | None = strawberry.field(default=None, description="Only this status.")
    tag: str | None = strawberry.field(default=None, description="Only with this tag.")
    assignee_id: BigInt | None = strawberry.field(default=None, description="Only of this user.")
    custom: list[CustomValue] | None = strawberry.field(
        default=None, description="Only with all these values of custom fields; none may be empty."
    )


@strawberry.input(description="Contacts: by their ids, by a filter or by a segment.")
class ContactSelection:
    """A selection of contacts."""

    ids: list[BigInt] | None = strawberry.field(
        default=None,
        description=f"Ids of contacts, 1 to {MAX_IDS}.",
        directives=[Constraint(min_items=1, max_items=MAX_IDS)],
    )
    filter: ContactFilter | None = strawberry.field(default=None, description="All contacts that a filter finds.")
    segment_id: BigInt | None = strawberry.field(
        default=None, description="All contacts that a segment has at this moment; needs the scope campaigns:read."
    )


Contacts = Annotated[ContactSelection, strawberry.argument(description="The contacts.")]
Tags = Annotated[
    list[str] | None,
    strawberry.argument(
        description="Tags.", directives=[Constraint(max_length=service.MAX_TAG, max_items=service.MAX_TAGS)]
    ),
]


async def filter_of(info: Info, given: ContactFilter) -> queries.ContactFilter:
    """Return the filter of the domain; raise `InvalidInput`, before a job that would fail for it.

    A blank text is refused, because it would filter nothing, and the job would change more contacts than were meant.
    """
    for name, text in (("search", given.search), ("tag", given.tag)):
        if text is not None and not text.strip():
            raise InvalidInput(reason=f"{name} is blank. Leave it out to filter by other facts alone.", field=name)
    custom = texts_of(given.custom or [])
    wanted = queries.ContactFilter(given.search, given.stage, given.status, given.tag, given.assignee_id, custom)
    await queries.check(info.context.unit, wanted)
    return wanted


async def frozen(info: Info, segment_id: int) -> FrozenSegment:
    """Return a segment as it is now, for a caller who may read segments."""
    require(info.context.unit.actor, [Scope.campaigns_read])
    return await freeze(info.context.unit, segment_id)


async def _selection(info: Info, given: ContactSelection) -> Selection:
    return Selection(
        None if given.ids is None else list(given.ids),
        None if given.filter is None else await filter_of(info, given.filter),
        None if given.segment_id is None else await frozen(info, given.segment_id),
    )


@strawberry.type
class BulkMutation:
    """Changing many contacts."""

    @strawberry.mutation(
        graphql_type=Job,
        description=f"Add tags to contacts, remove tags from them, and return the job. {FOR_IDS}",
        directives=guarded("contacts:write", "conflict", "insufficient_scope", "not_found"),
    )
    async def bulk_tag(
        self, info: Info, contacts: Contacts, add: Tags = None, remove: Tags = None
    ) -> models.AccountJob:
        """Tag contacts."""
        return await changes.tag(info.context.unit, await _selection(info, contacts), add or [], remove or [])

    @strawberry.mutation(
        graphql_type=Job,
        description=f"Move contacts to a stage of the pipeline, and return the job. {FOR_IDS}",
        directives=guarded("contacts:write", "conflict", "insufficient_scope", "not_found"),
    )
    async def bulk_stage(
        self,
        info: Info,
        contacts: Contacts,
        stage: Annotated[PipelineStage, strawberry.argument(description="The stage.")],
    ) -> models.AccountJob:
        """Move contacts."""
        return await changes.move(info.context.unit, await _selection(info, contacts), stage)

    @strawberry.mutation(
        graphql_type=Job,
        description=f"Assign contacts to a user, or to none, and return the job. {FOR_IDS}",
        directives=guarded("contacts:write", "conflict", "insufficient_scope", "not_found"),
    )
    async def bulk_assign(
        self,
        info: Info,
        contacts: Contacts,
        assignee_id: Annotated[BigInt | None, strawberry.argument(description="The user; null for none.")] = None,
    ) -> models.AccountJob:
        """Assign contacts."""
        return await changes.assign(info.context.unit, await _selection(info, contacts), assignee_id)

    @strawberry.mutation(
        graphql_type=Job,
        description=(
            "Enroll contacts in a drip sequence in the background, and return the job. Each is enrolled as by enroll: "
            "active enrollments do not change, and contacts that opted out or are set to do-not-disturb are problems "
            "of the job. The caller certifies that each person gave prior express written consent to be texted, which "
            "is recorded. Needs contacts:read too."
        ),
        directives=guarded(
            "campaigns:send", "api_consent_attested_required", "conflict", "insufficient_scope", "not_found"
        ),
    )
    async def bulk_enroll(
        self,
        info: Info,
        contacts: Contacts,
        sequence_id: Annotated[BigInt, strawberry.argument(description="The id of the drip sequence.")],
        consent_attested: Annotated[
            bool, strawberry.argument(description="True certifies the consent of every contact; false refuses.")
        ],
    ) -> models.AccountJob:
        """Enroll contacts."""
        require(info.context.unit.actor, [Scope.contacts_read])
        if not consent_attested:
            raise ConsentNotAttested()
        return await enrollments.enroll(info.context.unit, await _selection(info, contacts), sequence_id)

    @strawberry.mutation(
        graphql_type=Job,
        description=(
            "Remove contacts for good in the background, and return the job. Each is removed as by delete_contact, "
            "with its messages and conversations. Opt-outs stay."
        ),
        directives=guarded("contacts:delete", "conflict", "insufficient_scope", "not_found"),
    )
    async def bulk_delete(self, info: Info, contacts: Contacts) -> models.AccountJob:
        """Delete contacts."""
        return await deletions.delete(info.context.unit, await _selection(info, contacts))
