"""The field of segments about the drip sequences that a contact is enrolled in."""

from app.domain.segments.fields import Field, Kind


def _is_enrolled(condition: str) -> str:
    return (
        "EXISTS (SELECT FROM sequence_enrollments e WHERE e.account_id = c.account_id AND e.contact_id = c.id"
        f" AND e.status IN ('active', 'finishing') AND {condition})"
    )


ENROLLED_IN = Field(
    "enrolled_in",
    Kind.ids,
    "e.sequence_id",
    "The drip sequences that the contact is under way in, by their ids.",
    around=_is_enrolled,
)
