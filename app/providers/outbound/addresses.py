"""Network addresses that outbound requests may reach.

The lists follow the IANA special-purpose registries (RFC 6890) and are stricter: an address that embeds another one
(NAT64, 6to4, Teredo, mapped) is always refused.
"""

from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

Network = IPv4Network | IPv6Network

LOOPBACK: Sequence[Network] = (ip_network("127.0.0.0/8"), ip_network("::1/128"))
"""Addresses also allowed in development."""

REFUSED_IPV4: Sequence[Network] = tuple(
    map(
        ip_network,
        (
            "0.0.0.0/8",  # this network; 0.0.0.0 reaches the host itself
            "10.0.0.0/8",  # private
            "100.64.0.0/10",  # carrier-grade NAT
            "127.0.0.0/8",  # loopback
            "169.254.0.0/16",  # link-local, and the metadata services of the clouds
            "172.16.0.0/12",  # private
            "192.0.0.0/24",  # IETF protocol assignments
            "192.0.2.0/24",  # documentation
            "192.88.99.0/24",  # 6to4 relays
            "192.168.0.0/16",  # private
            "198.18.0.0/15",  # benchmarking
            "198.51.100.0/24",  # documentation
            "203.0.113.0/24",  # documentation
            "224.0.0.0/4",  # multicast
            "240.0.0.0/4",  # reserved, and broadcast
        ),
    )
)

REFUSED_IPV6: Sequence[Network] = tuple(
    map(
        ip_network,
        (
            "::/3",  # ::, ::1, mapped and compatible IPv4, NAT64 (64:ff9b::/96, 64:ff9b:1::/48), discard (100::/64)
            "2001::/23",  # IETF protocol assignments: Teredo, benchmarking, ORCHID
            "2001:db8::/32",  # documentation
            "2002::/16",  # 6to4
            "3fff::/20",  # documentation
            "4000::/2",  # unassigned, and segment routing (5f00::/16)
            "8000::/1",  # unassigned, unique local, link-local, site-local, multicast
        ),
    )
)


def is_public(address: str) -> bool:
    """Return whether an address is public; raise `ValueError` for an invalid one."""
    found = ip_address(address)
    return not any(found in network for network in (REFUSED_IPV4 if found.version == 4 else REFUSED_IPV6))


def is_within(address: str, networks: Sequence[Network]) -> bool:
    """Return whether an address is in one of the networks; raise `ValueError` for an invalid one."""
    found = ip_address(address)
    return any(found in network for network in networks)
