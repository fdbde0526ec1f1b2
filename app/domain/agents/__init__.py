"""Generation of message copy, by template or by a language model."""
