"""Tags of contacts, as the contract shows them."""

from typing import Annotated

import strawberry

from app.domain.contacts import models, queries, service
from app.domain.kernel import idempotency
from app.domain.kernel.unit_of_work import UnitOfWork
from app.graphql.contacts import Contact, OptionalId, Phone, once_for_contact
from app.graphql.core.context import Info
from app.graphql.core.directives import Constraint, guarded
from app.graphql.core.idempotency import IdempotencyKey

Tag = Annotated[str, strawberry.argument(description="The tag.", directives=[Constraint(max_length=service.MAX_TAG)])]
MAX_TAGS = 1000


@strawberry.type(description="A label that contacts have.")
class ContactTag:
    """A tag."""

    name: str = strawberry.field(description="The tag itself.")


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
    """Changing the tags of a contact."""

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
