"""HTTP client for user-supplied URLs, restricted to public addresses (SSRF protection)."""
