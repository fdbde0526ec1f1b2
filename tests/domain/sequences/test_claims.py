"""Claims of due steps: accounts in turn, and other steps for each worker."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from app.db.engine import Pool
from app.domain.contacts import service as contacts
from app.domain.kernel.unit_of_work import Actor
from app.domain.sequences import enrollments, service
from app.domain.sequences.definition import NewStep
from app.domain.sequences.steps import Drip
from app.services import Services
from tests.conftest import unit_of
from tests.domain.sequences.conftest import PHONE, bodies
from tests.factories.sequences import SEQUENCE_ENROLLMENTS


async def test_the_steps_of_an_account_do_not_wait_for_all_those_of_another(
    make: Callable[..., Any],
    enroll: Callable[..., Any],
    services: Services,
    new_account: Callable[..., Any],
    drip: Drip,
    pool: Pool,
) -> None:
    for name in ("One", "Two", "Three"):
        await enroll(await make(NewStep(0, name), name=name))
    other = await new_account()
    async with unit_of(services, Actor(other.account_id, frozenset(), "key:8")) as unit:
        contact = await contacts.create(unit, {"phone": PHONE})
        sequence = await service.create(unit, "Other", [NewStep(0, "Other")])
        await enrollments.enroll(unit, sequence.id, contact.id)

    await replace(drip, batch=2).run()

    assert sorted(await bodies(pool)) == ["One", "Other"]


async def test_a_worker_claims_other_steps_than_those_that_another_one_claims_at_the_time(
    make: Callable[..., Any], enroll: Callable[..., Any], drip: Drip, pool: Pool
) -> None:
    for name in ("One", "Two", "Three", "Four"):
        await enroll(await make(NewStep(0, name), name=name))
    first = await SEQUENCE_ENROLLMENTS.read(pool, "id")

    async with pool.acquire() as connection, connection.transaction():
        await SEQUENCE_ENROLLMENTS.where(id=first[0]).lock(connection, "FOR UPDATE")
        await SEQUENCE_ENROLLMENTS.where(id=first[1]).lock(connection, "FOR UPDATE")
        await replace(drip, batch=2).run()

    assert sorted(await bodies(pool)) == ["Four", "Three"]
