"""Parses a user-supplied URL."""

import re
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import quote

import idna

from app.domain.webhooks.errors import InvalidUrl
from app.urls import UnsafeUrl, check

LENGTH = 2048
PORTS = {"https": 443, "http": 80}
PRINTABLE = "!#$%&'()*+,/:;=?@[]~"

PARTS = re.compile(  # RFC 3986, appendix B
    r"(?:(?P<scheme>[^:/?#]+):)?(?://(?P<authority>[^/?#]*))?(?P<path>[^?#]*)(?P<query>\?[^#]*)?(?P<fragment>#.*)?"
)
HOST_AND_PORT = re.compile(r"(?P<host>\[[^\]]*\]|[^:\[\]]*)(?::(?P<port>[0-9]*))?")
LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
NAME = re.compile(rf"(?:{LABEL}\.)*{LABEL}")
NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
HOST_LENGTH = 253


@dataclass(frozen=True, slots=True)
class Target:
    """The target of a request. `origin` is scheme, host and port; `head` its first lines without the method."""

    url: str
    origin: str
    secure: bool
    host: str
    port: int
    is_address: bool
    head: str


@lru_cache(maxsize=1024)
def read_url(url: str, allow_http: bool) -> Target:
    """Return the target of a URL; raise `InvalidUrl` with the reason."""
    parts = _split(url)
    scheme = _scheme(parts["scheme"], allow_http)
    host, port = _host_and_port(parts["authority"], scheme)
    name = f"[{host}]" if ":" in host else host
    authority = name if port == PORTS[scheme] else f"{name}:{port}"
    path = quote((parts["path"] or "/") + parts["query"], safe=PRINTABLE)
    normal = f"{scheme}://{authority}{path}"
    _require(len(normal) <= LENGTH, f"The URL is longer than {LENGTH} characters when it is encoded.")
    head = f" {path} HTTP/1.1\r\nhost: {authority}\r\n"
    return Target(
        normal, f"{scheme}://{name}:{port}", scheme == "https", host, port, ":" in host or _is_number(host), head
    )


def _split(url: str) -> dict[str, str]:
    _require(len(url) <= LENGTH, f"The URL has {len(url)} characters; at most {LENGTH} are taken.")
    try:
        check(url)
    except UnsafeUrl as fault:
        raise InvalidUrl(reason=f"The URL {fault}.") from None
    found = PARTS.fullmatch(url)
    assert found, "every text without line breaks is matched"
    parts = found.groupdict("")
    _require(not parts["fragment"], "The URL must not have a fragment (the part after #).")
    _require("@" not in parts["authority"], "The URL must not hold a user name or a password.")
    return parts


def _scheme(given: str, allow_http: bool) -> str:
    scheme = given.lower()
    allowed = ("https", "http") if allow_http else ("https",)
    _require(scheme in allowed, f"The URL must begin with {' or '.join(f'{each}://' for each in allowed)}.")
    return scheme


def _host_and_port(authority: str, scheme: str) -> tuple[str, int]:
    found = HOST_AND_PORT.fullmatch(authority)
    if found is None:
        raise InvalidUrl(reason="The URL has no valid host and port.")
    port = int(found["port"] or PORTS[scheme]) if len(found["port"] or "") <= 5 else 0
    _require(1 <= port <= 65535, "The port of the URL must be a number from 1 to 65535.")
    return _host(found["host"]), port


def _host(given: str) -> str:
    if given.startswith("["):
        return _ipv6(given[1:-1])
    host = _ascii(given.lower())
    _require(len(host) <= HOST_LENGTH and NAME.fullmatch(host) is not None, "The URL has no valid host name.")
    return _ipv4(host) if _is_number(host) else host


def _ascii(host: str) -> str:
    """Return the host in its DNS form (IDNA 2008, mapped by UTS 46: full-width digits become digits)."""
    if host.isascii() and "xn--" not in host:
        return host
    try:
        return idna.encode(host, uts46=True, std3_rules=True).decode().lower()
    except idna.IDNAError:
        raise InvalidUrl(reason="The URL has no valid host name.") from None


def _ipv4(host: str) -> str:
    """Refuse every form but four decimal numbers: a resolver would read 127.1 as 127.0.0.1."""
    try:
        return str(IPv4Address(host))
    except ValueError:
        raise InvalidUrl(reason="An IPv4 address in the URL must be four decimal numbers, as in 192.0.2.1.") from None


def _ipv6(host: str) -> str:
    try:
        address = IPv6Address(host)
    except ValueError:
        raise InvalidUrl(reason="The URL has no valid IPv6 address between its brackets.") from None
    _require(address.scope_id is None, "An IPv6 address in the URL must not name a zone.")
    return str(address)


def _is_number(host: str) -> bool:
    """Return whether a resolver would read a host as an IPv4 address: its last label is a number."""
    return NUMBER.fullmatch(host.rpartition(".")[2]) is not None


def _require(good: bool, reason: str) -> None:
    if not good:
        raise InvalidUrl(reason=reason)
