"""Webhook subscriptions and the delivery of events to them."""
