"""Port to writers, which generate message copy from a brief."""

from dataclasses import dataclass
from typing import ClassVar, Protocol


@dataclass(frozen=True, slots=True)
class Brief:
    """A brief. `description` is the customer's own text, from which every fact is taken word for word."""

    description: str
    company_name: str
    count: int = 3


class Writer(Protocol):
    """Generates candidate texts from a brief.

    A candidate may contain the placeholder `{first_name}` and ends with an opt-out notice. It states no number, price,
    date or link that is not in the brief.
    """

    name: ClassVar[str]

    async def write(self, brief: Brief) -> list[str]:
        """Return `brief.count` candidates, the best first."""
        ...
