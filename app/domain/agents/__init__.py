"""Writing texts, by template or by model."""
