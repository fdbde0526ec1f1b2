"""Parsing of URLs from users, clients and operators; the only module that splits one."""

import re
from urllib.parse import SplitResult, parse_qsl, urlsplit

UNSAFE = "must not hold spaces, control characters or backslashes"
MISREAD = "must write the characters #, /, ?, @ and : of a user or password as %23, %2F, %3F, %40 and %3A"
NOT_ASCII = "must write its host in ASCII letters (a name with other letters in its xn-- form)"


class UnsafeUrl(ValueError):
    """A URL that parsers may interpret differently; the text continues a sentence that begins with its name."""


def check(url: str) -> None:
    """Raise `UnsafeUrl` for a text with control characters, spaces or backslashes.

    `urlsplit` drops tabs and line breaks, and browsers read a backslash as a slash, so that such a text would be
    compared as one URL and used as another. A line break would also start a new header.
    """
    if not url.isprintable() or " " in url or "\\" in url:
        raise UnsafeUrl(UNSAFE)


_SERVER = re.compile(r"(\[[^\[\]@]+\]|[^\[\]@:]*)(:[0-9]{1,5})?")
_MOST_PORT = 65535


def server(url: str) -> str:
    """Return the unchanged URL of one or more servers; raise `UnsafeUrl` for an ambiguous one.

    Libraries misread the rest of a password after an unescaped `#` or `/`, and repeat it in their errors.
    """
    check(url)
    try:
        parts = urlsplit(url)
        options = dict(parse_qsl(parts.query, strict_parsing=bool(parts.query)))
    except ValueError:
        raise UnsafeUrl(MISREAD) from None
    hosts = [_SERVER.fullmatch(each) for each in parts.netloc.rpartition("@")[2].split(",")]
    ports = [*((found[2] or "")[1:] for found in hosts if found), *options.get("port", "").split(",")]
    is_odd = "#" in url or parts.netloc.count("@") > 1 or ("@" in parts.path and parts.scheme != "unix")
    if is_odd or None in hosts or not all(_is_port(port) for port in ports if port):
        raise UnsafeUrl(MISREAD)
    return url


def without_secrets(url: str) -> str:
    """Return the address of a server without user, password and options."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def _is_port(text: str) -> bool:
    return text.isdecimal() and 0 < int(text) <= _MOST_PORT


def split(url: str) -> SplitResult:
    """Check a URL and return its parts; raise `UnsafeUrl`.

    A host outside ASCII is refused, because its meaning depends on the parser (UTS 46).
    """
    check(url)
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - reading it is what checks it
    except ValueError:
        raise UnsafeUrl("is not a URL") from None
    if not parts.netloc.isascii():
        raise UnsafeUrl(NOT_ASCII)
    return parts
