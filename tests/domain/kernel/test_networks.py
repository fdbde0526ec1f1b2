"""The networks that an address is counted with."""

import pytest

from app.domain.kernel.networks import networks_of


@pytest.mark.parametrize(
    ("address", "networks"),
    [
        ("192.0.2.7", ["192.0.2.7/32", "192.0.2.0/24"]),
        ("::ffff:192.0.2.7", ["192.0.2.7/32", "192.0.2.0/24"]),
        ("2001:db8:1:2ff::7", ["2001:db8:1:2ff::/64", "2001:db8:1:200::/56", "2001:db8:1::/48"]),
        ("unix socket", ["unix socket"]),
    ],
)
def test_an_address_belongs_to_these_networks(address: str, networks: list[str]) -> None:
    assert networks_of(address) == networks
