"""Credits, as the contract shows them."""

from datetime import datetime
from typing import Annotated, Any

import strawberry

from app.domain.accounts import queries as accounts
from app.domain.accounts.models import AccountType
from app.domain.billing import alerts, models, prices, queries, spending
from app.domain.billing.models import EntryType
from app.domain.billing.queries import TransactionFilter
from app.domain.billing.spending import SpendGroup, SpendKind
from app.domain.campaigns import queries as campaigns
from app.domain.kernel.paging import Page
from app.domain.messages import queries as messages
from app.graphql.actors import Actor, actor_in
from app.graphql.core.context import Info
from app.graphql.core.directives import Constraint, guarded
from app.graphql.core.enums import describe
from app.graphql.core.loading import Load
from app.graphql.core.paging import After, Before, Connection, First, Last, Offset, window
from app.graphql.core.scalars import BigInt
from app.graphql.messages import Message

describe(
    AccountType,
    "The way in which an account pays.",
    {"prepaid": "It buys credits first, and spends no more than it holds."},
)
describe(
    EntryType,
    "The reason for a change of the balance.",
    {
        "debit": "Credits were spent.",
        "refund": "Credits of a text that failed, or of a call of the AI without a result, were given back.",
        "purchase": "Credits were bought.",
        "adjustment": "An operator corrected the balance.",
        "forfeiture": "The credits left at the deletion of the account.",
        "reversal": "A payment was refunded, and its credits were taken back.",
        "dispute": "A payment was disputed, and its credits were taken back, or returned after the dispute was won.",
    },
    name="TransactionType",
)


describe(
    SpendGroup,
    "The grouping of the spent credits.",
    {
        "day": "By day, in UTC.",
        "week": "By week, from Monday.",
        "month": "By month.",
        "kind": "By the use of the credits.",
    },
)
describe(
    SpendKind, "The use of credits.", {"messages": "Texts.", "ai": "Copy that was generated, and other work of an AI."}
)


@strawberry.type(description="The credits of the account, their price, and an estimate of the days that they last.")
class Balance:
    """A balance."""

    balance: BigInt = strawberry.field(description="Credits held.")
    rate: float = strawberry.field(description="The price of one credit, in the account's currency.")
    currency: str = strawberry.field(description="The account's currency (ISO 4217), such as USD.")
    account_type: AccountType = strawberry.field(description="The way in which the account pays.")
    daily_avg_send: BigInt = strawberry.field(description="Credits spent on texts per day, over the last 30 full days.")
    estimated_days_left: BigInt = strawberry.field(description="Days until the balance is spent; 9999 for very many.")
    low_balance: BigInt | None = strawberry.field(
        description="The credits below which the owners are warned, once until credits are added; null for no warnings."
    )
    is_low: bool = strawberry.field(description="True while the balance is below low_balance.")


@strawberry.type(name="SpendPoint", description="The credits that were spent in one period, or for one kind of use.")
class SpendPointType:
    """Points of a history; resolvers return those of the domain."""

    start: datetime = strawberry.field(
        description="The beginning of the period, at midnight in UTC. Weeks begin on Monday, months on the first; the "
        "first period begins with the history."
    )
    kind: SpendKind | None = strawberry.field(description="The use of the credits; null where points are periods.")
    debited: BigInt = strawberry.field(description="Credits of the debits.")
    refunded: BigInt = strawberry.field(
        description="Credits that were refunded, for texts that failed and calls of the AI without a result."
    )
    spent: BigInt = strawberry.field(description="The debits less the refunds.")


@strawberry.type(name="SpendHistory", description="The credits that were spent in the last days.")
class SpendHistoryType:
    """A history; resolvers return that of the domain."""

    since: datetime = strawberry.field(description="The beginning of its first day, at midnight in UTC.")
    until: datetime = strawberry.field(description="The end of its last day, which is today.")
    spent: BigInt = strawberry.field(description="The debits less the refunds of all points.")
    points: list[SpendPointType] = strawberry.field(
        description="The points, the earliest first; periods without debits are among them. At most 366."
    )


@strawberry.type(description="The price of messages to one calling code.")
class DestinationPrice:
    """A price by destination."""

    calling_code: str = strawberry.field(description="The calling code without its plus sign, such as 44.")
    segment: BigInt = strawberry.field(description="The credits that each segment costs.")


@strawberry.type(
    description=(
        "The prices of the account. A message costs the price of its destination for each segment, and is refunded if "
        "it fails. Inbound messages cost nothing."
    )
)
class Tariff:
    """A tariff."""

    rate: float = strawberry.field(description="The price of one credit, in the account's currency.")
    currency: str = strawberry.field(description="The account's currency (ISO 4217), such as USD.")
    destinations: list[DestinationPrice] = strawberry.field(
        description="The destinations that have a price of their own, by calling code; at most 300."
    )
    other_destinations: BigInt = strawberry.field(
        description="The credits that each segment to any other destination costs."
    )
    generated_copy: BigInt = strawberry.field(description="The credits that one request for generated copy costs.")


@strawberry.type(description="One change of the balance.")
class Transaction:
    """A ledger entry."""

    id: BigInt = strawberry.field(description="The entry's id.")
    type: EntryType = strawberry.field(description="The reason for the change.")
    amount: BigInt = strawberry.field(description="Credits; negative for a debit.")
    balance_after: BigInt = strawberry.field(description="The balance after the change.")
    message_id: BigInt | None = strawberry.field(description="The message it was for.")
    description: str = strawberry.field(description="The purpose in words.")
    created_at: datetime = strawberry.field(description="The time of the change.")

    @strawberry.field(description="The user, key, application or part of the service that caused it.")
    def actor(self) -> Actor:
        """Return the actor."""
        return actor_in(self)

    @strawberry.field(
        graphql_type=Message | None,
        description="The message it was for; null for other entries, and once the message is deleted.",
        directives=guarded("messages:read"),
    )
    def message(self, info: Info) -> Load[Any]:
        """Return the message."""
        return info.context.load(messages.find_many, self.message_id)


@strawberry.type
class BillingQuery:
    """Reading balances and the ledger."""

    @strawberry.field(graphql_type=Balance, description="The account's balance.", directives=guarded("billing:read"))
    async def balance(self, info: Info) -> queries.Balance:
        """Return the balance."""
        return await queries.get_balance(info.context.unit)

    @strawberry.field(description="The prices of the account.", directives=guarded("billing:read"))
    async def tariff(self, info: Info) -> Tariff:
        """Return the prices that billing uses."""
        account = await accounts.get_own(info.context.unit)
        return Tariff(
            rate=float(account.rate),
            currency=account.currency,
            destinations=[
                DestinationPrice(calling_code=code, segment=BigInt(price))
                for code, price in prices.destinations(account.region).items()
            ],
            other_destinations=BigInt(prices.ABROAD),
            generated_copy=BigInt(prices.GENERATE),
        )

    @strawberry.field(
        graphql_type=SpendHistoryType,
        description="The credits that were spent per day, week, month or kind of use, in the last days.",
        directives=guarded("billing:read"),
    )
    async def spend_history(
        self,
        info: Info,
        days: Annotated[
            int,
            strawberry.argument(
                description=f"The number of days, today included: 1 to {spending.MAX_DAYS}.",
                directives=[Constraint(minimum=1, maximum=spending.MAX_DAYS)],
            ),
        ] = spending.DEFAULT_DAYS,
        group_by: Annotated[SpendGroup, strawberry.argument(description="The grouping.")] = SpendGroup.day,
    ) -> spending.SpendHistory:
        """Return the history."""
        return await spending.history(info.context.unit, days, group_by)

    @strawberry.field(
        graphql_type=Connection[Transaction],
        description="The changes of the balance, the newest first: all, or those that match every filter.",
        directives=guarded("billing:read"),
    )
    async def transactions(
        self,
        info: Info,
        type: Annotated[EntryType | None, strawberry.argument(description="The reason of the changes.")] = None,
        since: Annotated[datetime | None, strawberry.argument(description="The earliest time of the changes.")] = None,
        until: Annotated[
            datetime | None, strawberry.argument(description="The time before which the changes were.")
        ] = None,
        campaign_id: Annotated[
            BigInt | None, strawberry.argument(description="The id of the campaign that sent the texts.")
        ] = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
        offset: Offset = 0,
    ) -> Page[models.LedgerEntry]:
        """Return one page of the ledger."""
        unit = info.context.unit
        message_ids = None if campaign_id is None else campaigns.select_message_ids(unit, campaign_id)
        wanted = TransactionFilter(type, since, until, message_ids)
        return await queries.find_transactions(
            unit, window(info, "transactions", first, after, last, before, offset), wanted
        )


@strawberry.type
class BillingMutation:
    """Changing the warnings of a balance."""

    @strawberry.mutation(
        graphql_type=Balance,
        description="Set the balance below which the owners get a notice, and return it. They get it once, and "
        "again only after credits were added.",
        directives=guarded("billing:write"),
    )
    async def set_low_balance(
        self,
        info: Info,
        credits: Annotated[
            BigInt | None,
            strawberry.argument(
                description=f"The credits, 1 to {alerts.MAX_THRESHOLD:,}; null for no warnings.",
                directives=[Constraint(minimum=1, maximum=alerts.MAX_THRESHOLD)],
            ),
        ] = None,
    ) -> queries.Balance:
        """Set the threshold."""
        await alerts.set_threshold(info.context.unit, credits)
        return await queries.get_balance(info.context.unit)
