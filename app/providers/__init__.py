"""Implementations of the domain's ports: carriers, CRMs, scheduling tools, payments, writers, mail, outbound HTTP."""
