"""The contacts that a bulk operation concerns: some by their ids, or all that a filter finds."""

from dataclasses import asdict, dataclass
from typing import Any

from app.domain.contacts.models import ContactStatus, PipelineStage
from app.domain.contacts.queries import ContactFilter
from app.domain.kernel.errors import InvalidInput

MAX_IDS = 500


@dataclass(frozen=True, slots=True)
class Selection:
    """Contacts by their ids, or by a filter."""

    ids: list[int] | None = None
    filter: ContactFilter | None = None

    def __post_init__(self) -> None:
        """Raise `InvalidInput` unless one of both is given."""
        if (self.ids is None) == (self.filter is None):
            raise InvalidInput(reason="contacts must name either ids or a filter.", field="contacts")
        if self.ids is not None and not 0 < len(self.ids) <= MAX_IDS:
            raise InvalidInput(
                reason=f"ids must be 1 to {MAX_IDS}. Give a filter for more contacts.", field="contacts.ids"
            )

    def as_arguments(self) -> dict[str, Any]:
        """Return the selection as the arguments of a job."""
        return {"ids": self.ids} if self.filter is None else {"filter": asdict(self.filter)}


def read(arguments: dict[str, Any]) -> Selection:
    """Return the selection in the arguments of a job."""
    if arguments.get("ids") is not None:
        return Selection(arguments["ids"])
    filter = dict(arguments["filter"])
    filter["stage"] = PipelineStage(filter["stage"]) if filter["stage"] else None
    filter["status"] = ContactStatus(filter["status"]) if filter["status"] else None
    return Selection(filter=ContactFilter(**filter))
