"""Placeholders that contacts supply: `sql.PLACEHOLDERS` reads their values, and `values` names them."""

from collections.abc import Mapping, Sequence

from app.domain.contacts import custom_fields
from app.domain.contacts.models import Contact, CustomFieldType
from app.domain.kernel.placeholders import PlaceholderName, ValueKind
from app.domain.kernel.unit_of_work import UnitOfWork

PLACEHOLDERS = (
    PlaceholderName("first_name", "The first name of the contact.", "Ann"),
    PlaceholderName("last_name", "The last name of the contact.", "Lee"),
    PlaceholderName("email", "The e-mail address of the contact.", "ann@example.com"),
    PlaceholderName("phone", "The phone of the contact in E.164 form.", "+12025550143"),
    PlaceholderName("created_at", "The day on which the contact was added, in UTC.", "2026-11-03", ValueKind.time),
)

EXAMPLES = {
    CustomFieldType.text: "Blue",
    CustomFieldType.number: "12",
    CustomFieldType.date: "2026-11-21",
    CustomFieldType.boolean: "true",
}


async def find_custom(unit: UnitOfWork) -> Sequence[PlaceholderName]:
    """Return the placeholders of the account's custom fields, such as `custom.color`."""
    return [
        PlaceholderName(
            f"custom.{field.key}",
            f"The custom field {field.label} of the contact.",
            field.choices[0] if field.choices else EXAMPLES[CustomFieldType(field.type)],
            ValueKind.time if field.type == CustomFieldType.date else ValueKind.text,
        )
        for field in await custom_fields.list_all(unit)
    ]


def values(row: Mapping[str, object], custom: Mapping[str, custom_fields.Value]) -> dict[str, object]:
    """Return the values of a contact's placeholders from the columns of `sql.PLACEHOLDERS`."""
    if not custom:
        return dict(row)
    return {**row, **{f"custom.{key}": custom_fields.show(value) for key, value in custom.items()}}


def of_contact(contact: Contact) -> dict[str, object]:
    """Return the values of a contact's placeholders."""
    names = (each.name for each in PLACEHOLDERS)
    return values({name: getattr(contact, name) for name in names}, contact.custom_fields)
