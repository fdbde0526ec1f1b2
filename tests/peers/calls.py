"""Kinds of calls, for faults that the first call of each kind has."""

import re


def kind_of(call: str) -> str:
    """Return a call, such as "GET /contacts/contact000001", without the numbers of ids."""
    return re.sub(r"(contact|msg)\d+", r"\1", call)
