"""Marks in the ASGI messages of WebSockets, between the application and the server."""

PRELIMINARY = "messaging.preliminary"
"""Marks a `websocket.send` to a client that has not proved its identity yet: its connection can still be evicted."""
