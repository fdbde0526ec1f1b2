"""Deliverability of sending numbers: results summed up by the hour, delivery rates and health."""
