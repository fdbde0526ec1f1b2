"""Connections to the tools of an account: scheduling tools, and inbound webhooks."""
