"""The operation that a request asks to run."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Parameters:
    """An operation to run. `extensions` of the request are ignored.

    `size` is that of its JSON, in bytes. A GET `is_safe`: it must change nothing. `last_event_id` is the last event
    that a reconnecting `EventSource` received.
    """

    query: str
    operation_name: str | None
    variables: dict[str, Any] | None
    size: int = 0
    is_safe: bool = False
    last_event_id: int | None = None
