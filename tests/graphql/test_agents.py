"""AI agents, as the contract creates and shows them."""

import httpx2
import pytest

from app.services import Services
from tests.factories.agents import AGENTS

pytestmark = pytest.mark.anyio

CREATE = """
mutation ($days: [Weekday!]) {
  create_ai_agent(name: "Front desk", instructions: "", details: {weekdays: $days}) { id weekdays }
}
"""


async def test_an_agent_has_the_days_of_the_week_on_which_it_answers(
    api: httpx2.AsyncClient, services: Services
) -> None:
    asked = {"query": CREATE, "variables": {"days": ["monday", "sunday"]}}

    created = (await api.post("/graphql", json=asked)).json()["data"]["create_ai_agent"]

    assert created["weekdays"] == ["monday", "sunday"]
    assert await AGENTS.only(services, "days") == [1, 7]


async def test_a_day_that_does_not_exist_is_refused(api: httpx2.AsyncClient, services: Services) -> None:
    answer = await api.post("/graphql", json={"query": CREATE, "variables": {"days": ["8"]}})

    assert answer.json()["errors"][0]["extensions"]["code"] == "invalid_graphql"
    assert await AGENTS.count(services) == 0
