"""The areas of the service, one package each, and their shared kernel."""
