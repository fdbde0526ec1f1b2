"""The metadata that migrations are compared with."""

import importlib
import json
import pkgutil
import subprocess
import sys

import pytest

import app
from app.db.base import Base

TABLES = """
import json
from app import gc
gc.pause()
from app.bootstrap import METADATA
print(json.dumps(sorted(METADATA.tables)))
"""


@pytest.mark.timeout(180)
def test_bootstrap_knows_the_tables_of_every_area() -> None:
    for module in pkgutil.walk_packages(app.__path__, "app."):
        if module.name != "app.__main__" and ".migrations" not in module.name:
            importlib.import_module(module.name)

    known = subprocess.run([sys.executable, "-c", TABLES], check=True, capture_output=True, text=True).stdout

    assert json.loads(known) == sorted(Base.metadata.tables)
