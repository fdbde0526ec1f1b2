"""Pages for browsers: sign-in, the account, and the OAuth authorization server."""
