"""Opening accounts and adding people."""

from decimal import Decimal

from sqlalchemy.dialects.postgresql import insert

from app.domain.accounts import passwords
from app.domain.accounts.models import Account, User
from app.domain.accounts.users import plain_email
from app.domain.kernel.errors import Conflict, InvalidInput
from app.domain.kernel.unit import Unit


async def open_account(unit: Unit, company_name: str, rate: Decimal, region: str = "US") -> Account:
    """Open an account; `rate` is the price of one credit."""
    if not company_name.strip():
        raise InvalidInput(reason="The company name must not be empty.")
    account = Account(company_name=company_name.strip(), rate=rate, region=region)
    await unit.save(account)
    return account


async def add_user(unit: Unit, email: str, password: str, first_name: str = "", last_name: str = "") -> User:
    """Add a person to the account; raise `Conflict` where the address is taken, in any account."""
    row = {
        "account_id": unit.actor.account_id,
        "email": plain_email(email),
        "first_name": first_name,
        "last_name": last_name,
        "password_hash": await passwords.hash(password),
    }
    added = await unit.execute(insert(User).values(row).on_conflict_do_nothing().returning(User))
    user = added.scalar_one_or_none()
    if user is None:
        raise Conflict(reason=f"A user with the e-mail address {row['email']} exists.")
    return user
