"""Drip sequences: messages sent one after the other, with a delay before each."""
