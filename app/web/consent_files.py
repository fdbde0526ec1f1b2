"""The evidence of a phone's consent, as a page that can be read and printed, and as JSON; in parts, of any length."""

import base64
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import orjson
from jinja2.environment import TemplateModule

from app.db.engine import Pool
from app.domain.consent import evidence
from app.domain.consent.evidence import EvidenceFile, Statement
from app.domain.consent.models import ConsentKind
from app.domain.kernel.events import timestamp
from app.web.browser import PAGES, TEMPLATES

STYLE = (PAGES / "consent.css").read_text()
STYLE_HASH = base64.b64encode(sha256(STYLE.encode()).digest()).decode()
"""The policy of the page allows this style sheet alone, which the page contains: a saved page needs no other file."""

MEANINGS = {
    ConsentKind.opt_in: "The person agreed to texts.",
    ConsentKind.opt_out: "The person opted out by a text.",
    ConsentKind.re_opt_in: "The person agreed to texts again, after an opt-out.",
    ConsentKind.opt_in_requested: "The person asked for texts, and was asked to confirm it. This alone is no consent.",
    ConsentKind.attested: "The sender certified prior express written consent.",
    ConsentKind.revoked_other: "The person took consent back.",
}
ACTORS = {
    "user": "user",
    "key": "API key",
    "grant": "connected application",
    "sequence": "drip sequence",
    "campaign": "campaign",
    "carrier": "carrier",
}


async def page(pool: Pool, head: EvidenceFile) -> AsyncGenerator[bytes]:
    """Yield the page as HTML, in parts."""
    module = TEMPLATES.get_template("consent.html").make_module(
        {"time_of": _time, "actor_of": _actor, "meanings": MEANINGS}
    )
    yield _part(module, "head", head, STYLE)
    count = 0
    async for statements in evidence.read(pool, head.account_id, head.consent.phone):
        yield _part(module, "rows", statements, count)
        count += len(statements)
    yield _part(module, "foot", count)


async def document(pool: Pool, head: EvidenceFile) -> AsyncGenerator[bytes]:
    """Yield the JSON document, in parts."""
    yield orjson.dumps(_facts(head))[:-1] + b',"records":['
    separator = b""
    async for statements in evidence.read(pool, head.account_id, head.consent.phone):
        yield separator + b",".join(orjson.dumps(_record(each)) for each in statements)
        separator = b","
    yield b"]}\n"


def _part(module: TemplateModule, name: str, *arguments: Any) -> bytes:
    return str(getattr(module, name)(*arguments)).encode()


def _facts(head: EvidenceFile) -> dict[str, Any]:
    suppression, hold = head.consent.suppression, head.consent.hold
    return {
        "phone": head.consent.phone,
        "account_id": head.account_id,
        "company_name": head.company_name,
        "scope": "account",
        "exported_at": timestamp(head.exported_at),
        "opted_out_at": timestamp(suppression.created_at) if suppression else None,
        "opt_out_reason": suppression.reason if suppression else None,
        "opt_out_keyword": suppression.keyword if suppression else None,
        "held_until": timestamp(hold.held_until) if hold else None,
    }


def _record(statement: Statement) -> dict[str, Any]:
    occurred_at = statement.occurred_at or statement.recorded_at
    at = {"occurred_at": timestamp(occurred_at), "recorded_at": timestamp(statement.recorded_at)}
    return {**statement._asdict(), **at}


def _time(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _actor(label: str) -> str:
    kind, _, which = label.partition(":")
    return f"{ACTORS[kind]} {which}" if kind in ACTORS else label
