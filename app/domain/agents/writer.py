"""The port to writers, which turn a brief into message copy."""

from dataclasses import dataclass
from typing import ClassVar, Protocol


@dataclass(frozen=True, slots=True)
class Brief:
    """A brief. `description` is the customer's own text, from which every fact is taken word for word."""

    description: str
    company_name: str
    count: int = 3


class Writer(Protocol):
    """Turns a brief into candidate texts.

    A candidate may hold the placeholder `{first_name}` and ends with an opt-out notice; it states no
    number, price, date or link that the brief does not.
    """

    name: ClassVar[str]

    async def write(self, brief: Brief) -> list[str]:
        """Return `brief.count` candidates, the best first."""
        ...
