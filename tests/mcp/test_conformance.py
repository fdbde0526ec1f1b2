"""The conformance suite of the protocol passes: with fixtures in both eras, and the shipped server by itself."""

from pathlib import Path

import pytest

from app.domain.onboarding.service import Opened
from app.mcp import server as protocol
from app.settings import Settings
from tests.mcp.conformance import run_suite, serving_with_key, with_fixtures

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore:.*deprecated")]

EXCUSED = """
server:
  - server-stateless:sep-2575-server-rejects-undeclared-capability
  - server-stateless:sep-2575-missing-capability-http-400
  - server-stateless:sep-2575-http-server-no-independent-requests-on-stream
  - server-stateless:sep-2575-server-no-log-without-loglevel
  - server-stateless:sep-2575-server-sends-prompts-list-changed-on-subscription
  - server-stateless:sep-2575-server-sends-tools-list-changed-on-subscription
"""
"""Checks that call fixtures."""

STATELESS = ("--scenario", "server-stateless", "--spec-version", "2026-07-28")
SHIPPED = {
    "2026-07-28": (
        "tools-list",
        "prompts-list",
        "resources-list",
        "caching",
        "dns-rebinding-protection",
        "http-header-validation",
        "sep-2164-resource-not-found",
    ),
    "2025-11-25": ("server-initialize", "ping"),
}


@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25"])
async def test_every_requirement_of_a_revision_is_met(
    settings: Settings, account: Opened, tmp_path: Path, revision: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(protocol, "handlers", with_fixtures)
    async with serving_with_key(settings.model_copy(update={"mcp_sessions": "on"}), account.svc_key) as address:
        code, output = await run_suite(tmp_path, address, "--requirements", revision)

    assert code == 0, output


async def test_the_shipped_server_conforms_by_itself(settings: Settings, account: Opened, tmp_path: Path):
    baseline = tmp_path / "excused.yml"
    baseline.write_text(EXCUSED)
    async with serving_with_key(settings, account.svc_key) as address:
        runs = [await run_suite(tmp_path, address, *STATELESS, "--expected-failures", str(baseline))]
        for revision, scenarios in SHIPPED.items():
            for scenario in scenarios:
                runs.append(await run_suite(tmp_path, address, "--scenario", scenario, "--spec-version", revision))

    assert [output for code, output in runs if code] == []
