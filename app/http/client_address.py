"""The network address of a client."""

from starlette.requests import HTTPConnection


def address_of(connection: HTTPConnection) -> str:
    """Return the IP address of a client; empty if unknown."""
    return connection.client.host if connection.client else ""
