"""The HTTP server of the web process: uvicorn's protocols with limits."""
