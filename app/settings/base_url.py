"""Validation of `MESSAGING_BASE_URL`, and of loopback hosts."""

import re
from functools import lru_cache
from ipaddress import ip_address

from app.urls import split

BASE_URL = "https:// or http://, a host and perhaps a port, and nothing behind it, such as https://sms.example.com"
DEFAULT_PORTS = {"http": 80, "https": 443}

_NAME = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))*")


def normalize(text: str) -> str:
    """Return an address in lower case, without a slash at its end or the usual port; raise `ValueError`."""
    parts = split(text)
    host, port = parts.hostname or "", parts.port
    if parts.scheme not in DEFAULT_PORTS or "@" in parts.netloc or not is_host(host) or port == 0:
        raise ValueError("it is no address of a service")
    if parts.path not in ("", "/") or "?" in text or "#" in text:
        raise ValueError("something stands behind the host")
    place = f"[{host}]" if ":" in host else host
    usual = port is None or port == DEFAULT_PORTS[parts.scheme]
    return f"{parts.scheme}://{place}" if usual else f"{parts.scheme}://{place}:{port}"


def is_host(text: str) -> bool:
    """Return whether a text is a host: a name in ASCII, or an address of IPv4 or IPv6 without brackets."""
    return len(text) <= 253 and (_is_address(text) or bool(_NAME.fullmatch(text.lower())))


def is_loopback(host: str) -> bool:
    """Return whether a host is loopback; a name other than `localhost` may be any machine."""
    return host.lower() == "localhost" or (_is_address(host) and ip_address(host).is_loopback)


@lru_cache(maxsize=1024)
def is_loopback_authority(text: str) -> bool:
    """Return whether the value of a `Host` header names a loopback host, with or without a port."""
    try:
        parts = split(f"//{text}")
        return parts.netloc == text and parts.port != 0 and is_loopback(parts.hostname or "")
    except ValueError:
        return False


def _is_address(text: str) -> bool:
    try:
        return "%" not in text and bool(ip_address(text))
    except ValueError:
        return False
