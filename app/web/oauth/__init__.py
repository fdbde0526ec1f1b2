"""The OAuth authorization server: authorization, tokens, registration and discovery."""
