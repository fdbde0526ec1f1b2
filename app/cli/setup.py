"""Database work of the commands: migrate, create accounts and keys, grant credits."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.exc import DBAPIError

from app.bootstrap import METADATA, derive, oauth_tokens, open_services, sign_in_tokens
from app.db import schema
from app.db.engine import REFUSED, UNREACHABLE, find_fault, is_ended
from app.domain.accounts import administration, api_keys, deletion
from app.domain.accounts import queries as accounts
from app.domain.accounts.api_keys import NewKey
from app.domain.accounts.errors import AccountDeleted
from app.domain.accounts.models import Account, AccountStatus
from app.domain.accounts.scopes import ALL
from app.domain.billing import service as billing
from app.domain.events import set_aside
from app.domain.kernel.events import timestamp
from app.domain.kernel.paging import Window
from app.domain.kernel.unit_of_work import Actor, UnitOfWork, open_unit
from app.domain.messages import sql as messages
from app.domain.numbers import sql as numbers
from app.domain.oauth import clients
from app.domain.oauth.clients import NewClient
from app.domain.onboarding.demo import Demo, open_demo
from app.domain.onboarding.service import Opened, Opening, open_account
from app.domain.payments import service as payments
from app.providers.carriers.sandbox.carrier import SandboxCarrier
from app.services import Services
from app.settings import Settings
from app.urls import without_secrets

Columns = Sequence[str]
OPERATOR = "command line"
NOBODY = Actor(0, ALL, OPERATOR)


class NotYours(Exception):
    """The sandbox does not have the number or message; the text says what to do."""


class DatabaseAway(Exception):
    """The database of `DATABASE_URL` is unreachable, refuses the connection, or has ended it."""


async def migrate(settings: Settings) -> None:
    """Migrate the database to the newest schema."""
    from app.db import migrate as migrations  # its library takes longer to import than a statement to run

    assert settings.database_url
    with _reaching(settings.database_url):
        if await schema.current(settings.database_url) != schema.newest():
            await migrations.upgrade(settings.database_url, METADATA)


async def open_first_account(settings: Settings) -> dict[str, Any] | None:
    """Create the first account, and return its data; None if there is an account."""
    async with _unit(settings, NOBODY) as unit:
        if await accounts.has_any(unit):
            return None
        opening = _opening(settings, settings.company_name or "", settings.owner_email, settings.starter_credits)
        names = {"first_name": settings.owner_first_name or "", "last_name": settings.owner_last_name or ""}
        return asdict(await open_account(unit, replace(opening, **names)))


async def create_account(
    settings: Settings, company_name: str, email: str, credits: int, region: str = "US", support_contact: str = ""
) -> Opened:
    """Create an account with an owner, keys, a sandbox number and credits."""
    async with _unit(settings, NOBODY) as unit:
        opening = _opening(settings, company_name, email, credits)
        return await open_account(unit, replace(opening, region=region, support_contact=support_contact))


async def create_demo(settings: Settings, company_name: str, email: str, credits: int, redirect_uri: str) -> Demo:
    """Create a demo account."""
    async with _unit(settings, NOBODY) as unit:
        opening = _opening(settings, company_name, email, credits)
        return await open_demo(unit, opening, oauth_tokens(settings), redirect_uri)


async def create_client(settings: Settings, name: str, redirect_uris: Sequence[str]) -> dict[str, Any]:
    """Create an OAuth client for the users of every account; return its id and secret."""
    async with _unit(settings, NOBODY) as unit:
        client, secret = await clients.create_shared(unit, oauth_tokens(settings), NewClient(name, redirect_uris))
        return {"client_id": client.client_id, "client_secret": secret, "redirect_uris": client.redirect_uris}


async def create_key(settings: Settings, account_id: int, new: NewKey) -> dict[str, Any]:
    """Create a key for an account; return it with its text."""
    async with operate(settings, account_id) as unit:
        row, key = await api_keys.create_key(unit, derive(settings, "api keys"), new)
        return {**show(row, ("id", "name", "scopes", "expires_at")), "key": key.text}


async def list_accounts(
    settings: Settings, search: str, first: int, after: str | None, columns: Columns
) -> dict[str, Any]:
    """Return a page of all accounts, in the form of a GraphQL connection."""
    async with _unit(settings, NOBODY) as unit:
        page = await administration.list_accounts(unit, search, Window(first, after))
        info = {"has_next_page": await page.has_next_page(), "end_cursor": page.end_cursor}
        nodes, total = [show(each, columns) for each in page.nodes], await page.total()
        return {"nodes": nodes, "total_count": total.count, "total_is_exact": total.is_exact, "page_info": info}


async def change_account(
    settings: Settings, account_id: int, change: Callable[[UnitOfWork], Awaitable[Account]], columns: Columns
) -> dict[str, Any]:
    """Change an account by an operator's function; return it."""
    async with operate(settings, account_id) as unit:
        return show(await change(unit), columns)


async def find_name(settings: Settings, account_id: int) -> str:
    """Return the text that confirms the deletion of an account: its name, or its id without one."""
    async with operate(settings, account_id) as unit:
        return (await accounts.get_own(unit)).company_name or str(account_id)


async def delete_account(settings: Settings, account_id: int, confirm: str, *, now: bool) -> dict[str, Any]:
    """Schedule the deletion of an account after the delay or at once; return its time and the forfeited credits."""
    async with operate(settings, account_id) as unit:
        asked = await deletion.request(unit, confirm, timedelta(days=settings.account_deletion_days * (not now)))
        if now:
            asked = await deletion.bring_forward(unit)
        return show(asked, ("account_id", "deletion_at", "credits"))


async def reset_password(settings: Settings, account_id: int, user_id: int) -> dict[str, Any]:
    """Create a link that sets a user's password; return it."""
    tokens = sign_in_tokens(settings)
    async with operate(settings, account_id) as unit:
        user, token = await administration.reset_password(unit, tokens, user_id)
        return {"user_id": user.id, "email": user.email, "link": f"{settings.public_url}/password/{token}"}


async def list_clients(settings: Settings, columns: Columns) -> list[dict[str, Any]]:
    """Return the OAuth clients for the users of every account."""
    async with _unit(settings, NOBODY) as unit:
        return [show(each, columns) for each in await clients.list_shared(unit)]


async def revoke_client(settings: Settings, id: int, columns: Columns) -> dict[str, Any]:
    """Revoke an OAuth client for the users of every account; raise `NotFound`."""
    async with _unit(settings, NOBODY) as unit:
        return show(await clients.revoke_shared(unit, id), columns)


async def list_failures(settings: Settings, first: int) -> list[dict[str, Any]]:
    """Return reactions to events that failed, of all accounts, the latest first."""
    async with connect(settings) as services:
        found = await set_aside.list_failures(services.database.pool, first)
    return [show(each, each._fields) for each in found]


async def retry_failures(settings: Settings, event_id: int | None) -> int:
    """Have reactions tried again that were set aside, for one event or for all; return how many."""
    async with connect(settings) as services:
        retried = await set_aside.retry(services.database.pool, event_id, services.clock.now())
        services.notify("failed_reactions")
    return retried


async def grant_credits(settings: Settings, account_id: int, credits: int, note: str) -> int:
    """Grant an account credits and return its balance."""
    async with operate(settings, account_id) as unit:
        return await billing.grant(unit, credits, note)


async def confirm_payment(settings: Settings, account_id: int, id: int) -> int:
    """Add the credits of a requested payment; return the balance."""
    async with operate(settings, account_id) as unit:
        await payments.confirm(unit, id)
        return (await accounts.get_own(unit)).balance


async def find_network_of_number(settings: Settings, number: str) -> SandboxCarrier:
    """Return the connection to the sandbox that has a number in E.164; raise `NotYours` where none has it."""
    if found := await _find_network(settings, numbers.FIND_CONNECTION, number):
        return found
    raise NotYours(f"No account has the sandbox number {number}. GET /automation/phone-numbers lists yours.")


async def find_network_of_message(settings: Settings, id: int) -> SandboxCarrier:
    """Return the connection to the sandbox that sent a message; raise `NotYours` where none has."""
    if found := await _find_network(settings, messages.FIND_CONNECTION, id):
        return found
    raise NotYours(f"The sandbox has no message {id}. Take the message_id that POST /sms/send answered.")


async def _find_network(settings: Settings, statement: str, value: object) -> SandboxCarrier | None:
    """Return the connection whose key a statement finds, if it is one to the sandbox."""
    async with connect(settings) as services:
        known = await services.connections.get(await services.database.pool.fetchval(statement, value) or "")
        return known.carrier if known and isinstance(known.carrier, SandboxCarrier) else None


def show(row: object, columns: Columns) -> dict[str, Any]:
    """Return columns of a row in the form of the contract."""
    values = {name: getattr(row, name) for name in columns}
    return {name: timestamp(value) if isinstance(value, datetime) else value for name, value in values.items()}


def _opening(settings: Settings, company_name: str, email: str, credits: int) -> Opening:
    secret = derive(settings, "api keys")
    return Opening(company_name, email, settings.rate, credits, secret, currency=settings.currency)


@asynccontextmanager
async def operate(settings: Settings, account_id: int) -> AsyncGenerator[UnitOfWork]:
    """Open a unit of work on an account for the operator; raise `NotFound` and `AccountDeleted`."""
    async with connect(settings) as services, open_for(services, operator_of(account_id)) as unit:
        await check_account(unit)
        yield unit


def operator_of(account_id: int) -> Actor:
    """Return the operator's actor for an account; its label in the audit log is the command line."""
    return Actor(account_id, ALL, OPERATOR)


async def check_account(unit: UnitOfWork) -> None:
    """Raise `NotFound` or `AccountDeleted` unless the unit's account exists."""
    if (await accounts.get_own(unit)).status == AccountStatus.deleted:
        raise AccountDeleted()


@asynccontextmanager
async def _unit(settings: Settings, actor: Actor) -> AsyncGenerator[UnitOfWork]:
    async with connect(settings) as services, open_for(services, actor) as unit:
        yield unit


def open_for(services: Services, actor: Actor) -> AbstractAsyncContextManager[UnitOfWork]:
    """Open a unit of work for an actor."""
    return open_unit(services.database.sessions, actor, services.clock, services.notify)


@asynccontextmanager
async def connect(settings: Settings) -> AsyncGenerator[Services]:
    """Open the services.

    Raises `SchemaBehind`, `SchemaAhead`, and `DatabaseAway`, also where a connection ends later.
    """
    async with AsyncExitStack() as stack:
        with _reaching(settings.database_url or ""):
            services = await stack.enter_async_context(open_services(settings))
            await schema.check(settings.database_url or "")
        with _staying(settings.database_url or ""):
            yield services


@contextmanager
def _staying(url: str) -> Generator[None]:
    """Raise `DatabaseAway` where the connection ends before the work does."""
    try:
        yield
    except Exception as problem:
        if not is_ended(problem):
            raise
        reason = str(find_fault(problem)).strip().rstrip(".")
        text = f"The database at {without_secrets(url)} ended the connection: {reason}. Run the command again."
        raise DatabaseAway(text) from problem


@contextmanager
def _reaching(url: str) -> Generator[None]:
    try:
        yield
    except (*UNREACHABLE, DBAPIError) as problem:
        cause = problem.orig.__cause__ if isinstance(problem, DBAPIError) and problem.orig else problem
        if not isinstance(cause, UNREACHABLE):
            raise
        fault = "used" if isinstance(cause, REFUSED) else "reached"
        reason = str(cause) or "it does not answer."
        raise DatabaseAway(f"The database at {without_secrets(url)} cannot be {fault}: {reason}") from problem
