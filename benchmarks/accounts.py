"""Accounts for the benchmarks."""

from dataclasses import dataclass

from app.bootstrap import open_services
from app.domain.accounts import api_keys
from app.domain.accounts import service as accounts
from app.domain.accounts.api_keys import NewKey
from app.domain.accounts.scopes import ALL
from app.domain.billing import service as billing
from app.domain.kernel.unit_of_work import Actor, open_unit
from app.domain.numbers import service as numbers
from app.services import Services
from app.settings import Settings

CREDITS = 10**9


@dataclass(frozen=True, slots=True)
class Opened:
    """An account, and a key with all scopes."""

    id: int
    key: str


async def open_accounts(settings: Settings, count: int) -> list[Opened]:
    """Open accounts with practically unlimited credits. They have no owner, because hashing a password is slow."""
    async with open_services(settings) as services:
        return [await _open(services) for _ in range(count)]


async def _open(services: Services) -> Opened:
    nobody = Actor(0, ALL, "benchmark")
    async with open_unit(services.database.sessions, nobody, services.clock, services.notify) as unit:
        account = await accounts.open_account(unit, "Blue Door", services.settings.rate)
        unit.actor = Actor(account.id, ALL, "benchmark")
        _, key = await api_keys.create_key(unit, services.secret, NewKey("For the benchmark"))
        await numbers.assign_sandbox_number(unit)
        await billing.grant(unit, CREDITS, "For the benchmark")
        return Opened(account.id, key.text)
