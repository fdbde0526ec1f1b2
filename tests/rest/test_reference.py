"""Every example of the REST reference, word for word."""

import os
import re
from pathlib import Path
from typing import Any

import httpx2
import orjson
import pytest
from anyio import run_process

from app.domain.onboarding.service import Opened
from app.settings import Settings
from tests.e2e.pages import SHELL
from tests.factories.numbering import numbered_from_one
from tests.graphql.live import serving
from tests.rest.answers import data

pytestmark = pytest.mark.anyio

PAGE = (Path(__file__).parents[2] / "docs" / "rest-reference.md").read_text()
EXAMPLE = re.compile(
    r"^### (?P<route>.+?)$.*?```sh reference\n(?P<command>.*?)```.*?```json\n(?P<answer>.*?)```", re.M | re.S
)
CREATE = 'mutation { create_sequence(name: "Welcome", steps: [{delay_minutes: 0, body: "Hi!"}]) { id } }'
NUMBERED = ("contacts", "sequences", "webhook_subscriptions")
"""Tables whose records the examples name by the id 1."""
EXAMPLES = [each.groupdict() for each in EXAMPLE.finditer(PAGE)]


def differences(answer: Any, shown: Any, path: str = "") -> list[str]:
    """Return the members that an answer has and the reference does not show, or the other way; of lists, in items."""
    if isinstance(answer, dict) and isinstance(shown, dict):
        missing = [f"{path}.{name}" for name in answer.keys() ^ shown.keys()]
        return missing + [
            each for name in answer.keys() & shown for each in differences(answer[name], shown[name], f"{path}.{name}")
        ]
    if isinstance(answer, list) and isinstance(shown, list):
        return [each for item in answer for each in differences(item, shown[0], f"{path}[]")] if shown else []
    return []


async def make_records(api: httpx2.AsyncClient) -> None:
    """Make the records that the examples name, each with the id 1, a text and a tag."""
    hook = {"event": "new_message", "target_url": "https://127.0.0.1/hooks"}
    made = [
        data(await api.post("/contacts", json={"phone": "+12025550143", "tags": ["vip"]}))["id"],
        data(await api.post("/automation/subscribe", json=hook))["id"],
        (await api.post("/graphql", json={"query": CREATE})).json()["data"]["create_sequence"]["id"],
    ]
    assert made == [1, 1, 1]
    await api.post("/sms/send", json={"to": "+12025550143", "message": "Hi", "consent_attested": True})


@pytest.mark.parametrize("example", EXAMPLES, ids=[each["route"] for each in EXAMPLES])
async def test_an_example_of_the_reference_is_answered_as_it_shows(
    api: httpx2.AsyncClient, settings: Settings, account: Opened, example: dict[str, str]
):
    async with numbered_from_one(settings.database_url or "", NUMBERED):
        await make_records(api)
    if example["route"] == "POST /contacts":
        await api.delete("/contacts/1")
    async with serving(settings) as served:
        environment = {**os.environ, "URL": served.base_url, "KEY": account.svc_key}

        done = await run_process([SHELL, "-e", "-c", example["command"]], env=environment)

    answer = orjson.loads(done.stdout)
    assert not isinstance(answer, dict) or answer.get("success", True), answer
    assert differences(answer, orjson.loads(example["answer"])) == []


def test_every_route_of_the_reference_has_an_example():
    assert [each["route"] for each in EXAMPLES] == re.findall(r"^### (.+)$", PAGE, re.M)
