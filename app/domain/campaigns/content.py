"""Renders the text of a campaign for one contact, and encodes it in GSM-7 where that saves parts."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.domain.kernel import smart_encoding
from app.domain.templates import checking
from app.domain.templates.rendering import CompiledText, Rendering, compiled
from app.domain.templates.vocabulary import OF_CONTACTS


@dataclass(frozen=True, slots=True)
class Content:
    """A text with placeholders, and the values that the account supplies."""

    body: str
    company_name: str
    is_smart_encoded: bool = True
    _compiled: CompiledText = field(init=False)

    def __post_init__(self) -> None:
        """Compile the text once for all contacts."""
        object.__setattr__(self, "_compiled", compiled(self.body))

    def render(self, person: Mapping[str, object]) -> Rendering:
        """Return the text for a contact with the values of `contacts.sql.PLACEHOLDERS`."""
        rendering = self._compiled.render({**person, "company_name": self.company_name})
        if self.is_smart_encoded and not rendering.text.isascii():
            return Rendering(smart_encoding.encode(rendering.text), rendering.missing)
        return rendering


def check(body: str) -> None:
    """Raise `InvalidInput` or `MessageTooLong` for a text that is empty, too long, or has a faulty placeholder."""
    checking.check(body, OF_CONTACTS, "body")
