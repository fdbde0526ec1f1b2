"""Likely duplicates among contacts, and merges, as the contract shows them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, NamedTuple

import strawberry

from app.domain.accounts.scopes import Scope, require
from app.domain.contacts import duplicates, models
from app.domain.contacts.duplicates import MAX_GROUPS, MAX_IN_GROUP, DuplicateKind
from app.domain.contacts.models import ContactStatus
from app.domain.erasure import merging
from app.domain.erasure.merging import Merge
from app.graphql.contacts import Contact
from app.graphql.core.context import Info
from app.graphql.core.directives import Constraint, guarded
from app.graphql.core.enums import describe
from app.graphql.core.paging import After, open_cursor, seal_cursor
from app.graphql.core.scalars import BigInt

describe(
    DuplicateKind,
    "The value that likely duplicates have in common.",
    {
        "email": "The e-mail address, in any case.",
        "phone": "The last 10 digits of the phone: one number with different country codes.",
        "custom_field": "The value of a custom field, such as the id of the person in another program.",
    },
)

Into = Annotated[BigInt, strawberry.argument(description="The id of the contact that remains, with its phone.")]
From = Annotated[BigInt, strawberry.argument(description="The id of the contact that is merged into it and deleted.")]
Take = Annotated[
    list[str] | None,
    strawberry.argument(
        description=(
            "The fields that take the value of the deleted contact, such as first_name or custom.size. Other fields "
            "take it only where the contact that remains has none."
        )
    ),
]


@strawberry.type(description="One of several contacts that are likely to be one person.")
class DuplicateContact:
    """A likely duplicate."""

    id: BigInt = strawberry.field(description="The contact's id.")
    phone: str = strawberry.field(description="The phone in E.164 form.")
    first_name: str = strawberry.field(description="The first name; empty when not known.")
    last_name: str = strawberry.field(description="The last name; empty when not known.")
    status: ContactStatus = strawberry.field(description="Whether the contact has opted out of texts.")
    created_at: datetime = strawberry.field(description="The time at which the contact was added.")


@strawberry.type(description="Contacts that are likely to be one person.")
class DuplicateContacts:
    """A group of likely duplicates."""

    value: str = strawberry.field(description="The value that they have in common.")
    cursor: str = strawberry.field(description="Pass that of the last group as after to get the next groups.")
    contacts: list[DuplicateContact] = strawberry.field(
        description=f"The contacts, the oldest first; at most {MAX_IN_GROUP}."
    )


class Group(NamedTuple):
    """A group of likely duplicates, with its contacts as rows."""

    value: str
    cursor: str
    contacts: Sequence[models.Contact]


@strawberry.type(description="A field of a contact after a merge.")
class MergedField:
    """A field after a merge."""

    name: str = strawberry.field(description="The name of the field.")
    value: str | None = strawberry.field(description="Its value; null for none. Tags are separated by commas.")
    discarded: str | None = strawberry.field(description="The other contact's value, which is lost; null for none.")


@strawberry.type(description="The result of a merge, before it is made.")
class MergePreview:
    """A preview of a merge."""

    preview_id: str = strawberry.field(description="The confirmation that merge_contacts needs.")
    into: Contact = strawberry.field(description="The contact that remains, as it is now.")
    merged: Contact = strawberry.field(description="The contact that is deleted, as it is now.")
    fields: list[MergedField] = strawberry.field(description="The fields of the contact that remains, after the merge.")
    messages: BigInt = strawberry.field(description="The number of messages that move to the contact that remains.")
    problems: list[str] = strawberry.field(description="The reasons for which it cannot be made now; empty for none.")
    consequences: list[str] = strawberry.field(description="Further changes, as sentences.")


@strawberry.type
class DuplicateQuery:
    """Finding duplicates."""

    @strawberry.field(
        graphql_type=list[DuplicateContacts],
        description=f"Contacts that are likely to be one person, in at most {MAX_GROUPS} groups with the same value.",
        directives=guarded("contacts:read"),
    )
    async def duplicate_contacts(
        self,
        info: Info,
        kind: Annotated[DuplicateKind, strawberry.argument(description="The value in common.")] = DuplicateKind.email,
        key: Annotated[
            str | None, strawberry.argument(description="The key of the custom field, for the kind custom_field.")
        ] = None,
        first: Annotated[
            int,
            strawberry.argument(
                description=f"The number of groups, 1 to {MAX_GROUPS}.",
                directives=[Constraint(minimum=1, maximum=MAX_GROUPS)],
            ),
        ] = 20,
        after: After = None,
    ) -> list[Group]:
        """Return groups of duplicates."""
        name = f"duplicate_contacts {kind} {key or ''}"
        place = open_cursor(info, "after", name, after)
        found = await duplicates.find(info.context.unit, kind, key, first, place)
        return [Group(each.value, seal_cursor(info, name, each.value), each.contacts) for each in found]

    @strawberry.field(
        graphql_type=MergePreview | None,
        description=(
            "The result of merging one contact into another, which it does not change; null beside the error not_found."
        ),
        directives=guarded("contacts:read", "not_found"),
    )
    async def preview_merge(self, info: Info, into_id: Into, from_id: From, take: Take = None) -> MergePreview:
        """Show a merge."""
        shown = await merging.preview(info.context.unit, Merge(into_id, from_id, take or ()))
        return MergePreview(
            preview_id=shown.preview_id,
            into=shown.into,  # pyrefly: ignore[bad-argument-type] - resolved from the row
            merged=shown.other,  # pyrefly: ignore[bad-argument-type] - resolved from the row
            fields=[
                MergedField(name=each.name, value=_text(each.value), discarded=_text(each.discarded))
                for each in shown.fields
            ],
            messages=BigInt(shown.messages),
            problems=shown.problems,
            consequences=shown.consequences,
        )


@strawberry.type
class DuplicateMutation:
    """Merging duplicates."""

    @strawberry.mutation(
        graphql_type=Contact,
        description=(
            "Merge one contact into another, as a preview showed, and return the one that remains. It cannot be "
            "undone. Messages, the conversation and bookings move; drip enrollments of the deleted contact end. An "
            "opt-out of either phone holds for the contact that remains, and the records of both phones are kept."
        ),
        directives=guarded("contacts:delete", "not_found", "conflict", "insufficient_scope"),
    )
    async def merge_contacts(
        self,
        info: Info,
        into_id: Into,
        from_id: From,
        preview_id: Annotated[str, strawberry.argument(description="That of preview_merge with the same arguments.")],
        take: Take = None,
    ) -> models.Contact:
        """Merge two contacts, for a caller who may read the one that remains."""
        require(info.context.unit.actor, {Scope.contacts_read})
        return await merging.merge(info.context.unit, Merge(into_id, from_id, take or ()), preview_id)


def _text(value: object) -> str | None:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return None if value in (None, "") else str(value).lower() if isinstance(value, bool) else str(value)
