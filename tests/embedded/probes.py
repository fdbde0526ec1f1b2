"""Queries to the embedded servers, and waits for their processes."""

import asyncio
from pathlib import Path
from typing import Any

import asyncpg
import psutil

PATIENCE_SECONDS = 20


def ask(url: str, sql: str) -> Any:
    """Return the single value of a query."""

    async def fetch() -> Any:
        connection = await asyncpg.connect(url)
        try:
            return await connection.fetchval(sql)
        finally:
            await connection.close()

    return asyncio.run(fetch())


def runs(pid: int) -> bool:
    """Return whether a process runs; one that has ended may await its parent."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def servers_of(data: Path, *names: str) -> list[psutil.Process]:
    """Return every process of the servers of a data folder, or of those with the given folders in it."""
    folders = {data / name for name in names or ("postgres", "valkey")}
    return [process for process in psutil.process_iter() if _folder_of(process) in folders]


def _folder_of(process: psutil.Process) -> Path | None:
    try:
        return Path(process.cwd())
    except (psutil.Error, FileNotFoundError):
        return None
