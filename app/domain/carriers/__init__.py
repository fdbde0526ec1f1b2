"""Carriers: the providers that deliver messages to phones, and the connections to them."""
