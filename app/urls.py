"""Reading a URL that a user, a client or an operator chose: the only place that splits one."""

from urllib.parse import SplitResult, urlsplit

UNSAFE = "must not hold spaces, control characters or backslashes"
NOT_ASCII = "must write its host in ASCII letters (a name with other letters in its xn-- form)"


class UnsafeUrl(ValueError):
    """A URL that two readers can understand differently; the text continues a sentence that begins with its name."""


def check(url: str) -> None:
    """Raise `UnsafeUrl` for a text with control characters, spaces or backslashes.

    `urlsplit` drops tabs and line breaks, and browsers read a backslash as a slash: such a text is compared as one
    URL and used as another, and a line break in a header begins the next header.
    """
    if not url.isprintable() or " " in url or "\\" in url:
        raise UnsafeUrl(UNSAFE)


def plain(url: str) -> str:
    """Return a URL that `check` has nothing against; raise `UnsafeUrl`."""
    check(url)
    return url


def split(url: str) -> SplitResult:
    """Return the parts of a URL, once `check` has passed; raise `UnsafeUrl`.

    A host in other letters than ASCII is refused: what it stands for depends on the reader (UTS 46).
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
