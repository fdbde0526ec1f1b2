"""A backup as docs/operating.md makes it, restored on an empty data folder."""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.e2e.conftest import Served
from tests.e2e.pages import SHELLS
from tests.e2e.processes import ROOT, await_ready, examples, free_port, starting, until
from tests.e2e.terminals import terminal

BLOCKS = examples((ROOT / "docs" / "operating.md").read_text())
[BACKUP] = [block.commands for block in BLOCKS if "pg_dump" in block.commands]
[RESTORE] = [block.commands for block in BLOCKS if block.mark == "restore"]
VARIABLES = "\n".join(line for line in BACKUP.splitlines() if line.startswith(("backup=", "PATH=")))
"""The assignments that the block of the restore takes from that of the backup."""


def run(shell: str, script: str, folder: Path, env: Mapping[str, str]) -> None:
    done = subprocess.run([shell, "-e", "-c", script], cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_backup_is_restored_on_an_empty_data_folder_in_each_shell(tmp_path: Path) -> None:
    with terminal(tmp_path), starting(tmp_path) as start:
        port = free_port()
        served = Served(tmp_path, port, start("serve", PORT=port, MESSAGING_DATA=tmp_path / "data"), start)
        await_ready(served.url, served.process)
        served.welcome = until(lambda: served.process.output if "Paste the exports" in served.process.output else "")
        env = served.environment()
        served.ask("POST", "/contacts", env["KEY"], {"phone": "+12025550143", "first_name": "Ann"})
        run(SHELLS[0], BACKUP, tmp_path, env)
        served.process.stop()

        [backup] = (tmp_path / "messaging-backups").iterdir()
        shutil.rmtree(served.data)
        served.data.mkdir()
        shutil.copy(backup / "secret.key", served.data)
        served.again()
        until(lambda: "Your first account" in served.process.output)
        for shell in SHELLS:
            run(shell, f"{VARIABLES}\n{RESTORE}", tmp_path, env)
        served.process.stop()
        served.again()
        contacts = served.ask("GET", "/contacts", env["KEY"])

    assert [each["first_name"] for each in contacts["data"]] == ["Ann"]
    assert {path.stat().st_mode & 0o077 for path in backup.iterdir()} == {0}
