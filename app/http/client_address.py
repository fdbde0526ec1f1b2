"""The network address of a client."""

from starlette.requests import HTTPConnection


def address_of(connection: HTTPConnection) -> str:
    """Return the address of the network that a client has."""
    return connection.client.host if connection.client else ""
