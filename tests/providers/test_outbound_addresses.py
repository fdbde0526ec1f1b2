"""Which addresses may be posted to: every range that is not public, at both of its ends."""

from ipaddress import ip_network

import pytest

from app.providers.outbound.guard import Guard

NOBODY = Guard(allow_http=False, allow_networks=())

not_public = {
    "this network": "0.0.0.0/8",
    "private 10": "10.0.0.0/8",
    "carrier-grade NAT": "100.64.0.0/10",
    "loopback": "127.0.0.0/8",
    "link-local": "169.254.0.0/16",
    "private 172": "172.16.0.0/12",
    "IETF assignments": "192.0.0.0/24",
    "TEST-NET-1": "192.0.2.0/24",
    "6to4 relays": "192.88.99.0/24",
    "private 192": "192.168.0.0/16",
    "benchmarking": "198.18.0.0/15",
    "TEST-NET-2": "198.51.100.0/24",
    "TEST-NET-3": "203.0.113.0/24",
    "multicast": "224.0.0.0/4",
    "reserved": "240.0.0.0/4",
    "broadcast": "255.255.255.255/32",
    "unspecified v6": "::/128",
    "loopback v6": "::1/128",
    "IPv4-compatible": "::/96",
    "IPv4-mapped": "::ffff:0:0/96",
    "IPv4-translated": "::ffff:0:0:0/96",
    "NAT64": "64:ff9b::/96",
    "local NAT64": "64:ff9b:1::/48",
    "discard": "100::/64",
    "dummy": "100:0:0:1::/64",
    "IETF assignments v6": "2001::/23",
    "Teredo": "2001::/32",
    "benchmarking v6": "2001:2::/48",
    "ORCHID": "2001:10::/28",
    "ORCHIDv2": "2001:20::/28",
    "documentation v6": "2001:db8::/32",
    "6to4": "2002::/16",
    "newer documentation v6": "3fff::/20",
    "segment routing": "5f00::/16",
    "unassigned low": "4000::/3",
    "unassigned high": "a000::/3",
    "unique local": "fc00::/7",
    "link-local v6": "fe80::/10",
    "site-local": "fec0::/10",
    "multicast v6": "ff00::/8",
}

public = [
    "1.1.1.1",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.0",
    "192.0.3.0",
    "192.88.98.255",
    "192.88.100.0",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "203.0.112.255",
    "203.0.114.0",
    "223.255.255.255",
    "2000::1",
    "2001:200::1",
    "2001:db7:ffff::1",
    "2001:db9::1",
    "2001:4860:4860::8888",
    "2003::1",
    "2606:4700:4700::1111",
    "3ffe:ffff::1",
    "3fff:1000::1",
]

# What `ipaddress.is_global` of some Python versions takes for global, and what only stands for another address.
treacherous = [
    "169.254.169.254",
    "192.0.0.8",
    "192.88.99.1",
    "224.0.0.1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "64:ff9b::7f00:1",
    "64:ff9b::808:808",
    "2002:7f00:1::1",
    "2001:0:7f00:1::",
    "fd00:ec2::254",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
]


@pytest.mark.parametrize("network", not_public.values(), ids=not_public)
def test_no_address_of_a_range_that_is_not_public_is_allowed(network: str) -> None:
    found = ip_network(network)

    assert [NOBODY.allows(str(found[place])) for place in (0, found.num_addresses // 2, -1)] == [False] * 3


@pytest.mark.parametrize("address", public)
def test_the_neighbours_of_those_ranges_are_allowed(address: str) -> None:
    assert NOBODY.allows(address)


@pytest.mark.parametrize("address", treacherous)
def test_an_address_that_stands_for_another_or_is_easily_overlooked_is_not_allowed(address: str) -> None:
    assert not NOBODY.allows(address)


def test_a_network_of_the_settings_is_allowed_and_nothing_beside_it() -> None:
    guard = Guard(allow_http=False, allow_networks=[ip_network("10.1.0.0/16"), ip_network("fd00:1::/32")])

    allowed = {"10.1.0.1", "10.1.255.255", "fd00:1::1", "1.1.1.1"}
    asked = [*allowed, "10.2.0.0", "10.0.255.255", "fd00:2::1", "::ffff:10.1.0.1"]
    assert {address for address in asked if guard.allows(address)} == allowed
