"""Open and change accounts, and add users."""

from decimal import Decimal
from typing import Any, TypedDict

from sqlalchemy.dialects.postgresql import insert

from app.domain.accounts import audit, queries
from app.domain.accounts.audit import AuditAction
from app.domain.accounts.models import Account, User
from app.domain.accounts.sign_in import passwords
from app.domain.accounts.users import plain_email, plain_line
from app.domain.kernel import time_zones
from app.domain.kernel.errors import Conflict, InvalidInput
from app.domain.kernel.phone import check_country
from app.domain.kernel.unit_of_work import UnitOfWork

MAX_WEEKLY_CAP = 1000
SWITCHES = frozenset({"limits_transactional", "smart_encoding", "fold_accents"})
"""The fields that are on or off."""


class AccountFields(TypedDict, total=False):
    """The fields of an account that may be changed; omitted fields keep their values."""

    company_name: str
    region: str
    support_contact: str | None
    time_zone: str | None
    limits_transactional: bool
    weekly_cap: int
    smart_encoding: bool
    fold_accents: bool


async def open_account(
    unit: UnitOfWork,
    company_name: str,
    rate: Decimal,
    region: str = "US",
    support_contact: str = "",
    currency: str = "USD",
) -> Account:
    """Create an account; `rate` is the price of one credit in `currency`, and `company_name` may be empty at first.

    Raises `InvalidInput`.
    """
    fields = _checked({"region": region, "support_contact": support_contact})
    account = Account(company_name=plain_line("company_name", company_name), rate=rate, currency=currency, **fields)
    await unit.save(account)
    return account


async def update(unit: UnitOfWork, fields: AccountFields) -> Account:
    """Change the actor's account; null empties the support contact. Raises `InvalidInput`.

    Messages accepted before a change of `region` keep their price, and those before a change of limits their time.
    """
    values = _checked(fields)
    account = await queries.get_own(unit, lock=True)
    former = {name: getattr(account, name) for name, value in values.items() if getattr(account, name) != value}
    if not former:
        return account
    changed = {name: values[name] for name in former}
    for name, value in changed.items():
        setattr(account, name, value)
    await unit.save(account)
    await audit.record(unit, AuditAction.account_changed, account.company_name, former=former, **changed)
    return account


async def add_user(unit: UnitOfWork, email: str, password: str, first_name: str = "", last_name: str = "") -> User:
    """Add a user to the account; raise `Conflict` when a user of any account has the e-mail address."""
    row = {
        "account_id": unit.actor.account_id,
        "email": plain_email(email),
        "first_name": plain_line("first_name", first_name),
        "last_name": plain_line("last_name", last_name),
        "password_hash": await passwords.hash(password),
    }
    added = await unit.execute(insert(User).values(row).on_conflict_do_nothing().returning(User))
    user = added.scalar_one_or_none()
    if user is None:
        raise Conflict(reason=f"A user with the e-mail address {row['email']} exists.")
    return user


def _checked(fields: AccountFields) -> dict[str, Any]:
    """Return the normalized fields; raise `InvalidInput`."""
    values: dict[str, Any] = {}
    if "company_name" in fields:
        values["company_name"] = _company_name(fields["company_name"])
    if "region" in fields:
        values["region"] = check_country("region", fields["region"])
    if "support_contact" in fields:
        values["support_contact"] = plain_line("support_contact", fields["support_contact"] or "")
    if "time_zone" in fields:
        values["time_zone"] = time_zones.checked(fields["time_zone"]) if fields["time_zone"] else None
    values |= {name: value for name, value in fields.items() if name in SWITCHES}
    if "weekly_cap" in fields:
        values["weekly_cap"] = _weekly_cap(fields["weekly_cap"])
    return values


def _company_name(text: str) -> str:
    name = plain_line("company_name", text)
    if not name:
        raise InvalidInput(reason="company_name must not be empty.", field="company_name")
    return name


def _weekly_cap(most: int) -> int:
    if not 1 <= most <= MAX_WEEKLY_CAP:
        raise InvalidInput(reason=f"weekly_cap must be from 1 to {MAX_WEEKLY_CAP}.", field="weekly_cap")
    return most
