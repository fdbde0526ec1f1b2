"""Consent of phones: recognition of opt-outs and opt-ins, suppressions, consent records, holds."""
