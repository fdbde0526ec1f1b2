"""Drip sequences: texts that follow one another, each some time after the one before."""
