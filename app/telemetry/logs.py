"""Logging: one pipeline for structlog and the standard library that masks phone numbers and texts."""

import logging
import re
import sys
import time
from typing import Any, Literal

import structlog
from structlog.typing import EventDict, Processor

from app.telemetry.requests import add_request_id

CHATTY = ("alembic", "httpx2", "mcp", "uvicorn")
"""Libraries of which only warnings and errors are logged."""

PHONE_KEYS = frozenset({"phone", "phone_number", "from", "to", "from_number", "to_number"})
TEXT_KEYS = frozenset({"body", "message", "text"})

_INTERNATIONAL = re.compile(r"(?:(?<=\+)|(?<=%2[Bb]))\d{7,}")
_ANY_NUMBER = re.compile(r"\d[\d ().-]{5,}\d")
_FAILING_ROW = re.compile(r"(?<=Failing row contains )\(.*?\)(?=\.(?:\n|$))", re.DOTALL)


def configure(format: Literal["json", "pretty"], level: str) -> None:
    """Send the log of the whole process to standard error; `level` is a name such as `info`."""
    shared: list[Processor] = [
        add_request_id,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        mask,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(level),
    )
    handler = logging.StreamHandler()
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, _renderer(format)],
        )
    )
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
    for chatty in CHATTY:
        logging.getLogger(chatty).setLevel(logging.WARNING)


def mask(_logger: object, _method: str, event: EventDict) -> EventDict:
    """Hide the middle of every phone number, and all of every text of a message but its length."""
    return {key: value if key.startswith("_") else _masked(key, value) for key, value in event.items()}


class Throttle:
    """Lets one log line pass each `seconds`, so that a lasting fault does not fill the log."""

    def __init__(self, seconds: float = 30.0) -> None:
        self._seconds = seconds
        self._next = 0.0

    def passes(self) -> bool:
        """Return whether one more may pass now."""
        now = time.monotonic()
        if now < self._next:
            return False
        self._next = now + self._seconds
        return True


def _renderer(format: Literal["json", "pretty"]) -> Processor:
    if format == "json":
        return structlog.processors.JSONRenderer(ensure_ascii=False)
    return structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback)


def _masked(key: str, value: object) -> Any:
    if isinstance(value, dict):
        return {name: _masked(str(name), inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_masked(key, inner) for inner in value]
    if key in TEXT_KEYS and isinstance(value, str | bytes):
        return f"<{len(value)} characters>"
    if key in PHONE_KEYS:
        return _ANY_NUMBER.sub(_hidden, str(value))
    if value is None or isinstance(value, bool | int | float):
        return value
    return _FAILING_ROW.sub("(•••)", _INTERNATIONAL.sub(_hidden, str(value)))


def _hidden(found: re.Match[str]) -> str:
    digits = "".join(filter(str.isdigit, found[0]))
    shown = 4 if len(digits) > 10 else 2
    return f"{digits[:shown]}•••{digits[-shown:]}"
