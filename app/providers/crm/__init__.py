"""Adapters of CRMs, one module each."""
