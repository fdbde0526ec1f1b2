"""The argument of changes that names the version of the record that their caller has read."""

from typing import Any

import strawberry


def expected(kind: str) -> Any:
    """Return the annotation of the argument for a kind of record."""
    return strawberry.argument(
        description=f"The version that the caller has read: the request is refused if the {kind} was changed since."
    )
