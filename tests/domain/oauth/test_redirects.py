"""Which redirect URIs are taken, and which are the same."""

import pytest

from app.domain.oauth import redirects
from app.domain.oauth.redirects import InvalidRedirectUri


@pytest.mark.parametrize(
    "uri",
    [
        "https://app.example.com/callback",
        "https://app.example.com:8443/callback?tenant=1",
        "http://localhost:3000/callback",
        "http://127.0.0.1/callback",
        "http://[::1]:51234/",
        "com.example.app:/callback",
        "cursor://anysphere.cursor-mcp/oauth/callback",
    ],
)
def test_these_are_taken(uri: str):
    assert redirects.check_all([uri, uri]) == [uri]


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "/callback",
        "app.example.com/callback",
        "http://app.example.com/callback",
        "http://localhost.example.com/callback",
        "http://127.0.0.1.example.com/callback",
        "http://127.0.0.1@example.com/callback",
        "https://user@app.example.com/callback",
        "https:///callback",
        "https:callback",
        "https://app.example.com/#fragment",
        "https://app.example.com/#",
        "https://app.example.com/a b",
        "https://app.example.com/\n",
        "https://app.example.com/é",
        "https://app.example.com:99999/",
        "https://[::1/",
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "https://app.example.com/" + "x" * 2000,
    ],
)
def test_these_are_not(uri: str):
    with pytest.raises(InvalidRedirectUri):
        redirects.check_all([uri])


def test_a_client_has_one_to_twenty():
    uris = [f"https://app.example.com/{number}" for number in range(21)]

    assert redirects.check_all(uris[:20]) == uris[:20]
    for wrong in ([], uris):
        with pytest.raises(InvalidRedirectUri):
            redirects.check_all(wrong)


@pytest.mark.parametrize(
    ("registered", "given"),
    [
        ("https://app.example.com/callback", "https://app.example.com/callback"),
        ("http://127.0.0.1/callback", "http://127.0.0.1:51234/callback"),
        ("http://127.0.0.1:3000/callback", "http://127.0.0.1/callback"),
        ("http://localhost:3000/callback?x=1", "http://localhost:4000/callback?x=1"),
        ("http://[::1]/callback", "http://[::1]:51234/callback"),
    ],
)
def test_these_are_the_same(registered: str, given: str):
    assert redirects.allows([registered], given)


@pytest.mark.parametrize(
    ("registered", "given"),
    [
        ("https://app.example.com/callback", "https://app.example.com:8443/callback"),
        ("https://app.example.com/callback", "https://app.example.com/callback/"),
        ("https://app.example.com/callback", "https://app.example.com/Callback"),
        ("https://app.example.com/callback", "https://app.example.com/callback?x=1"),
        ("https://app.example.com/callback", "https://app.example.com.evil.example/callback"),
        ("http://127.0.0.1/callback", "http://localhost/callback"),
        ("http://127.0.0.1/callback", "https://127.0.0.1/callback"),
        ("http://127.0.0.1/callback", "http://127.0.0.1:51234/other"),
        ("http://127.0.0.1/callback", "http://127.0.0.1:x/callback"),
        ("http://127.0.0.1/callback", "http://127.0.0.1:51234@evil.example/callback"),
        ("http://127.0.0.1/callback", "http://user@127.0.0.1:51234/callback"),
        ("http://127.0.0.1/callback", "http://127.0.0.1:51234/callback#x"),
        ("http://localhost/callback", "http://localhost.evil.example/callback"),
        ("com.example.app:/callback", "com.example.app:/callback2"),
    ],
)
def test_these_are_not_the_same(registered: str, given: str):
    assert not redirects.allows([registered], given)


@pytest.mark.parametrize(
    ("uri", "known_by"),
    [
        ("https://app.example.com:8443/callback", "app.example.com"),
        ("http://127.0.0.1:51234/callback", "127.0.0.1"),
        ("com.example.app:/callback", "com.example.app:"),
        ("cursor://anysphere.cursor-mcp/callback", "cursor:"),
    ],
)
def test_a_person_is_told_where_it_leads(uri: str, known_by: str):
    assert redirects.host(uri) == known_by
