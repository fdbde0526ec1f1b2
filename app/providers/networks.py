"""Whose an address of the network is, for what counts by address."""

from ipaddress import IPv6Address, ip_address

NETWORK_BITS = 64


def network_of(address: str) -> str:
    """Return what an address counts as: an IPv6 one as its network of 64 bits, which one person has whole."""
    try:
        known = ip_address(address)
    except ValueError:
        return address
    if not isinstance(known, IPv6Address):
        return str(known)
    return str(known.ipv4_mapped or int(known) >> NETWORK_BITS)
