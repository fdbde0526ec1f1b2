"""Loads the service and does what its processes do once, so that processes forked from this one start quickly."""

from importlib import import_module

from sqlalchemy.orm import configure_mappers

from app import gc

gc.pause()
for name in ("app.cli.execute", "app.cli.serve", "app.db.migrate", "app.worker", "tests.e2e.commands"):
    import_module(name)
configure_mappers()
import_module("app.main").rest_operations()
import_module("app.mcp.catalogue").catalogue()
import_module("app.web.crm_page").document()
import_module("app.domain.consent.recognition").classify("Hello, who is this?")
import_module("app.providers.outbound.client")._trusting_public_roots()
