"""The endpoints keep what the OpenAPI document promises, whatever is sent."""

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import APIOperation, BaseSchema, Case, GenerationMode
from schemathesis.checks import positive_data_acceptance
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from app.rest import openapi
from tests.rest.toy import Toy, compiled, serve


@pytest.fixture(scope="module")
def api() -> BaseSchema:
    app = serve(Toy(names=dict.fromkeys(range(1, 9), "Ann")))
    document = openapi.document(compiled(), version="1", server_url="http://localhost")

    def show(_request: Request) -> Response:
        return JSONResponse(document)

    app.add_route("/openapi.json", show)
    return schemathesis.openapi.from_asgi("/openapi.json", app)


WITH_INPUT = [
    ("GET", "/contacts"),
    ("POST", "/contacts"),
    ("GET", "/contacts/{id}"),
    ("PUT", "/contacts/{id}"),
    ("DELETE", "/contacts/{id}"),
    ("POST", "/sms/send"),
    ("POST", "/echo"),
]
WITHOUT_INPUT = [("GET", "/contacts/tags"), ("GET", "/auth/test"), ("POST", "/ping")]


@pytest.mark.parametrize(("method", "path"), WITH_INPUT + WITHOUT_INPUT)
def test_valid_requests_get_the_documented_answers(api: BaseSchema, method: str, path: str) -> None:
    call(api[path][method], GenerationMode.POSITIVE)


@pytest.mark.parametrize(("method", "path"), WITH_INPUT)
def test_invalid_requests_get_the_documented_refusals(api: BaseSchema, method: str, path: str) -> None:
    call(api[path][method], GenerationMode.NEGATIVE)


def call(endpoint: APIOperation, mode: GenerationMode) -> None:
    @given(case=endpoint.as_strategy(generation_mode=mode))
    @settings(max_examples=20, derandomize=True, suppress_health_check=list(HealthCheck))
    def send(case: Case) -> None:
        # JSON Schema has strings with U+0000, which we refuse.
        case.call_and_validate(headers={"X-API-Key": "svc_all"}, excluded_checks=[positive_data_acceptance])

    send()
