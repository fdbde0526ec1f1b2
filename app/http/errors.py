"""Mapping of exceptions to the errors of the catalogue, for all HTTP surfaces."""

import structlog
from sqlalchemy.exc import TimeoutError as PoolTimeout

from app.db.engine import is_broken_off, is_unplaced, is_unwritable
from app.domain.kernel.errors import DomainError, InsufficientScope, InvalidInput, QueryTimeout, Unavailable
from app.http.challenges import step_up

log = structlog.get_logger(__name__)

RETRY_SECONDS = 5
"""The default `Retry-After`."""

UNSTORABLE = "22021"
CANCELED = "57014"
CONTENTION = ("40001", "40P01")
LOST = ("08", "28", "3D", "53", "55", "57")
"""SQLSTATE classes: the database is unreachable, full, busy, or refuses connections."""


def translate(cause: BaseException) -> DomainError:
    """Return the error of the catalogue for an exception; log exceptions that are not a `DomainError`."""
    if isinstance(cause, DomainError):
        return cause
    state = _state(cause)
    if state == UNSTORABLE:
        return InvalidInput(reason="A text must not contain the character U+0000.", field=None)
    if is_unwritable(cause):
        log.warning("value_not_writable", cause=type(cause).__name__)
        return InvalidInput(reason="A value is too large or too small to be stored.", field=None)
    if state == CANCELED:
        log.warning("query_timeout", cause=type(cause).__name__)
        return QueryTimeout()
    if is_away(cause):
        log.warning("unavailable", sqlstate=state, cause=type(cause).__name__)
        return Unavailable()
    log.error("internal_error", exc_info=cause)
    return DomainError()


def headers_of(error: DomainError, challenge: str = "") -> dict[str, str]:
    """Return the headers of an error response; `challenge` is the default `WWW-Authenticate` of a 401."""
    if isinstance(error, InsufficientScope):
        return {"WWW-Authenticate": step_up(error)}
    match error.status:
        case 401:
            return {"WWW-Authenticate": str(error.facts.get("challenge") or challenge)}
        case 405:
            return {"Allow": str(error.facts.get("allowed", ""))}
        case status:
            return retry_headers(error, status)


def retry_headers(error: DomainError, status: int) -> dict[str, str]:
    """Return `Retry-After` for an error with status 429 or 503."""
    return {"Retry-After": str(error.facts.get("seconds", RETRY_SECONDS))} if status in (429, 503) else {}


def is_away(cause: BaseException) -> bool:
    """Return whether an exception means that the database is unreachable or busy, so that a retry may succeed."""
    state = _state(cause)
    is_lost = state in CONTENTION or state[:2] in LOST or is_broken_off(cause) or is_unplaced(cause)
    return is_lost or isinstance(cause, OSError | TimeoutError | PoolTimeout)


def _state(cause: BaseException) -> str:
    return str(getattr(getattr(cause, "orig", cause), "sqlstate", ""))
