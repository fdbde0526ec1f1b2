"""Reads templates and the fallbacks of placeholders."""

from tests.factories.tables import Rows

TEMPLATES = Rows("templates")
PLACEHOLDER_FALLBACKS = Rows("placeholder_fallbacks")
