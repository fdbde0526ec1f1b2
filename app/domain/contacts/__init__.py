"""Contacts, their tags, stages, scores and opt-outs."""
