"""Links in a text, as phones show them."""

import pytest

from app.domain.kernel.links import find


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("See https://example.com/a?b=c#d, or not", [("https://example.com/a?b=c#d", "example.com")]),
        ("“https://example.com”.", [("https://example.com", "example.com")]),
        ("(www.example.com/x_)", [("www.example.com/x_", "www.example.com")]),
        ("HTTP://ANN@Example.COM:80/", [("HTTP://ANN@Example.COM:80/", "example.com")]),
        (
            "bit.ly/abc and shop.example.co.uk!",
            [("bit.ly/abc", "bit.ly"), ("shop.example.co.uk", "shop.example.co.uk")],
        ),
        ("http://203.0.113.7/a", [("http://203.0.113.7/a", "203.0.113.7")]),
        ("xn--bcher-kva.de bücher.de", [("xn--bcher-kva.de", "xn--bcher-kva.de"), ("bücher.de", "bücher.de")]),
        ("t.co/x is.gd/y", [("t.co/x", "t.co"), ("is.gd/y", "is.gd")]),
        ("https://example.com/\u200b", [("https://example.com/", "example.com")]),
        ("Thanks.It is done.So what e.g. 3.5 a.m. Mr.Lee", []),
        ("ann@example.com", []),
        ("No link", []),
        ("https://", []),
    ],
)
def test_links_are_found_with_their_hosts_and_without_punctuation(text: str, found: list[tuple[str, str]]) -> None:
    assert [(text[link.start : link.end], link.host) for link in find(text)] == found
