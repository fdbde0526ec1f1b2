"""Errors on their way out: a rule's refusal is told, anything else is masked."""

from typing import Any

import structlog
from graphql import GraphQLError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from app.db.engine import is_broken_off, is_unwritable
from app.domain.kernel.errors import DomainError, InvalidInput, Unavailable
from app.telemetry.metrics import ERRORS

log = structlog.get_logger(__name__)

UNSTORABLE = "22021"
CONTENTION = ("40001", "40P01")
LOST = ("08", "28", "3D", "53", "55", "57")
"""Classes of SQLSTATE: the database is away, is full or busy, or lets nobody in."""


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


def translate(cause: BaseException) -> DomainError:
    """Return the error that stands for a cause outside; log one that is not a refusal."""
    if isinstance(cause, DomainError):
        return cause
    state = _state(cause)
    if state == UNSTORABLE:
        return InvalidInput(reason="A text must not hold the character U+0000.")
    if is_unwritable(cause):
        log.warning("value_not_writable", cause=type(cause).__name__)
        return InvalidInput(reason="A value is larger or smaller than what can be kept.")
    if is_away(cause):
        log.warning("unavailable", sqlstate=state, cause=type(cause).__name__)
        return Unavailable()
    log.error("internal_error", exc_info=cause)
    return DomainError()


def is_away(cause: BaseException) -> bool:
    """Tell whether something failed for want of a database, or of its attention, and may be tried again."""
    state = _state(cause)
    is_lost = state in CONTENTION or state[:2] in LOST or is_broken_off(cause)
    return is_lost or isinstance(cause, OSError | TimeoutError | PoolTimeout)


def _state(cause: BaseException) -> str:
    return str(getattr(getattr(cause, "orig", cause), "sqlstate", ""))


def extensions(error: DomainError, docs_url: str, request_id: str | None) -> dict[str, Any]:
    """Return what a GraphQL error says beside its message."""
    facts = {"code": error.code, "status": error.status, "docs": f"{docs_url}#{error.code}"}
    return facts | {"request_id": request_id} if request_id else facts
