"""Writers that call a language model, at any endpoint with the protocol of OpenAI or of Anthropic."""
