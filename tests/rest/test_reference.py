"""Every example of the REST reference, with the ids of records that exist."""

import re
from pathlib import Path
from typing import Any

import httpx2
import orjson
import pytest

from tests.rest.answers import data

pytestmark = pytest.mark.anyio

PAGE = (Path(__file__).parents[2] / "docs" / "rest-reference.md").read_text()
EXAMPLE = re.compile(r"^### (?P<route>.+?)$.*?^curl -s (?P<curl>.+?)$.*?```json\n(?P<answer>.*?)```", re.M | re.S)
CURL = re.compile(r"(?:-X (?P<method>\w+) )?\"\$URL(?P<path>\S+)\" -H \"X-API-Key: \$KEY\"(?: --json '(?P<body>.+)')?$")
CREATE = 'mutation { create_sequence(name: "Welcome", steps: [{delay_minutes: 0, body: "Hi!"}]) { id } }'
JSON = {"Content-Type": "application/json"}
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


async def named(api: httpx2.AsyncClient) -> dict[str, int]:
    """Make the records that the examples name, a text and a tag; return their ids, by the path or member for each."""
    contact = data(await api.post("/contacts", json={"phone": "+12025550143", "tags": ["vip"]}))["id"]
    hook = {"event": "new_message", "target_url": "https://127.0.0.1/hooks"}
    subscription = data(await api.post("/automation/subscribe", json=hook))["id"]
    await api.post("/sms/send", json={"to": "+12025550143", "message": "Hi", "consent_attested": True})
    steps = {"query": CREATE}
    sequence = (await api.post("/graphql", json=steps)).json()["data"]["create_sequence"]["id"]
    return {"/contacts/": contact, "/unsubscribe/": subscription, '"contact_id":': contact, '"sequence_id":': sequence}


@pytest.mark.parametrize("example", EXAMPLES, ids=[each["route"] for each in EXAMPLES])
async def test_an_example_of_the_reference_is_answered_as_it_shows(api: httpx2.AsyncClient, example: dict[str, str]):
    curl, ids = example["curl"], await named(api)
    if example["route"] == "POST /contacts":
        await api.delete(f"/contacts/{ids['/contacts/']}")
    for before, id in ids.items():
        curl = curl.replace(f"{before}1", f"{before}{id}")
    request = CURL.fullmatch(curl)
    assert request
    method = request["method"] or ("POST" if request["body"] else "GET")

    answer = await api.request(method, request["path"], content=request["body"], headers=JSON)

    assert answer.status_code == 200, answer.text
    assert differences(answer.json(), orjson.loads(example["answer"])) == []


def test_every_route_of_the_reference_has_an_example():
    assert [each["route"] for each in EXAMPLES] == re.findall(r"^### (.+)$", PAGE, re.M)
