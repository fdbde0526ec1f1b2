"""Jobs of the worker: notifications, polling and slots."""
