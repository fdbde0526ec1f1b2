"""Validation of redirect URIs (RFC 6749, 3.1.2; RFC 8252)."""

import re
from collections.abc import Iterable, Sequence
from urllib.parse import SplitResult

from app.domain.kernel.errors import InvalidInput
from app.urls import UnsafeUrl, split

MAX_URIS = 20
MAX_LENGTH = 2000
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
CHARACTERS = re.compile(r"[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]+")
"""The characters of a URI (RFC 3986, appendix A); all others must be encoded."""

HOST = re.compile(r"[a-z0-9._-]+|[0-9a-f:.]+")
"""A host without encoded characters, so that the displayed host is the one that the browser opens."""

DANGEROUS = frozenset({"about", "blob", "data", "file", "filesystem", "ftp", "javascript", "vbscript", "ws", "wss"})
"""Schemes that do not open an application."""

WITHOUT_DOMAIN = frozenset({"cursor"})
"""Allowed schemes of known applications that do not contain a domain."""


class InvalidRedirectUri(InvalidInput):
    """A redirect URI is unsafe or malformed; the message gives the rule."""

    code = "invalid_redirect_uri"
    status = 400


def check_all(uris: Sequence[str]) -> list[str]:
    """Return the distinct redirect URIs of a client; raise `InvalidRedirectUri`."""
    if not 1 <= len(uris) <= MAX_URIS:
        raise InvalidRedirectUri(reason=f"A client has a list of 1 to {MAX_URIS} redirect URIs.", field="redirect_uris")
    for uri in uris:
        if problem := _problem(uri):
            raise InvalidRedirectUri(reason=f"A redirect URI {problem}.", field="redirect_uris")
    return list(dict.fromkeys(uris))


def allows(registered: Iterable[str], given: str) -> bool:
    """Return whether a redirect URI equals a registered one; the port of a loopback URI may differ.

    A native application listens on any free port (RFC 8252, 7.3).
    """
    return any(given == uri or _same_but_for_port(uri, given) for uri in registered)


def is_uri(text: str) -> bool:
    """Return whether a text has the length and the characters of a URI."""
    return len(text) <= MAX_LENGTH and CHARACTERS.fullmatch(text) is not None


def has_plain_host(parts: SplitResult) -> bool:
    """Return whether a URI has a host without encoded characters."""
    return HOST.fullmatch(parts.hostname or "") is not None


def host(uri: str) -> str:
    """Return the display name of a redirect URI: its host, or the scheme of an application."""
    parts = split(uri)
    return parts.hostname if parts.scheme in ("http", "https") and parts.hostname else f"{parts.scheme}:"


def _problem(uri: str) -> str:
    if not is_uri(uri):
        return f"has at most {MAX_LENGTH} characters, all allowed in a URI"
    try:
        parts = split(uri)
    except UnsafeUrl as fault:
        return str(fault)
    if "#" in uri or "@" in parts.netloc:
        return "has neither a fragment nor a user name"
    return _problem_of_scheme(parts)


def _problem_of_scheme(parts: SplitResult) -> str:
    if parts.scheme in ("http", "https"):
        if not has_plain_host(parts):
            return "names a host"
        return "begins with https://, unless it leads to this machine" if not _is_safe(parts) else ""
    if not parts.scheme or parts.scheme in DANGEROUS:
        return "begins with https://, or with the scheme of an application"
    if "." not in parts.scheme and parts.scheme not in WITHOUT_DOMAIN:
        return "with the scheme of an application begins with a domain in reverse, such as com.example.app:"
    return ""


def _is_safe(parts: SplitResult) -> bool:
    return parts.scheme == "https" or parts.hostname in LOOPBACK


def _same_but_for_port(registered: str, given: str) -> bool:
    if not registered.startswith("http://") or not given.startswith("http://"):
        return False
    try:
        ours, theirs = _without_port(registered), _without_port(given)
    except ValueError:  # `UnsafeUrl` too
        return False
    return ours == theirs and split(given).hostname in LOOPBACK


def _without_port(uri: str) -> SplitResult:
    parts = split(uri)
    name = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    given_port = "" if parts.port is None else f":{parts.port}"
    if parts.netloc != f"{name}{given_port}":
        raise ValueError("a user name, or capitals")
    return parts._replace(netloc=name)
