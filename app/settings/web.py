"""Settings of the web process: HTTPS, sessions, and bounds of connections, requests and their statements."""

from pathlib import Path
from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings

from app.settings.times import Time

FILE = "the path of a file"


class WebSettings(BaseSettings):
    """HTTPS, and bounds of connections, requests and their statements."""

    tls_cert: Path | None = Field(None, description=FILE)
    tls_key: Path | None = Field(None, description=FILE)
    max_connections: int = Field(2_000, ge=10, le=100_000)
    max_connections_per_address: int = Field(500, ge=1, le=100_000)
    request_head_seconds: Time = 10.0
    request_body_seconds: Time = 30.0
    keep_alive_seconds: Time = 75.0
    response_stall_seconds: Time = 30.0
    mcp_sessions: Literal["auto", "on", "off"] = "auto"
    statement_timeout_seconds: float = Field(10.0, ge=0.1, le=86_400)
