"""Adding, checking, rotating, pausing and removing connections, of the installation and of accounts."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from app.domain.carriers import queries, service
from app.domain.carriers.carrier import Carrier, CarrierAccount, ConnectionRefused
from app.domain.carriers.errors import CarrierConnectionRefused, CarrierUnreachable, ConnectionInUse
from app.domain.carriers.kinds import Configuration
from app.domain.carriers.models import CarrierConnection
from app.domain.carriers.retention import RULES
from app.domain.carriers.service import NewConnection, Ports
from app.domain.kernel import retention
from app.domain.kernel.errors import Conflict, DomainError, InvalidInput, NotFound
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages import connections
from app.domain.onboarding.service import Opened
from app.providers.carriers.sandbox.carrier import SandboxCarrier
from app.providers.registry import KINDS
from app.services import Services
from tests.conftest import unit_of
from tests.factories.accounts import AUDIT_ENTRIES
from tests.factories.carriers import CONNECTIONS
from tests.factories.numbers import add_number

SECRET = "a very secret text"
NEW = NewConnection("sandbox", "Second", {"max_segments": "3"}, {"secret": SECRET}, "second")
OWN = replace(NEW, key=None)


class Picky(SandboxCarrier):
    """A carrier that refuses one secret, and cannot be reached with another."""

    async def check(self) -> CarrierAccount:
        if self.secret == b"a refused secret":
            raise ConnectionRefused("the secret is wrong.")
        if self.secret == b"an unheard secret":
            raise ConnectionError
        return CarrierAccount("The account")


@pytest.fixture
def ports(services: Services) -> Ports:
    """Provide the ports, with a sandbox that accounts may have too, and that checks its secret."""

    def open(configuration: Configuration) -> Carrier:
        secret = str(configuration.credentials.get("secret", ""))
        return Picky(services.database.pool, secret.encode(), 0, 10)

    known = replace(services.connections, open=open)
    return Ports({"sandbox": replace(KINDS["sandbox"], is_for_accounts=True)}, known)


@pytest.fixture
def operate(services: Services) -> Callable[[], Any]:
    """Provide a function that opens a unit of the operator."""
    return lambda: unit_of(services, Actor(0, frozenset(), "command line"))


@pytest.fixture
def act(services: Services, account: Opened) -> Callable[[], Any]:
    """Provide a function that opens a unit of the account."""
    return lambda: unit_of(services, Actor(account.account_id, frozenset(), "owner"))


async def add_own(act: Callable[[], Any], ports: Ports, account: Opened, new: NewConnection = OWN) -> CarrierConnection:
    async with act() as unit:
        return (await service.add(unit, ports, account.account_id, new)).connection


async def test_a_connection_is_stored_with_its_credentials_sealed(
    services: Services, ports: Ports, operate: Callable[[], Any]
) -> None:
    async with operate() as unit:
        added = await service.add(unit, ports, None, NEW)

    assert added.account.name == "The account"
    row = await CONNECTIONS.where(key="second").only(services, "name", "settings", "account_id", "role", "status")
    assert tuple(row) == ("Second", {"max_segments": 3}, None, "worker", "active")
    assert [text for text in await CONNECTIONS.texts(services) if SECRET in text] == []
    assert ports.connections.seal.open(added.connection.credentials or b"") == f'{{"secret":"{SECRET}"}}'


@pytest.mark.parametrize(
    ("change", "refusal", "field"),
    [
        ({"kind": "pigeon"}, InvalidInput, "kind"),
        ({"key": "Second!"}, InvalidInput, "key"),
        ({"key": "sandbox"}, Conflict, "key"),
        ({"name": "x" * 101}, InvalidInput, "name"),
        ({"settings": {"max_segments": "many"}}, InvalidInput, "settings"),
        ({"settings": {"pigeons": "3"}}, InvalidInput, "settings"),
        ({"settings": {"numbers": ["+1"] * 1001}}, InvalidInput, "settings"),
        ({"credentials": {"secret": "short"}}, InvalidInput, "credentials"),
        ({"credentials": {"secret": "x" * 2000}}, InvalidInput, "credentials"),
        ({"parts_per_second": 0.0}, InvalidInput, "parts_per_second"),
        ({"credentials": {"secret": "a refused secret"}}, CarrierConnectionRefused, None),
        ({"credentials": {"secret": "an unheard secret"}}, CarrierUnreachable, None),
    ],
)
async def test_a_connection_that_is_refused_is_not_stored_and_its_secret_not_repeated(
    services: Services, ports: Ports, operate: Callable[[], Any], change: Any, refusal: type[DomainError], field: Any
) -> None:
    with pytest.raises(refusal) as refused:
        async with operate() as unit:
            await service.add(unit, ports, None, replace(NEW, **change))

    assert refused.value.field == field
    assert "short" not in str(refused.value)
    assert await CONNECTIONS.read(services, "key") == ["sandbox"]


async def test_the_key_of_an_accounts_own_connection_is_made_and_its_adding_audited_without_secrets(
    services: Services, ports: Ports, act: Callable[[], Any], account: Opened
) -> None:
    connection = await add_own(act, ports, account, NEW)

    assert connection.key.startswith("sandbox-")
    assert len(connection.key) == len("sandbox-") + 16
    [entry] = await AUDIT_ENTRIES.where(action="carrier_connection_added").texts(services)
    assert connection.key in entry
    assert SECRET not in entry


async def test_an_account_has_no_connections_of_kinds_for_the_operator(
    services: Services, act: Callable[[], Any], account: Opened
) -> None:
    with pytest.raises(InvalidInput) as refused:
        await add_own(act, services.carriers, account)

    assert refused.value.field == "kind"


async def test_an_account_finds_its_own_connections_only(
    services: Services, ports: Ports, act: Callable[[], Any], account: Opened, new_account: Callable[..., Any]
) -> None:
    own = await add_own(act, ports, account)
    sandbox = await CONNECTIONS.where(key="sandbox").only(services, "id")
    other: Opened = await new_account()

    async with unit_of(services, Actor(other.account_id, frozenset(), "owner")) as unit:
        listed = await queries.list_own(unit)
        for id in (own.id, sandbox):
            with pytest.raises(NotFound):
                await queries.get_own(unit, id)
    async with act() as unit:
        mine = [each.id for each in await queries.list_own(unit)]

    assert (listed, mine) == ([], [own.id])


async def test_a_rotation_keeps_the_former_credentials_for_the_overlap(
    services: Services, ports: Ports, operate: Callable[[], Any]
) -> None:
    async with operate() as unit:
        connection = (await service.add(unit, ports, None, NEW)).connection
        before = connection.revision
    async with operate() as unit:
        connection = await queries.get_any(unit, "second")
        rotated = (await service.rotate(unit, ports, connection, {"secret": "another secret text"}, 2)).connection

    seal = ports.connections.seal
    assert seal.open(rotated.credentials or b"") == '{"secret":"another secret text"}'
    assert seal.open(rotated.previous_credentials or b"") == f'{{"secret":"{SECRET}"}}'
    assert rotated.revision > before


async def test_former_credentials_are_deleted_when_their_time_has_ended(
    services: Services, ports: Ports, operate: Callable[[], Any]
) -> None:
    async with operate() as unit:
        connection = (await service.add(unit, ports, None, NEW)).connection
    async with operate() as unit:
        rotated = await service.rotate(unit, ports, connection, {"secret": "another secret text"}, 2)
    kept = CONNECTIONS.where(key="second")

    async def forget(hours: float) -> Any:
        await retention.apply(RULES, services.database.pool, services.clock.now() + timedelta(hours=hours))
        return await kept.only(services, "previous_credentials", "previous_until", "revision")

    meanwhile, ended = await forget(1.9), await forget(2.1)

    assert tuple(meanwhile) == (
        rotated.connection.previous_credentials,
        rotated.connection.previous_until,
        rotated.connection.revision,
    )
    assert tuple(ended)[:2] == (None, None)
    assert ended["revision"] > meanwhile["revision"]
    assert await kept.only(services, "credentials") == rotated.connection.credentials


async def test_of_two_that_add_a_key_at_once_one_gets_a_conflict(
    services: Services, ports: Ports, operate: Callable[[], Any]
) -> None:
    async def add() -> str:
        try:
            async with operate() as unit:
                return (await service.add(unit, ports, None, NEW)).connection.key
        except Conflict as refusal:
            return str(refusal)

    added = await asyncio.gather(*(add() for _ in range(4)))

    assert sorted(added) == ["There is a connection with the key second. Choose another."] * 3 + ["second"]
    assert await CONNECTIONS.where(key="second").count(services) == 1


async def test_credentials_that_the_carrier_refuses_replace_none(
    services: Services, ports: Ports, operate: Callable[[], Any]
) -> None:
    async with operate() as unit:
        await service.add(unit, ports, None, NEW)
    before = await CONNECTIONS.texts(services)

    async with operate() as unit:
        connection = await queries.get_any(unit, "second")
        with pytest.raises(CarrierConnectionRefused):
            await service.rotate(unit, ports, connection, {"secret": "a refused secret"}, 2)

    assert await CONNECTIONS.texts(services) == before


async def test_a_connection_with_numbers_is_not_removed(
    services: Services, ports: Ports, operate: Callable[[], Any], account: Opened
) -> None:
    async with operate() as unit:
        await service.add(unit, ports, None, NEW)
    await add_number(services, account.account_id, "+14155550100", carrier="second")

    with pytest.raises(ConnectionInUse) as refused:
        async with operate() as unit:
            await connections.remove(unit, ports, await queries.get_any(unit, "second"))

    assert refused.value.facts["numbers"] == 1
    assert await CONNECTIONS.read(services, "key") == ["sandbox", "second"]


async def test_a_connection_without_numbers_and_texts_is_removed(
    services: Services, ports: Ports, operate: Callable[[], Any]
) -> None:
    async with operate() as unit:
        await service.add(unit, ports, None, NEW)
    async with operate() as unit:
        await connections.remove(unit, ports, await queries.get_any(unit, "second"))

    assert await CONNECTIONS.read(services, "key") == ["sandbox"]
