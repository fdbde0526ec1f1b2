"""Create an account with an owner, keys, a number and credits."""

import secrets
from dataclasses import dataclass
from decimal import Decimal

from app.domain.accounts import api_keys
from app.domain.accounts import service as accounts
from app.domain.accounts.api_keys import NewKey
from app.domain.accounts.keys import KeyKind
from app.domain.accounts.scopes import ALL
from app.domain.billing import service as billing
from app.domain.kernel.unit_of_work import Actor, UnitOfWork
from app.domain.numbers import service as numbers


@dataclass(frozen=True, slots=True)
class Opening:
    """The data of a new account. `rate` is the price of one credit, `secret` makes the keys' fingerprints.

    `company_name` may be empty: compliance replies contain no name until it is set.
    """

    company_name: str
    email: str
    rate: Decimal
    credits: int
    secret: bytes
    region: str = "US"
    support_contact: str = ""
    currency: str = "USD"
    first_name: str = ""
    last_name: str = ""


@dataclass(frozen=True, slots=True)
class Opened:
    """A new account, with its secrets, which are shown only once."""

    account_id: int
    company_name: str
    email: str
    password: str
    svc_key: str
    auto_key: str
    phone_number_id: int
    phone_number: str
    credits: int


async def open_account(unit: UnitOfWork, opening: Opening) -> Opened:
    """Create a complete account in the unit's transaction. The unit's actor becomes that account."""
    account = await accounts.open_account(
        unit, opening.company_name, opening.rate, opening.region, opening.support_contact, opening.currency
    )
    unit.actor = Actor(account.id, ALL, "setup")
    password = secrets.token_urlsafe(12)
    owner = await accounts.add_user(unit, opening.email, password, opening.first_name, opening.last_name)
    _, svc_key = await api_keys.create_key(unit, opening.secret, NewKey("First key"))
    _, auto_key = await api_keys.create_key(unit, opening.secret, NewKey("Automation", KeyKind.auto))
    number = await numbers.assign_sandbox_number(unit)
    if opening.credits:
        await billing.grant(unit, opening.credits, "Starter credits", is_shown_live=False)
    return Opened(
        account_id=account.id,
        company_name=account.company_name,
        email=owner.email,
        password=password,
        svc_key=svc_key.text,
        auto_key=auto_key.text,
        phone_number_id=number.id,
        phone_number=number.phone_number,
        credits=opening.credits,
    )
