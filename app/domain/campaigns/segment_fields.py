"""The field of segments about the campaigns that a contact has replied to."""

from app.domain.segments.fields import Field, Kind


def _has_replied(condition: str) -> str:
    return (
        "EXISTS (SELECT FROM campaign_recipients r WHERE r.account_id = c.account_id AND r.contact_id = c.id"
        f" AND r.replied_at IS NOT NULL AND {condition})"
    )


REPLIED_TO = Field(
    "replied_to",
    Kind.ids,
    "r.campaign_id",
    "The campaigns that the contact replied to within 72 hours, by their ids.",
    around=_has_replied,
)
