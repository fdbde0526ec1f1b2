"""Maps a client address to the network prefixes that limits count by."""

from ipaddress import IPv6Address, ip_address, ip_network

WIDTHS = {4: (32, 24), 6: (64, 56, 48)}
"""The prefix lengths by IP version: from one customer's network to a provider's allocation."""

GROWTH = 4
"""The factor between the limit of a network and that of the next wider one."""


def networks_of(address: str) -> list[str]:
    """Return the networks of an address, narrowest first; for a text that is not an address, the text itself."""
    try:
        known = ip_address(address)
    except ValueError:
        return [address]
    if isinstance(known, IPv6Address):
        known = known.ipv4_mapped or known
    return [str(ip_network((known.packed, width), strict=False)) for width in WIDTHS[known.version]]
