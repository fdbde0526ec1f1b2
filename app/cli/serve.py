"""`messaging serve`: databases, web and worker under one supervisor."""

import asyncio
import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import typer

from app import gc
from app.cli import runtime
from app.cli.profile import ask_profile
from app.db import schema
from app.domain.accounts import sql as accounts
from app.domain.carriers import sql as carriers
from app.embedded.children import Child, run
from app.embedded.servers import Servers
from app.server import sockets, tls
from app.settings import Settings, environment
from app.settings.secret_key import KEY_FILE, read
from app.telemetry import logs

METRICS = "metrics"
ROLES, SMPP = ("web", "worker"), "smpp"


def serve(settings: Settings) -> int:
    """Run databases, web and worker until SIGTERM or SIGINT; return the exit code.

    Raises `UnsafeStart`, `InvalidCertificate`, `InvalidKeyFile`, `PortTaken` or `EmbeddedError` before it starts any
    process.
    """
    logs.configure(settings.log_format, settings.log_level)
    settings = environment.for_serve(settings)
    environment.check(settings)
    tls.check(settings.tls_cert, settings.tls_key)
    sockets.close(sockets.bind(settings.host, settings.port))  # fail before anything is started
    if settings.secret_key is None and (kept := settings.data / KEY_FILE).exists():
        read(kept)
    servers = Servers.start(settings.data, database_url=settings.database_url, redis_url=settings.redis_url)
    with ExitStack() as stack:
        stack.callback(servers.stop)
        addresses = {"database_url": servers.database_url, "redis_url": servers.redis_url}
        settings = settings.model_copy(update=addresses)
        settings = ask_profile(settings, lambda: not asyncio.run(_is_set_up(servers.database_url)))
        stack.callback(runtime.remember(settings).unlink, missing_ok=True)
        env = _environment(settings)
        return run(_children(settings, env), lambda: _prepare(settings), servers.supervised())


def _children(settings: Settings, env: Mapping[str, str]) -> Sequence[Child]:
    """Return the processes of the service; one for SMPP only runs where there is such a connection."""

    def has_smpp() -> bool:
        return bool(asyncio.run(schema.find_value(settings.database_url or "", carriers.HAS_ROLE, SMPP)))

    wanted = {**dict.fromkeys(ROLES), SMPP: has_smpp}
    return [Child(role, [sys.executable, "-m", "app", role], env, wanted[role]) for role in wanted]


def _environment(settings: Settings) -> dict[str, str]:
    figures = settings.data / METRICS
    shutil.rmtree(figures, ignore_errors=True)
    figures.mkdir()
    return {
        **os.environ,
        "DATABASE_URL": settings.database_url or "",
        "REDIS_URL": settings.redis_url or "",
        "PORT": str(settings.port),
        "MESSAGING_DATA": str(settings.data.absolute()),
        "MESSAGING_ENVIRONMENT": settings.environment,
        "MESSAGING_MCP_SESSIONS": "off" if settings.mcp_sessions == "off" else "on",
        **_tls(settings),
        "PROMETHEUS_MULTIPROC_DIR": str(figures.absolute()),
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }


def _tls(settings: Settings) -> dict[str, str]:
    files = {"MESSAGING_TLS_CERT": settings.tls_cert, "MESSAGING_TLS_KEY": settings.tls_key}
    return {name: str(path.absolute()) for name, path in files.items() if path}


def _prepare(settings: Settings) -> None:
    """Migrate while the children load and wait for it. On the first start, create an account and print it."""
    opened = None if asyncio.run(_is_set_up(settings.database_url or "")) else _set_up(settings)
    if opened:
        exports = _export_data(settings) + _export_path(Path(sys.executable).with_name("messaging"))
        typer.echo(WELCOME.format(url=settings.public_url, exports=exports, **opened))
    else:
        typer.echo(f"Serving at {settings.public_url}")
    if not asyncio.run(schema.find_value(settings.database_url or "", carriers.REACHES_PHONES)):
        typer.echo(SANDBOX_ONLY)
    gc.settle()


async def _is_set_up(url: str) -> bool:
    """Return whether the database is migrated and has an account; importing the setup code is slow."""
    return bool(await schema.find_value(url, accounts.HAS_ACCOUNTS))


def _set_up(settings: Settings) -> dict[str, Any] | None:
    from app.cli.setup import migrate, open_first_account

    asyncio.run(migrate(settings))
    return asyncio.run(open_first_account(settings))


def _export_data(settings: Settings) -> str:
    """Return the export of MESSAGING_DATA for commands in another terminal; empty for the default folder."""
    if settings.data == Settings.model_fields["data"].default:
        return ""
    return f"\n  export MESSAGING_DATA={shlex.quote(str(settings.data.absolute()))}"


def _export_path(command: Path) -> str:
    """Return the export of PATH for commands in another terminal; empty if PATH has the folder of the command."""
    found = shutil.which(command.name)
    if found and Path(found).resolve() == command.resolve():
        return ""
    return f'\n  export PATH={shlex.quote(str(command.parent.absolute()))}:"$PATH"'


WELCOME = """
Serving at {url}

Your first account has {credits} credits and a sandbox number. This is shown once:

  sign in   {url}/login
  owner     {email}
  password  {password}

  export URL={url}
  export KEY={svc_key}
  export NUMBER={phone_number}{exports}

Paste the exports into a second terminal and follow the README from there.
"""

SANDBOX_ONLY = """
No text leaves this machine: only the sandbox is connected, and it delivers to no phone.
Connect a carrier with `messaging carrier add`: docs/carriers.md
"""
