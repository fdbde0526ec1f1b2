"""The REST reference shows every route."""

import re
from pathlib import Path

import orjson

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
