"""Checks the envelope of REST responses."""

from typing import Any

import httpx2

DOCS = "http://127.0.0.1:8000/docs/errors"
KEY_HINT = " Send a key as 'Authorization: Bearer KEY' or 'X-API-Key: KEY'."


def data(answer: httpx2.Response) -> Any:
    """Return the data of a success; fail unless it has the envelope of one."""
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json"), answer.text
    body = answer.json()
    assert body == {"success": True, "data": body["data"]}
    assert answer.headers["x-request-id"]
    return body["data"]


def refusal(answer: httpx2.Response) -> tuple[int, str, str]:
    """Return the status, code and text of a refusal; fail unless it has the envelope of one."""
    assert answer.headers["content-type"] == "application/json", answer.text
    body = answer.json()
    code = body["error_code"]
    request_id = answer.headers["x-request-id"]
    rest = {"success": False, "docs": f"{DOCS}#{code}", "request_id": request_id}
    named = {"field": body["field"]} if body.get("field") else {}
    assert body == {"error": body["error"], "error_code": code, **rest, **named}
    return answer.status_code, code, body["error"]
