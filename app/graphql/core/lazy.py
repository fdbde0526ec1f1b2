"""Types of areas that refer to each other."""

from typing import Annotated, Any

import strawberry


def lazily(name: str, module: str) -> Any:
    """Return a type of another module, which is imported when the schema is built."""
    return Annotated[name, strawberry.lazy(module)]  # pyrefly: ignore[not-a-type]
