"""A row that PostgreSQL writes as JSON is written as Python writes it, whatever values it has."""

from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.domain.accounts.scopes import ALL
from app.domain.contacts import service as contacts
from app.domain.contacts.models import ContactFields
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages.requests import Send
from app.domain.onboarding.service import Opened
from app.graphql.execution.documents import prepare
from app.graphql.execution.execute import Executor, Run
from app.services import Services
from tests.conftest import unit_of
from tests.factories.messages import MESSAGES

pytestmark = pytest.mark.anyio

SHOWN = (
    "__typename id phone name: first_name last_name email tags pipeline_stage source status dnd_sms time_zone "
    "time_zone_source held_until assignee_id score created_at updated_at"
)
"""Members of every kind; some may be null."""

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
INSTANTS = st.datetimes(datetime(1, 2, 1), datetime(9999, 11, 30), timezones=st.just(UTC))  # noqa: DTZ001
NUMBERS = st.integers(-(2**63), 2**63 - 1)


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    values=st.fixed_dictionaries(
        {
            "first_name": TEXTS,
            "tags": st.lists(TEXTS, max_size=3),
            "time_zone": st.none() | TEXTS,
            "held_until": st.none() | INSTANTS,
            "assignee_id": st.none() | NUMBERS,
            "dnd_sms": st.booleans(),
            "created_at": INSTANTS,
        }
    )
)
async def test_a_row_is_the_same_json_from_the_database_as_from_python(
    values: dict[str, Any], services: Services, account: Opened
) -> None:
    actor = Actor(account.account_id, ALL, "test")
    async with unit_of(services, actor) as unit:
        [contact, *_] = (await contacts.find_exact(unit, "+12025550143", None)) or [
            await contacts.create(unit, ContactFields(phone="+12025550143"))
        ]
        for name, value in values.items():
            setattr(contact, name, value)
    run = Run(prepare(f"{{ contacts {{ nodes {{ {SHOWN} }} }} }}"), {}, actor)

    by_database, _ = await Executor(services).run(Run(run.prepared, {}, actor, as_text=True))
    by_python, _ = await Executor(services).run(run)

    assert by_database.data
    assert by_python.data
    assert type(by_database.data["contacts"]["nodes"][0]) is orjson.Fragment
    assert orjson.dumps(by_database.data) == orjson.dumps(by_python.data)


async def test_a_number_that_the_contract_cannot_show_is_refused_in_both_forms(
    services: Services, account: Opened
) -> None:
    actor = Actor(account.account_id, ALL, "test")
    await services.acceptor.accept(actor, Send("+12025550143", "Hi", consent_attested=True))
    await MESSAGES.change(services, segments=2**31)
    run = Run(prepare("{ messages { nodes { segments } } }"), {}, actor)

    by_database, _ = await Executor(services).run(Run(run.prepared, {}, actor, as_text=True))
    by_python, _ = await Executor(services).run(run)

    assert (by_database.data, by_python.data) == (None, None)
    assert by_database.errors
    assert by_python.errors
