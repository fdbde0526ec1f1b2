"""Errors of GraphQL requests and operations, and how they are answered."""

from typing import Any

from graphql import GraphQLError

from app.domain.kernel.errors import DomainError, InvalidInput
from app.http.errors import translate
from app.telemetry.metrics import ERRORS


class InvalidGraphql(DomainError):
    """The request is not a GraphQL operation of this contract: it does not parse, or does not fit `schema.graphql`."""

    code = "invalid_graphql"
    status = 400
    message = "{reason}"


class QueryTooComplex(InvalidGraphql):
    """The document is too long or too deep, or asks for more than one request may; the text names the limit."""

    code = "query_too_complex"


class NotAcceptable(DomainError):
    """The `Accept` header names no media type that the endpoint can answer with."""

    code = "not_acceptable"
    status = 406
    message = "This endpoint answers with {types} only. Accept one of them."


def refusal(error: GraphQLError) -> DomainError:
    """Return what the catalogue says about an error of an operation.

    A `DomainError` is itself; an error without a cause says what is wrong with the request; all other
    causes are logged and answered as `internal_error`, with nothing of the cause.
    """
    cause = error.original_error
    if cause is None or isinstance(cause, GraphQLError):
        refused: DomainError = InvalidInput(reason=error.message)
    else:
        refused = translate(cause)
    ERRORS.labels(refused.code).inc()
    return refused


def find_cause(error: GraphQLError) -> DomainError:
    """Return what the catalogue says about an error of a request: what `refusal` does, or that it is no operation."""
    cause = error.original_error
    if not error.path and (cause is None or isinstance(cause, GraphQLError)):
        return InvalidGraphql(reason=error.message)
    return refusal(error)


def extensions(error: DomainError, docs_url: str, request_id: str | None) -> dict[str, Any]:
    """Return what a GraphQL error says beside its message."""
    facts = {"code": error.code, "status": error.status, "docs": f"{docs_url}#{error.code}"}
    return facts | {"request_id": request_id} if request_id else facts
