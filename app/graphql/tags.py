"""Tags of contacts, as the contract shows them."""

from typing import Annotated

import strawberry

from app.domain.bulk import tag_renames
from app.domain.contacts import models, queries, service
from app.domain.jobs.models import AccountJob
from app.domain.kernel import idempotency
from app.domain.kernel.paging import Total
from app.domain.kernel.unit_of_work import UnitOfWork
from app.graphql.contacts import Contact, OptionalId, Phone, once_for_contact
from app.graphql.core.context import Info
from app.graphql.core.directives import Constraint, guarded
from app.graphql.core.idempotency import IdempotencyKey
from app.graphql.core.scalars import BigInt
from app.graphql.jobs import Job

Tag = Annotated[str, strawberry.argument(description="The tag.", directives=[Constraint(max_length=service.MAX_TAG)])]
MAX_TAGS = 1000


@strawberry.type(description="A label that contacts have.")
class ContactTag:
    """A tag."""

    name: str = strawberry.field(description="The tag itself.")

    @strawberry.field(
        description=f"Number of contacts that have it, up to {queries.MAX_TAGGED:,}: see contact_count_is_exact."
    )
    async def contact_count(self, info: Info) -> BigInt:
        """Return the number of contacts."""
        return BigInt((await _count(info, self.name)).count)

    @strawberry.field(description="False when more contacts have it than contact_count says.")
    async def contact_count_is_exact(self, info: Info) -> bool:
        """Return whether all contacts were counted."""
        return (await _count(info, self.name)).is_exact


async def _count(info: Info, tag: str) -> Total:
    return await info.context.load(queries.count_tags, tag) or Total(0)


@strawberry.type
class TagQuery:
    """Reading tags."""

    @strawberry.field(
        description=f"The tags that contacts have, by their names; at most {MAX_TAGS:,}.",
        directives=guarded("contacts:read"),
    )
    async def tags(self, info: Info) -> list[ContactTag]:
        """Return the tags."""
        return [ContactTag(name=tag) for tag in await queries.list_tags(info.context.unit, MAX_TAGS)]


@strawberry.type
class TagMutation:
    """Changing tags."""

    @strawberry.mutation(
        graphql_type=Contact,
        description="Add a tag to a contact, named by its id or its phone, and return the contact.",
        directives=guarded("contacts:write", "not_found", "invalid_phone", "idempotency_key_reused"),
    )
    async def add_tag(
        self, info: Info, tag: Tag, id: OptionalId = None, phone: Phone = None, idempotency_key: IdempotencyKey = None
    ) -> models.Contact:
        """Add a tag."""

        async def act(unit: UnitOfWork) -> models.Contact:
            return await service.add_tag(unit, (await service.get(unit, id, phone)).id, tag)

        digest = idempotency.fingerprint("add_tag", id=id, phone=phone, tag=tag)
        return await once_for_contact(info, idempotency_key, digest, act)

    @strawberry.mutation(
        graphql_type=Job | None,
        description="Rename a tag of all contacts in the background, and return the job; a name that is a tag already "
        "merges the two. contact_tag_removed and contact_tag_added tell of each contact. Segments, automations and "
        "other settings that name the tag keep the old name. Null beside not_found.",
        directives=guarded("contacts:write", "conflict", "not_found"),
    )
    async def rename_tag(
        self,
        info: Info,
        tag: Tag,
        name: Annotated[
            str,
            strawberry.argument(
                description="The new name.", directives=[Constraint(min_length=1, max_length=service.MAX_TAG)]
            ),
        ],
    ) -> AccountJob:
        """Rename a tag."""
        return await tag_renames.rename(info.context.unit, tag, name)

    @strawberry.mutation(
        graphql_type=Contact,
        description="Remove a tag from a contact, named by its id or its phone, and return the contact.",
        directives=guarded("contacts:write", "not_found", "invalid_phone", "idempotency_key_reused"),
    )
    async def remove_tag(
        self, info: Info, tag: Tag, id: OptionalId = None, phone: Phone = None, idempotency_key: IdempotencyKey = None
    ) -> models.Contact:
        """Remove a tag."""

        async def act(unit: UnitOfWork) -> models.Contact:
            return await service.remove_tag(unit, (await service.get(unit, id, phone)).id, tag)

        digest = idempotency.fingerprint("remove_tag", id=id, phone=phone, tag=tag)
        return await once_for_contact(info, idempotency_key, digest, act)
