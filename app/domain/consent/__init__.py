"""Consent: recognition of opt-outs and opt-ins in replies."""
