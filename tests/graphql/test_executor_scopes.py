"""The executor itself holds an actor to the scopes of a document, compiled or not."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from app.domain.accounts.scopes import ALL, Scope
from app.domain.kernel.errors import InsufficientScope, Unauthenticated
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.graphql.execution.documents import prepare
from app.graphql.execution.execute import Executor, Run, _read_own
from app.main import rest_operations
from app.services import Services
from tests.factories.contacts import CONTACTS

pytestmark = pytest.mark.anyio

CREATE = next(operation for operation in rest_operations() if operation.name == "create_contact")
GIVEN = {"phone": "+12025550143"}

Ask = Callable[[Executor, Actor | None], Awaitable[Any]]


async def run_a_plan(executor: Executor, actor: Actor | None) -> Any:
    return (await executor(CREATE, GIVEN, actor)).value


async def run_a_document(executor: Executor, actor: Actor | None) -> Any:
    result, _ = await executor.run(Run(prepare(CREATE.text), GIVEN, actor))
    return (result.data or {})["create_contact"]


async def run_an_update(executor: Executor, actor: Actor | None) -> Any:
    result, _ = await executor.run(Run(prepare(CREATE.text), GIVEN, actor, value=object()))
    return (result.data or {})["create_contact"]


RUNS = [run_a_plan, run_a_document, run_an_update]


def test_a_document_of_ours_runs_by_a_plan_that_knows_its_scopes() -> None:
    prepared = _read_own(CREATE.text)

    assert prepared.plan
    assert prepared.scopes == {Scope.contacts_write} == CREATE.scopes


@pytest.mark.parametrize("run", RUNS)
async def test_an_actor_without_the_scope_is_refused_and_nothing_is_written(
    services: Services, account: Opened, run: Ask
) -> None:
    actor = Actor(account.account_id, ALL - {Scope.contacts_write}, "test")

    with pytest.raises(InsufficientScope) as refused:
        await run(Executor(services), actor)

    assert refused.value.facts["scope"] == "contacts:write"
    assert await CONTACTS.count(services) == 0


@pytest.mark.parametrize("run", RUNS)
async def test_an_anonymous_caller_is_refused_and_nothing_is_written(
    services: Services, account: Opened, run: Ask
) -> None:
    with pytest.raises(Unauthenticated):
        await run(Executor(services), None)

    assert await CONTACTS.count(services) == 0


@pytest.mark.parametrize("run", RUNS)
async def test_an_actor_with_the_scope_is_served(services: Services, account: Opened, run: Ask) -> None:
    contact = await run(Executor(services), Actor(account.account_id, frozenset({Scope.contacts_write}), "test"))

    assert contact["phone"] == "+12025550143"
    assert await CONTACTS.count(services) == 1
