"""The addresses of the running service, stored in the data folder."""

import asyncio
from pathlib import Path

import orjson

from app.embedded.locks import is_claimed
from app.settings import Settings
from app.settings.secret_key import KEY_FILE

FILE = "running.json"


class NotRunning(Exception):
    """No service runs on the data folder, and no database is configured."""


class MissingKeyFile(Exception):
    """The data folder has no secret key, and the database has accounts whose secrets depend on one."""


def remember(settings: Settings) -> Path:
    """Store the addresses of the service for other commands."""
    path = settings.data / FILE
    path.touch(mode=0o600)
    path.write_bytes(
        orjson.dumps(
            {
                "database_url": settings.database_url,
                "redis_url": settings.redis_url,
                "base_url": settings.public_url,
                "environment": settings.environment,
                **{name: path and str(path.absolute()) for name, path in _tls(settings).items()},
            }
        )
    )
    return path


def find(settings: Settings) -> Settings:
    """Return the settings with the addresses of the running service; raise `NotRunning` or `MissingKeyFile`."""
    if settings.database_url and settings.redis_url:
        _check_key(settings)
        return settings
    path = settings.data / FILE
    if not path.exists() or not is_claimed(settings.data):  # a killed service leaves the file
        raise NotRunning(
            f"No service runs on {settings.data.absolute()}. Start one with `messaging serve`, "
            "name its data folder with MESSAGING_DATA, or set DATABASE_URL and REDIS_URL."
        )
    known = orjson.loads(path.read_bytes())
    addresses = {
        "database_url": settings.database_url or known["database_url"],
        "redis_url": settings.redis_url or known["redis_url"],
        "base_url": settings.base_url or known["base_url"],
        "environment": known["environment"],
    }
    tls = {name: path or (Path(known[name]) if known[name] else None) for name, path in _tls(settings).items()}
    return settings.model_copy(update=addresses | tls)


def _check_key(settings: Settings) -> None:
    """Raise `MissingKeyFile` where a new secret key would be made for a database that has accounts."""
    if settings.secret_key or not settings.in_development or (settings.data / KEY_FILE).exists():
        return
    from app.db import schema  # slow to import, and rarely needed
    from app.domain.accounts import sql as accounts

    if asyncio.run(schema.find_value(settings.database_url or "", accounts.HAS_ACCOUNTS)):
        raise MissingKeyFile(
            f"{settings.data.absolute()} has no {KEY_FILE}, with which the accounts of the database were created. "
            "Name the data folder of the service with MESSAGING_DATA, or set MESSAGING_SECRET_KEY."
        )


def _tls(settings: Settings) -> dict[str, Path | None]:
    return {"tls_cert": settings.tls_cert, "tls_key": settings.tls_key}
