"""Placeholders that the account supplies."""

from app.domain.kernel.placeholders import PlaceholderName

PLACEHOLDERS = (PlaceholderName("company_name", "The company name of the account.", "Blue Door"),)
