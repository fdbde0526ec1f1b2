"""Checks of request heads beyond those of the parser."""

import re
from collections.abc import Sequence

import httptools

from app.domain.kernel.errors import HeadersTooLarge, InvalidRequest

VERSIONS = ("1.0", "1.1")
UPGRADING = (b"upgrade", b"http2-settings")
"""The headers of an upgrade, also named in `Connection`."""

_HOST = re.compile(rb"([A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?")


def check(version: str, url: bytes, headers: Sequence[tuple[bytes, bytes]], most_bytes: int) -> None:
    """Raise `HeadersTooLarge` or `InvalidRequest`; the names of `headers` are in lower case.

    Ambiguous requests are refused because a proxy may parse them differently (request smuggling, host confusion).
    """
    size = len(url)
    found: dict[bytes, list[bytes]] = {b"host": [], b"content-length": [], b"transfer-encoding": []}
    for name, value in headers:
        size += len(name) + len(value) + 4
        if name in found:
            found[name].append(value)
    if size > most_bytes:
        raise HeadersTooLarge()
    if version not in VERSIONS:
        raise InvalidRequest(reason="The version of HTTP is not 1.0 or 1.1")
    _check_target(url, _check_host(version, found[b"host"]))
    _check_length(version, found[b"content-length"], found[b"transfer-encoding"])


def names_websocket(headers: Sequence[tuple[bytes, bytes]]) -> bool:
    """Return whether the Upgrade header includes WebSocket."""
    return any(name == b"upgrade" and b"websocket" in value.lower() for name, value in headers)


def without_upgrade(method: bytes, url: bytes, version: str, headers: Sequence[tuple[bytes, bytes]]) -> bytes:
    """Return the head of a request without its upgrade headers, which a server may ignore (RFC 9110, 7.8)."""
    lines = [b"%b %b HTTP/%b" % (method, url, version.encode())]
    for name, value in headers:
        if name == b"connection":
            tokens = [token.strip() for token in value.split(b",")]
            value = b", ".join(token for token in tokens if token.lower() not in UPGRADING)
        if name not in UPGRADING:
            lines.append(b"%b: %b" % (name, value))
    return b"\r\n".join([*lines, b"", b""])


def check_has_no_body(headers: Sequence[tuple[bytes, bytes]]) -> None:
    """Raise `InvalidRequest` for a body with `Upgrade: websocket`, which a proxy may parse differently."""
    framing = {name: value for name, value in headers if name in (b"content-length", b"transfer-encoding")}
    if framing.pop(b"content-length", b"0").strip(b"0") or framing:
        raise InvalidRequest(reason="A request with Upgrade must not have a body")


def _check_host(version: str, hosts: Sequence[bytes]) -> bytes:
    if not hosts and version == "1.0":
        return b""
    if len(hosts) != 1 or not _HOST.fullmatch(hosts[0]):
        raise InvalidRequest(reason="A request must name one host, in one Host header")
    return hosts[0]


def _check_target(url: bytes, host: bytes) -> None:
    """Raise `InvalidRequest` unless the target is a path or a URL of the same host."""
    if url.startswith(b"/"):
        return
    scheme, _, rest = url.partition(b"://")
    authority, slash, _ = rest.partition(b"/")
    if scheme.lower() not in (b"http", b"https") or not slash or authority != host:
        raise InvalidRequest(reason="The target of a request must be a path of the host in its Host header")
    try:
        httptools.parse_url(url)
    except httptools.HttpParserInvalidURLError:
        raise InvalidRequest(reason="The target of a request has a host or a port that no URL has") from None


def _check_length(version: str, lengths: Sequence[bytes], encodings: Sequence[bytes]) -> None:
    chunked = version == "1.1" and not lengths and [each.lower() for each in encodings] == [b"chunked"]
    if len(lengths) > 1 or (encodings and not chunked):
        raise InvalidRequest(reason="The body must have one length: one Content-Length, or chunked encoding")
