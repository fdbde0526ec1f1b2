"""The contract over HTTP, server-sent events and WebSockets."""
