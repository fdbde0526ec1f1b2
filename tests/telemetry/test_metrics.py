"""Figures: what was counted, what is looked up, and what several processes counted."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from app.telemetry.metrics import ERRORS, Source, render

pytestmark = pytest.mark.anyio

PROJECT = Path(__file__).parents[2]


async def ages() -> Mapping[str, float]:
    """Give the age of the oldest work of two topics."""
    return {"messages": 1.5, "events": 0.0}


async def unavailable() -> Mapping[str, float]:
    """Fail as a database that is away does."""
    raise ConnectionError("no database")


async def test_figures_that_were_counted_are_told() -> None:
    ERRORS.labels("only_in_this_test").inc()
    ERRORS.labels("only_in_this_test").inc()

    text = (await render()).decode()

    assert 'messaging_errors_total{code="only_in_this_test"} 2.0\n' in text


async def test_figures_are_looked_up_when_they_are_asked_for() -> None:
    text = (await render([Source("messaging_due_seconds", "Age of the oldest due work.", "topic", ages)])).decode()

    assert text.endswith(
        "# HELP messaging_due_seconds Age of the oldest due work.\n"
        "# TYPE messaging_due_seconds gauge\n"
        'messaging_due_seconds{topic="messages"} 1.5\n'
        'messaging_due_seconds{topic="events"} 0.0\n'
    )


async def test_a_source_that_fails_hides_no_other_figure() -> None:
    sources = [Source("broken", "Nothing.", "topic", unavailable), Source("whole", "Something.", "topic", ages)]

    with capture_logs() as logs:
        text = (await render(sources)).decode()

    assert 'whole{topic="messages"} 1.5\n' in text
    assert "broken{" not in text
    assert [(entry["event"], entry["source"]) for entry in logs] == [("metrics_source_failed", "broken")]


def test_one_process_tells_the_figures_of_all(tmp_path: Path) -> None:
    def python(code: str) -> str:
        environment = os.environ | {"PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
        command = [sys.executable, "-c", f"import asyncio; from app.telemetry import metrics; {code}"]
        return subprocess.run(command, cwd=PROJECT, env=environment, check=True, capture_output=True, text=True).stdout

    python("metrics.SENDS.labels('sent').inc(3)")
    python("metrics.SENDS.labels('sent').inc(4)")

    text = python(f"print(asyncio.run(metrics.render(folder={str(tmp_path)!r})).decode())")

    assert 'messaging_sends_total{result="sent"} 7.0\n' in text


def test_the_gauges_of_a_killed_process_are_not_counted(tmp_path: Path) -> None:
    begin = "import os; from app.telemetry.metrics import WEBHOOKS_IN_FLIGHT; WEBHOOKS_IN_FLIGHT.inc(2); "
    render_all = (
        f"import asyncio; from app.telemetry.metrics import render; asyncio.run(render(folder={str(tmp_path)!r}))"
    )
    environment = os.environ | {"PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}

    def python(code: str) -> str:
        command = [sys.executable, "-c", code]
        return subprocess.run(command, cwd=PROJECT, env=environment, check=True, capture_output=True, text=True).stdout

    python(f"{begin}os._exit(0)")
    alive = python(f"{begin}{render_all.replace('asyncio.run(', 'print(asyncio.run(', 1)}.decode())")

    assert "messaging_webhooks_in_flight 2.0\n" in alive
