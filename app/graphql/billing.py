"""Credits, as the contract shows them."""

from datetime import datetime
from typing import Any

import strawberry

from app.domain.accounts import queries as accounts
from app.domain.accounts.models import AccountType
from app.domain.billing import models, prices, queries
from app.domain.billing.models import EntryType
from app.domain.kernel.paging import Page
from app.domain.messages import queries as messages
from app.graphql.actors import Actor, actor_in
from app.graphql.core.context import Info
from app.graphql.core.directives import guarded
from app.graphql.core.enums import describe
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
        "refund": "Credits of a text that did not arrive were given back.",
        "purchase": "Credits were bought.",
        "adjustment": "An operator corrected the balance.",
        "forfeiture": "The credits left at the deletion of the account.",
    },
    name="TransactionType",
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
    balance_after: BigInt = strawberry.field(description="The balance it left.")
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
    async def message(self, info: Info) -> Any:
        """Return the message."""
        return await info.context.load(messages.find_many, self.message_id)


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
        graphql_type=Connection[Transaction],
        description="Every change of the balance, the newest first.",
        directives=guarded("billing:read"),
    )
    async def transactions(
        self,
        info: Info,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
        offset: Offset = 0,
    ) -> Page[models.LedgerEntry]:
        """Return one page of the ledger."""
        return await queries.find_transactions(
            info.context.unit, window(info, "transactions", first, after, last, before, offset)
        )
