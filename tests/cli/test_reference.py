"""The REST reference shows every route."""

import re
from pathlib import Path

import orjson

from app.domain.messages.events import NewMessage
from app.main import rest_operations

PAGE = (Path(__file__).parents[2] / "docs" / "rest-reference.md").read_text()


def test_the_reference_has_every_route_once():
    routes = [f"{rest.method} {rest.path}" for operation in rest_operations() for rest in operation.rest]

    assert sorted(re.findall(r"^### (.+)$", PAGE, re.M)) == sorted(routes)


def test_every_request_and_answer_of_the_reference_is_json():
    requests = [orjson.loads(text) for text in re.findall(r"--json '(.+)'$", PAGE, re.M)]
    answers = [orjson.loads(text) for text in re.findall(r"```json\n(.*?)```", PAGE, re.S)]

    assert len(answers) == len(re.findall(r"^### ", PAGE, re.M))
    assert {"to": "+12025550143", "message": "Your table is booked for 7 pm.", "consent_attested": True} in requests


def test_a_request_of_the_reference_names_a_contact_in_one_way():
    requests = dict(re.findall(r"\$URL(/automation/actions/\S+)\".* --json '(.+)'$", PAGE, re.M))

    assert orjson.loads(requests["/automation/actions/update-contact"]) == {"contact_id": 1, "first_name": "Ann"}
    assert orjson.loads(requests["/automation/actions/add-tag"]) == {"contact_id": 1, "tag": "vip"}
    assert orjson.loads(requests["/automation/actions/add-to-campaign"]) == {"contact_id": 1, "sequence_id": 1}


def test_an_answer_of_the_reference_has_the_documented_values():
    answers = dict(re.findall(r"^### (\S+ \S+)\n.*?```json\n(.*?)```", PAGE, re.M | re.S))

    assert orjson.loads(answers["POST /automation/actions/send-sms"])["data"]["status"] == "sent"
    assert orjson.loads(answers["GET /automation/sample/{event}"]) == [NewMessage.example]
    assert orjson.loads(answers["GET /automation/tags"]) == [{"id": "vip", "label": "vip"}]
