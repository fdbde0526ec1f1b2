"""Carriers: who brings texts to handsets."""
