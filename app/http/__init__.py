"""What stands between the network and the surfaces: limits of connections, hosts, and headers of every answer."""
