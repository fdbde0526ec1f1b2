"""Quiet hours and frequency caps, as the contract shows them."""

import enum
from collections.abc import Sequence
from typing import Annotated

import strawberry

from app.domain.quiet_hours import queries, service
from app.domain.quiet_hours.rules import Rule, Weekday, clock
from app.domain.quiet_hours.service import NewRule
from app.domain.quiet_hours.zones import ZoneReason
from app.graphql.core.context import Info
from app.graphql.core.directives import Constraint, guarded
from app.graphql.core.enums import describe


class RuleOrigin(enum.StrEnum):
    """The origin of a rule: the shipped table of laws, or the account."""

    law = enum.auto()
    account = enum.auto()


describe(
    RuleOrigin,
    "The origin of a rule of quiet hours.",
    {"law": "The table of laws that the service ships.", "account": "The account, which added it."},
)
describe(
    Weekday,
    "A day of the week.",
    {str(day): f"{day.capitalize()}." for day in Weekday},
)
describe(
    ZoneReason,
    "The reason for the time zones of a phone.",
    {
        "contact": "The contact has a time zone of its own.",
        "area_code": "The area code belongs to a state or province, with all its zones unless the code has one.",
        "country": "The country of the phone, with all its zones.",
        "unknown": "The number belongs to no place: the account's zone, and all zones of its country.",
    },
)


@strawberry.type(
    description=(
        "A window in which promotional texts may leave, by the local time of the recipient, and the most of them to a "
        "phone in 24 hours. Rules of law are engineering inputs, not legal advice."
    )
)
class QuietHoursRule:
    """A rule of quiet hours."""

    id: strawberry.ID = strawberry.field(
        description="The rule's id, such as US-TX.sunday, or own.7 for a rule of the account. Deferrals name it."
    )
    origin: RuleOrigin = strawberry.field(description="The origin of the rule.")
    jurisdiction: str = strawberry.field(
        description="A country (ISO 3166), a state or province such as US-FL, or * for all of them."
    )
    weekdays: list[Weekday] = strawberry.field(description="The days on which the window holds.")
    start: str = strawberry.field(description="The local time at which the window opens, such as 08:00.")
    end: str = strawberry.field(
        description="The local time at which it closes, such as 21:00; equal to start where the day is closed."
    )
    cap: int | None = strawberry.field(
        description="The maximum number of limited texts to a phone in 24 hours; null for no cap."
    )
    source: str = strawberry.field(description="The source of a rule of law; the reason of a rule of the account.")
    as_of: str = strawberry.field(
        description="The date (ISO 8601) on which the source was compared, or on which the account added the rule."
    )
    is_verified: bool = strawberry.field(
        description="False for a rule of law whose sources disagree, or that one source only names."
    )
    overrides_law: bool = strawberry.field(
        description="True for a rule of the account that stands in the place of the law's."
    )
    is_overridden: bool = strawberry.field(
        description="True for a rule of law that rules of the account replace on all of its days."
    )

    @classmethod
    def of(cls, rule: Rule, *, is_overridden: bool = False) -> "QuietHoursRule":
        """Return a rule as the contract shows it."""
        return cls(
            id=strawberry.ID(rule.id),
            origin=RuleOrigin.law if rule.own_id is None else RuleOrigin.account,
            jurisdiction=rule.jurisdiction,
            weekdays=list(rule.days),
            start=clock(rule.span.start),
            end=clock(rule.span.end),
            cap=rule.cap,
            source=rule.source,
            as_of=rule.as_of.isoformat(),
            is_verified=rule.is_verified,
            overrides_law=rule.overrides_law,
            is_overridden=is_overridden,
        )


@strawberry.input(description="A rule to add to those of law.")
class NewQuietHoursRule:
    """The fields of a rule to add."""

    jurisdiction: str = strawberry.field(
        description="A country (ISO 3166), a state or province such as US-FL, or * for all of them."
    )
    start: str = strawberry.field(description="The local time at which the window opens, such as 10:00.")
    end: str = strawberry.field(
        description="The local time at which it closes, up to 24:00; equal to start for no window on these days."
    )
    weekdays: list[Weekday] | None = strawberry.field(default=None, description="The days; all of them if none.")
    cap: int | None = strawberry.field(
        default=None,
        description=(
            f"The maximum number of limited texts to a phone in 24 hours, 1 to {service.MAX_CAP}; needs all weekdays."
        ),
        directives=[Constraint(minimum=1, maximum=service.MAX_CAP)],
    )
    overrides_law: bool = strawberry.field(
        default=False, description="Whether the rule replaces that of the law, and may be less strict."
    )
    reason: str = strawberry.field(
        default="",
        description=f"The reason, {service.MAX_REASON} characters at most; required to override the law, and audited.",
        directives=[Constraint(max_length=service.MAX_REASON)],
    )


@strawberry.type
class QuietHoursQuery:
    """Reading quiet hours."""

    @strawberry.field(
        graphql_type=list[QuietHoursRule],
        description=(
            "The rules of quiet hours and frequency caps: those of law first, by jurisdiction, then those of the "
            f"account, at most {service.MAX_RULES}. A text leaves when every rule of its place allows it."
        ),
        directives=guarded("account:read"),
    )
    async def quiet_hours(self, info: Info) -> Sequence[QuietHoursRule]:
        """Return the rules."""
        book = await queries.get_book(info.context.unit)
        laws = [QuietHoursRule.of(rule, is_overridden=book.is_overridden(rule)) for rule in book.laws]
        return [*laws, *(QuietHoursRule.of(rule) for rule in book.own)]


@strawberry.type
class QuietHoursMutation:
    """Changing quiet hours."""

    @strawberry.mutation(
        graphql_type=QuietHoursRule,
        description=(
            "Add a rule of the account's own to those of law, and return it. It tightens them; a rule that would "
            "allow more is refused unless it overrides the law for a stated reason. The audit log records it."
        ),
        directives=guarded("account:write", "conflict", "below_legal_minimum"),
    )
    async def add_quiet_hours(
        self, info: Info, rule: Annotated[NewQuietHoursRule, strawberry.argument(description="The rule.")]
    ) -> QuietHoursRule:
        """Add a rule."""
        new = NewRule(
            rule.jurisdiction, rule.start, rule.end, rule.weekdays or (), rule.cap, rule.overrides_law, rule.reason
        )
        return QuietHoursRule.of(await service.add(info.context.unit, new))

    @strawberry.mutation(
        graphql_type=QuietHoursRule,
        description="Remove a rule of the account's own, and return it. The audit log records it.",
        directives=guarded("account:write", "conflict", "not_found"),
    )
    async def remove_quiet_hours(
        self,
        info: Info,
        id: Annotated[str, strawberry.argument(description="The rule's id, such as own.7.")],
    ) -> QuietHoursRule:
        """Remove a rule."""
        return QuietHoursRule.of(await service.remove(info.context.unit, id))
