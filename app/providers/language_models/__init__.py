"""Writers that call a language model, at any endpoint that speaks the protocol of OpenAI or of Anthropic."""
