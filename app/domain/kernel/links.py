"""Links in a text: URLs, and bare hosts such as example.com/sale, which phones show as links too."""

import re
import unicodedata
from typing import NamedTuple

ENDINGS = """
app biz blog ca click club co com de dev eu fr gd gg gl gov gy info io link live ly mobi mx name net news nl online org
page pro shop site store tech tel top travel tv uk us vip website work xyz
"""
"""Top-level domains after which a bare host is a link."""

WORDS = "ai am as at be cc do in is it la me my no so to ws"
"""Top-level domains that are words as well: a bare host that ends with one is a link only before a path."""

_endings, _words = frozenset(ENDINGS.split()), frozenset(WORDS.split())
_candidate = re.compile(
    r"(?:https?://|\bwww\.)\S+|(?<![@\w.-])[^\W_][\w-]*+(?:\.[\w-]++)++(?P<path>[/?#]\S*|:\d+\S*)?", re.IGNORECASE
)
_host = re.compile(r"(?:https?://)?(?:[^/?#@]*@)?(\[[^\]]*\]|[^/?#:]*)", re.IGNORECASE)
_hint = re.compile(r"\.\w|//")


class Link(NamedTuple):
    """A link, its place in the text, and its host in lower case."""

    start: int
    end: int
    host: str


def find(text: str) -> list[Link]:
    """Return the links of a text in order. Punctuation and quotes at their ends are not part of them."""
    if not _hint.search(text):
        return []
    return [_link(found) for found in _candidate.finditer(text) if not _is_bare(found) or _has_ending(found)]


def _is_bare(found: re.Match[str]) -> bool:
    return not found[0].lower().startswith(("http://", "https://", "www."))


def _has_ending(found: re.Match[str]) -> bool:
    host = found[0][: found.start("path") - found.start()] if found["path"] else found[0]
    ending = host.rpartition(".")[2].lower()
    return ending in _endings or (ending in _words and bool(found["path"]))


def _link(found: re.Match[str]) -> Link:
    url = found[0]
    size = len(url)
    while size and _is_end(url[size - 1]):
        size -= 1
    host = _host.match(url[:size])
    return Link(found.start(), found.start() + size, host[1].lower().strip(".") if host else "")


def _is_end(character: str) -> bool:
    """Return whether a link does not end with a character: punctuation but /, or one that is not seen."""
    category = unicodedata.category(character)
    return (category[0] == "P" and character not in "/-_%&#*@") or category == "Cf"
