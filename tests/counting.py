"""Counts the work of a function, which is the same on every machine."""

import sys
from collections.abc import Callable
from typing import Any


def count_calls(function: Callable[[], Any]) -> int:
    """Return how many Python functions are called."""
    calls = 0

    def note(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
    return calls
