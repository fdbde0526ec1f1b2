"""The networks that an address belongs to, for what counts by address."""

from ipaddress import IPv6Address, ip_address, ip_network

WIDTHS = {4: (32, 24), 6: (64, 56, 48)}
"""The prefixes that count: what one customer has whole, and what a provider gives out together."""

GROWTH = 4
"""How many times as much each wider network may do as the one within it."""


def networks_of(address: str) -> list[str]:
    """Return the networks of an address, the narrowest first; a text that is no address is one of its own."""
    try:
        known = ip_address(address)
    except ValueError:
        return [address]
    if isinstance(known, IPv6Address):
        known = known.ipv4_mapped or known
    return [str(ip_network((known.packed, width), strict=False)) for width in WIDTHS[known.version]]
