"""Errors of connections to carriers."""

from collections.abc import Generator
from contextlib import contextmanager

from app.domain.carriers.carrier import ConnectionRefused
from app.domain.kernel.errors import DomainError


class CarrierConnectionRefused(DomainError):
    """The carrier refuses the credentials or the settings of a connection; nothing was stored.

    Compare them with the console of the carrier.
    """

    code = "carrier_connection_refused"
    status = 422
    message = "The carrier refuses the connection: {reason}"


class CarrierUnreachable(DomainError):
    """The carrier could not be asked about a connection; nothing was stored. Try again later."""

    code = "carrier_unreachable"
    status = 503
    message = "The carrier cannot be reached. Try again later."


class ConnectionInUse(DomainError):
    """A connection cannot be removed while it has numbers, or while texts wait that were to leave through it.

    Release its numbers or move them to another connection, and wait until the texts in flight have been answered.
    """

    code = "carrier_connection_in_use"
    status = 409
    message = "The connection {key} has {numbers} active numbers and {texts} texts that have not left. {remedy}"

    def __init__(self, *, key: str, numbers: int, texts: int) -> None:
        remedy = "Release the numbers or move them first." if numbers else "Wait until they have been answered."
        super().__init__(key=key, numbers=numbers, texts=texts, remedy=remedy)


@contextmanager
def refusals() -> Generator[None]:
    """Turn the refusals of a carrier that is asked into errors of the catalogue."""
    try:
        yield
    except ConnectionRefused as refusal:
        raise CarrierConnectionRefused(reason=str(refusal)) from None
    except (ConnectionError, TimeoutError):
        raise CarrierUnreachable() from None
