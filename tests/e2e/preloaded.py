"""Loads the service and compiles its documents, so that processes forked from this one start quickly."""

from importlib import import_module

from app import gc

gc.pause()
for name in ("app.cli", "app.cli.execute", "app.worker", "tests.e2e.commands"):
    import_module(name)
import_module("app.main").rest_operations()
import_module("app.mcp.catalogue").catalogue()
