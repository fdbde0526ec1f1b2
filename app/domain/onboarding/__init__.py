"""Opening accounts that can send at once."""
