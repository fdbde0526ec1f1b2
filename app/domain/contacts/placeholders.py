"""Placeholders that contacts supply: `sql.PLACEHOLDERS` reads their values."""

from app.domain.kernel.placeholders import PlaceholderName, ValueKind

PLACEHOLDERS = (
    PlaceholderName("first_name", "The first name of the contact.", "Ann"),
    PlaceholderName("last_name", "The last name of the contact.", "Lee"),
    PlaceholderName("email", "The e-mail address of the contact.", "ann@example.com"),
    PlaceholderName("phone", "The phone of the contact in E.164 form.", "+12025550143"),
    PlaceholderName("created_at", "The day on which the contact was added, in UTC.", "2026-11-03", ValueKind.time),
)
