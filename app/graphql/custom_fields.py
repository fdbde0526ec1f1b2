"""Custom fields of contacts, as the contract shows them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any

import strawberry

from app.domain.bulk import field_deletions
from app.domain.contacts import custom_fields, models
from app.domain.contacts.custom_fields import MAX_CHOICE, MAX_CHOICES, MAX_FIELDS, MAX_LABEL, MAX_TEXT, NewField
from app.domain.contacts.models import CustomFieldType
from app.domain.kernel.errors import InvalidInput
from app.graphql.core.context import Info
from app.graphql.core.directives import Constraint, guarded
from app.graphql.core.enums import describe
from app.graphql.core.lazy import lazily
from app.graphql.core.scalars import BigInt

describe(
    CustomFieldType,
    "The type of the values of a custom field.",
    {
        "text": f"A text of at most {MAX_TEXT} characters.",
        "number": "A number with at most 15 digits and 6 decimals.",
        "date": "A date, written as 2026-11-21.",
        "boolean": "true or false; yes, no, 1 and 0 are read as such.",
        "choice": "One of the choices of the field.",
    },
)

Label = Annotated[
    str | None,
    strawberry.argument(description="The name that people see.", directives=[Constraint(max_length=MAX_LABEL)]),
]
Choices = Annotated[
    list[str] | None,
    strawberry.argument(
        description="The allowed values of a field of the type choice.",
        directives=[Constraint(max_length=MAX_CHOICE, max_items=MAX_CHOICES)],
    ),
]


@strawberry.type(description="A field that the account declared for its contacts.")
class CustomField:
    """A custom field."""

    id: BigInt = strawberry.field(description="The field's id.")
    key: str = strawberry.field(description="The name of the field in programs; placeholders write it as custom.key.")
    label: str = strawberry.field(description="The name that people see.")
    type: CustomFieldType = strawberry.field(description="The type of its values.")
    choices: list[str] = strawberry.field(description="The allowed values; empty unless the type is choice.")
    created_at: datetime = strawberry.field(description="The time at which it was declared.")


@strawberry.type(description="The value of a custom field of a contact.")
class CustomFieldValue:
    """A value of a contact."""

    key: str = strawberry.field(description="The key of the field.")
    label: str = strawberry.field(description="The name that people see.")
    type: CustomFieldType = strawberry.field(description="The type of the value.")
    value: str = strawberry.field(description="The value as a text.")


@strawberry.input(description="A value of a custom field.")
class CustomValue:
    """A value to set, or to look for."""

    key: str = strawberry.field(description="The key of the field.")
    value: str | None = strawberry.field(
        default=None,
        description="The value as a text of the field's type; null or an empty text removes it.",
        directives=[Constraint(max_length=MAX_TEXT)],
    )


def texts_of(values: Sequence[CustomValue]) -> dict[str, str | None]:
    """Return the texts of values by key; raise `InvalidInput` for two values of one field."""
    texts: dict[str, str | None] = {}
    for each in values:
        if each.key in texts:
            name = f"custom.{each.key[:40]}"
            raise InvalidInput(reason=f"{name} is given twice. Give each field once.", field=name)
        texts[each.key] = each.value
    return texts


async def values_of(info: Info, account_id: int, values: Mapping[str, Any]) -> list[CustomFieldValue]:
    """Return the values of a contact, for fields that are declared."""
    if not values:
        return []
    known = await info.context.load_rows(custom_fields.find_of_accounts, "account_id", account_id)
    return [
        CustomFieldValue(
            key=each.key,
            label=each.label,
            type=CustomFieldType(each.type),
            value=custom_fields.show(values[each.key]),
        )
        for each in known
        if each.key in values
    ]


@strawberry.type
class CustomFieldQuery:
    """Reading custom fields."""

    @strawberry.field(
        graphql_type=list[CustomField],
        description=f"The custom fields of the account's contacts, by key; at most {MAX_FIELDS}.",
        directives=guarded("contacts:read"),
    )
    async def custom_fields(self, info: Info) -> Sequence[models.CustomField]:
        """Return the fields."""
        return await custom_fields.list_all(info.context.unit)


@strawberry.type
class CustomFieldMutation:
    """Declaring custom fields."""

    @strawberry.mutation(
        graphql_type=CustomField,
        description=f"Declare a custom field, and return it; an account has at most {MAX_FIELDS}.",
        directives=guarded("contacts:write", "conflict"),
    )
    async def create_custom_field(
        self,
        info: Info,
        key: Annotated[
            str,
            strawberry.argument(
                description="Its name in programs: a letter from a to z, then a to z, 0 to 9 and _; it never changes.",
                directives=[Constraint(pattern=custom_fields.KEY_PATTERN)],
            ),
        ],
        type: Annotated[
            CustomFieldType, strawberry.argument(description="The type of its values; it never changes.")
        ] = CustomFieldType.text,
        label: Label = None,
        choices: Choices = None,
    ) -> models.CustomField:
        """Declare a field."""
        return await custom_fields.create(info.context.unit, NewField(key, label or "", type, choices or []))

    @strawberry.mutation(
        graphql_type=CustomField,
        description=(
            "Change the label or the choices of a custom field, and return it. Contacts keep values that are no choice "
            "now."
        ),
        directives=guarded("contacts:write", "not_found"),
    )
    async def update_custom_field(
        self,
        info: Info,
        id: Annotated[BigInt, strawberry.argument(description="The field's id.")],
        label: Label = None,
        choices: Choices = None,
    ) -> models.CustomField:
        """Change a field."""
        return await custom_fields.update(info.context.unit, id, label, choices)

    @strawberry.mutation(
        graphql_type=lazily("Job", "app.graphql.jobs"),
        description=(
            "Delete a custom field with its values, and return the job that removes them; nothing shows the field any "
            "more. Refused while segments, templates, drip sequences, campaigns, automations, keywords, integrations "
            "or imports use it; the error names them."
        ),
        directives=guarded("contacts:delete", "not_found", "conflict"),
    )
    async def delete_custom_field(
        self, info: Info, id: Annotated[BigInt, strawberry.argument(description="The field's id.")]
    ) -> Any:
        """Delete a field."""
        return await field_deletions.delete(info.context.unit, id)
