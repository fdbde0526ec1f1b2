"""Checking the URL of a subscription: what is well formed, https, and could point to the public internet."""

import contextlib
from ipaddress import ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.webhooks.errors import InvalidUrl
from app.providers.outbound.addresses import LOOPBACK
from app.providers.outbound.guard import Guard

PRODUCTION = Guard(allow_http=False, allow_networks=())
DEVELOPMENT = Guard(allow_http=True, allow_networks=LOOPBACK)

normal_forms = {
    "https://example.com": "https://example.com/",
    "HTTPS://Example.COM/Path": "https://example.com/Path",
    "https://example.com:443/": "https://example.com/",
    "https://example.com:8443": "https://example.com:8443/",
    "https://example.com:/": "https://example.com/",
    "https://example.com?a=1": "https://example.com/?a=1",
    "https://example.com/a?b=c&d=%20%C3%A9+e": "https://example.com/a?b=c&d=%20%C3%A9+e",
    "https://example.com/@someone/a:b;c=1,2/~x/(y)/[z]!$'*": "https://example.com/@someone/a:b;c=1,2/~x/(y)/[z]!$'*",
    "https://example.com/é": "https://example.com/%C3%A9",
    'https://example.com/"<>': "https://example.com/%22%3C%3E",
    "https://bücher.example/": "https://xn--bcher-kva.example/",
    "https://BÜCHER.example/": "https://xn--bcher-kva.example/",
    "https://xn--bcher-kva.example/": "https://xn--bcher-kva.example/",
    "https://v2--site.example.com/": "https://v2--site.example.com/",
    "https://intranet/": "https://intranet/",
    "https://1.1.1.1/": "https://1.1.1.1/",
    "https://１．１．１．１/": "https://1.1.1.1/",
    "https://[2606:4700:4700:0:0::1111]:8443/": "https://[2606:4700:4700::1111]:8443/",
    "https://1.example.com/": "https://1.example.com/",
    "https://0x7f.example/": "https://0x7f.example/",
}

malformed = {
    "": "begin with https://",
    "example.com": "begin with https://",
    "//example.com/": "begin with https://",
    "http://example.com/": "begin with https://",
    "ftp://example.com/": "begin with https://",
    "javascript:alert(1)": "begin with https://",
    "file:///etc/passwd": "begin with https://",
    "https:": "no valid host name",
    "https:example.com": "no valid host name",
    "https:///example.com": "no valid host name",
    "https://": "no valid host name",
    "https://:443/": "no valid host name",
    "https://example.com#top": "fragment",
    "https://example.com/#": "fragment",
    "https://me@example.com/": "user name",
    "https://me:secret@example.com/": "user name",
    "https://@example.com/": "user name",
    "https://example.com:80@127.0.0.1/": "user name",
    "https://example.com:0/": "from 1 to 65535",
    "https://example.com:65536/": "from 1 to 65535",
    "https://example.com:000443/": "from 1 to 65535",
    "https://example.com:٤٤٣/": "no valid host and port",
    "https://example.com:-1/": "no valid host and port",
    "https://example.com:https/": "no valid host and port",
    "https://example.com:80:80/": "no valid host and port",
    "https://a[b]c/": "no valid host and port",
    "https://[::1/": "no valid host and port",
    "https://[::1]x/": "no valid host and port",
    " https://example.com/": "spaces",
    "https://example.com/ ": "spaces",
    "https://example.com/a b": "spaces",
    "https://exam\tple.com/": "spaces",
    "https://example.com/\r\nhost: evil": "spaces",
    "https://example.com/\x00": "spaces",
    "https://example.com/\x7f": "spaces",
    "https://example.com/\u00a0": "spaces",
    "https://example.com/\u2028": "spaces",
    "https://exam\u200bple.com/": "spaces",
    "https://example.com/\ud800": "spaces",
    "https://example.com\\@127.0.0.1/": "backslashes",
    "https://example.com/a\\b": "backslashes",
    "https://example..com/": "no valid host name",
    "https://.example.com/": "no valid host name",
    "https://example.com./": "no valid host name",
    "https://-example.com/": "no valid host name",
    "https://example-.com/": "no valid host name",
    "https://exa_mple.com/": "no valid host name",
    "https://exa%6dple.com/": "no valid host name",
    "https://exam*ple.com/": "no valid host name",
    "https://xn--a/": "no valid host name",
    "https://a\u0301\u0301.xn--zz--/": "no valid host name",
    "https://ex／ample.com/": "no valid host name",
    "https://ex＠ample.com/": "no valid host name",
    f"https://{'a' * 64}.com/": "no valid host name",
    f"https://{'a.' * 126}com/": "no valid host name",
    "https://[127.0.0.1]/": "no valid IPv6 address",
    "https://[]/": "no valid IPv6 address",
    "https://[v1.fe80]/": "no valid IPv6 address",
    "https://[::1%25eth0]/": "zone",
    "https://[fe80::1%eth0]/": "zone",
}

odd_spellings = {
    "https://2130706433/": "four decimal numbers",
    "https://0x7f000001/": "four decimal numbers",
    "https://0X7F.1/": "four decimal numbers",
    "https://0x7f.0x0.0x0.0x1/": "four decimal numbers",
    "https://127.1/": "four decimal numbers",
    "https://127.0.1/": "four decimal numbers",
    "https://017700000001/": "four decimal numbers",
    "https://0177.0.0.1/": "four decimal numbers",
    "https://127.0.0.01/": "four decimal numbers",
    "https://127.0.0.256/": "four decimal numbers",
    "https://1.2.3.4.5/": "four decimal numbers",
    "https://foo.0x/": "four decimal numbers",
    "https://foo.09/": "four decimal numbers",
    "https://１２７.1/": "four decimal numbers",
    "https://127.0.0.1./": "no valid host name",
    "https://127.0.0.1/": "points to 127.0.0.1",
    "https://１２７.０.０.１/": "points to 127.0.0.1",
    "https://127。0。0。1/": "points to 127.0.0.1",
    "https://①②⑦.0.0.1/": "points to 127.0.0.1",
    "https://169.254.169.254/latest/meta-data": "points to 169.254.169.254",
    "https://0.0.0.0/": "points to 0.0.0.0",
    "https://10.0.0.1:8443/": "points to 10.0.0.1",
    "https://[::]/": "points to ::,",
    "https://[::1]/": "points to ::1,",
    "https://[0:0:0:0:0:0:0:1]/": "points to ::1,",
    "https://[::ffff:127.0.0.1]/": "points to ::ffff:",
    "https://[::ffff:7f00:1]/": "points to ::ffff:",
    "https://[::127.0.0.1]/": "points to ::",
    "https://[64:ff9b::127.0.0.1]/": "points to 64:ff9b::",
    "https://[fe80::1]/": "points to fe80::1",
    "https://[fd00:ec2::254]/": "points to fd00:ec2::254",
    "https://localhost/": "points to localhost",
    "https://LOCALHOST/": "points to localhost",
    "https://ⓛocalhost/": "points to localhost",
    "https://api.localhost/": "points to api.localhost",
}


@pytest.mark.parametrize("url", normal_forms)
def test_a_good_url_is_returned_in_its_normal_form(url: str) -> None:
    assert PRODUCTION.check(url) == normal_forms[url]


@pytest.mark.parametrize("url", normal_forms.values())
def test_a_normal_form_is_its_own_normal_form(url: str) -> None:
    assert PRODUCTION.check(url) == url


@pytest.mark.parametrize(("url", "reason"), (malformed | odd_spellings).items())
def test_any_other_url_is_refused_with_its_reason(url: str, reason: str) -> None:
    with pytest.raises(InvalidUrl) as refused:
        PRODUCTION.check(url)

    assert reason in str(refused.value)


def test_a_refusal_is_a_422_of_its_own_code() -> None:
    with pytest.raises(InvalidUrl) as refused:
        PRODUCTION.check("http://example.com/")

    assert (refused.value.status, refused.value.code) == (422, "invalid_url")
    assert str(refused.value) == "The URL must begin with https://."


@pytest.mark.parametrize("url", ["http://example.com/", "http://127.0.0.1:8000/hook", "http://localhost:8000/"])
def test_in_development_http_and_loopback_are_good(url: str) -> None:
    assert DEVELOPMENT.check(url) == url


def test_http_has_port_80_where_none_is_named() -> None:
    assert DEVELOPMENT.check("http://example.com:80/") == "http://example.com/"
    assert DEVELOPMENT.check("http://example.com:443/") == "http://example.com:443/"


@pytest.mark.parametrize("url", ["http://10.0.0.1/", "http://169.254.169.254/", "http://[::ffff:127.0.0.1]/"])
def test_in_development_other_networks_stay_refused(url: str) -> None:
    with pytest.raises(InvalidUrl):
        DEVELOPMENT.check(url)


def test_an_address_of_an_allowed_network_is_good() -> None:
    guard = Guard(allow_http=False, allow_networks=[ip_network("10.1.0.0/16")])

    assert guard.check("https://10.1.2.3/") == "https://10.1.2.3/"


def test_a_url_may_have_2048_characters_and_no_more() -> None:
    longest = f"https://example.com/{'a' * 2028}"

    assert PRODUCTION.check(longest) == longest
    with pytest.raises(InvalidUrl, match="has 2049 characters; at most 2048"):
        PRODUCTION.check(f"{longest}a")


def test_a_url_that_is_too_long_only_when_it_is_encoded_is_refused() -> None:
    with pytest.raises(InvalidUrl, match="longer than 2048 characters when it is encoded"):
        PRODUCTION.check(f"https://example.com/{'é' * 400}")


hosts = st.text(alphabet="019afx.:[]%-éｌ①。/@\\# \t", max_size=24)


@given(st.text() | hosts.map("https://{}".format) | hosts.map("https://[{}]/".format))
def test_any_text_is_refused_or_has_a_stable_normal_form(url: str) -> None:
    with contextlib.suppress(InvalidUrl):
        normal = PRODUCTION.check(url)

        assert PRODUCTION.check(normal) == normal
        assert normal.isascii()
        assert normal.startswith("https://")
