"""Translation of exceptions into the errors of the catalogue, for every HTTP surface."""

import structlog
from sqlalchemy.exc import TimeoutError as PoolTimeout

from app.db.engine import is_broken_off, is_unwritable
from app.domain.kernel.errors import DomainError, InsufficientScope, InvalidInput, Unavailable
from app.http.challenges import step_up

log = structlog.get_logger(__name__)

RETRY_SECONDS = 5
"""The `Retry-After` of an error that has none of its own."""

UNSTORABLE = "22021"
CONTENTION = ("40001", "40P01")
LOST = ("08", "28", "3D", "53", "55", "57")
"""Classes of SQLSTATE: the database is away, is full or busy, or lets nobody in."""


def translate(cause: BaseException) -> DomainError:
    """Return the error that stands for a cause outside; log one that is not a refusal."""
    if isinstance(cause, DomainError):
        return cause
    state = _state(cause)
    if state == UNSTORABLE:
        return InvalidInput(reason="A text must not hold the character U+0000.", field=None)
    if is_unwritable(cause):
        log.warning("value_not_writable", cause=type(cause).__name__)
        return InvalidInput(reason="A value is larger or smaller than what can be kept.", field=None)
    if is_away(cause):
        log.warning("unavailable", sqlstate=state, cause=type(cause).__name__)
        return Unavailable()
    log.error("internal_error", exc_info=cause)
    return DomainError()


def headers_of(error: DomainError, challenge: str = "") -> dict[str, str]:
    """Return the headers of the answer to an error; `challenge` is the `WWW-Authenticate` of a 401 without its own."""
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
    """Return `Retry-After` for an error that is answered with 429 or 503."""
    return {"Retry-After": str(error.facts.get("seconds", RETRY_SECONDS))} if status in (429, 503) else {}


def is_away(cause: BaseException) -> bool:
    """Tell whether something failed for want of a database, or of its attention, and may be tried again."""
    state = _state(cause)
    is_lost = state in CONTENTION or state[:2] in LOST or is_broken_off(cause)
    return is_lost or isinstance(cause, OSError | TimeoutError | PoolTimeout)


def _state(cause: BaseException) -> str:
    return str(getattr(getattr(cause, "orig", cause), "sqlstate", ""))
