"""Refuses texts that could not be rendered as they are meant."""

from app.domain.kernel import sms_parts
from app.domain.kernel.blank_texts import is_blank
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.placeholders import Vocabulary
from app.domain.messages.errors import MessageTooLong
from app.domain.templates import grammar


def check(body: str, vocabulary: Vocabulary, field: str) -> None:
    """Raise `InvalidInput` or `MessageTooLong` for a text that is empty, longer than 1600 characters, or faulty.

    An unknown placeholder is refused here, because it would be sent as it is written.
    """
    if is_blank(body):
        raise InvalidInput(reason="body must not be empty.", field=field)
    if len(body) > sms_parts.MAX_LENGTH:
        raise MessageTooLong(size=len(body), unit="characters", limit=sms_parts.MAX_LENGTH, field=field)
    if faults := grammar.check(body, vocabulary):
        raise InvalidInput(reason=faults[0].reason, field=field)
