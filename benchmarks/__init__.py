"""Figures of the service, each against a floor that is measured in the same run on the same databases."""
