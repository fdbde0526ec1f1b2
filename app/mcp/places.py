"""Checks that a request is for this host, and in development that no foreign page sent it."""

from collections.abc import Mapping

from app.domain.kernel.errors import DomainError
from app.settings import Settings
from app.settings.base_url import DEFAULT_PORTS, is_loopback
from app.urls import split


class MisdirectedRequest(DomainError):
    """The `Host` header names another host than the address of the service, as after DNS rebinding.

    A proxy in front of the service must pass on the `Host` header of the client.
    """

    code = "misdirected_request"
    status = 421
    message = "The tool server is at {place}, not at {host}."


class OriginNotAllowed(DomainError):
    """A page of another site sent the request. In development only pages of this machine may use the tool server."""

    code = "origin_not_allowed"
    status = 403
    message = "In development only pages of this machine may use the tool server, not those of {origin}."


class Places:
    """The host of the service, and the pages that may send requests.

    In production those of every site may: a request needs a token, which no browser adds by itself.
    """

    def __init__(self, settings: Settings) -> None:
        parts = split(settings.public_url)
        self._is_open = not settings.in_development
        self._url = settings.public_url
        self._hosts = {parts.netloc, f"{parts.netloc}:{DEFAULT_PORTS[parts.scheme]}"}

    def check(self, headers: Mapping[str, str]) -> None:
        """Raise `MisdirectedRequest` or `OriginNotAllowed`. In development, other hosts were refused before."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if self._is_open and host.lower() not in self._hosts:
            raise MisdirectedRequest(place=self._url, host=host[:100])
        if not self._is_open and origin is not None and not _is_local(origin):
            raise OriginNotAllowed(origin=origin[:100])


def _is_local(origin: str) -> bool:
    try:
        return is_loopback(split(origin).hostname or "")
    except ValueError:
        return False
