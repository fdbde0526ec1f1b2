"""The requests of floods: the most expensive known ones, anonymous and with the key of another account."""

from collections.abc import Sequence

import orjson

from app.domain.accounts import keys
from app.domain.accounts.keys import KeyKind
from benchmarks.flood import NUMBER

Request = tuple[str, str, dict[str, str], str]
"""The method, the path, the headers and the body."""

JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"}

WORST = (
    "{account{" + "id " * 980 + "}}",
    "{" + "...{account{id}}" * 59 + "}",
    "{account{" + "id @skip(if:false) " * 120 + "}}",
    "".join(f"query q{n}{{...f}}" for n in range(140)) + "fragment f on Query{account{id}}",
    "{" + " ".join(f"a{n}: contacts(first: 1) {{ total_count }}" for n in range(9)) + "}",
)
"""Documents that are slow to parse and validate. The first four are refused after that; the last one runs."""

CONTACT = "id phone first_name last_name email tags pipeline_stage source status dnd_sms score created_at updated_at"
MESSAGE = "id contact_id conversation_id direction from_number to_number body status segments encoding credits cost"
DEAR = (
    f"{{ messages(first: 100) {{ nodes {{ {MESSAGE} contact {{ {CONTACT} }} }} }} "
    f"contacts(first: 100) {{ nodes {{ {CONTACT} label }} }} }}",
    f"{{ contacts(first: 200) {{ nodes {{ {CONTACT} {' '.join(f'a{n}: label' for n in range(30))} }} }} }}",
)
"""Documents that are slow to run, with nearly the maximum cost."""

LISTS = ("/contacts?limit=100", "/sms/logs?limit=100")
LARGE = 256 * 1024
TOKEN = "eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCIsImtpZCI6ImEifQ.eyJzdWIiOiIxIn0."


def of(key: str, cookie: str, form_token: str) -> dict[str, Sequence[Request]]:
    """Return the requests of each flood.

    `key` is the key of the sending account; `cookie` and `form_token` are those of a sign-in form.
    """
    own = {"X-API-Key": key}
    guess = f"email=ada{NUMBER}@example.com&password=long-enough-{NUMBER}&form_token={form_token}"
    return {
        "documents without a key": [_document(f"{text} #{NUMBER}", {}) for text in WORST],
        "documents": [_document(f"{text} #{NUMBER}", own) for text in WORST],
        "dear documents": [_document(text, own) for text in DEAR],
        "lists": [("GET", path, own, "") for path in LISTS],
        "balances": [_balance(own)],
        "new contacts": [("POST", "/contacts", {**JSON, **own}, orjson.dumps({"phone": f"+491511{NUMBER}"}).decode())],
        "large bodies": [_document("{ account { id } }", own, variables={"text": "x" * LARGE})],
        "large bodies without a key": [_document("{ account { id } }", {}, variables={"text": "x" * LARGE})],
        "bad keys": [_balance(headers) for _ in range(200) for headers in _bad_credentials()],
        "sign-ins": [("POST", "/login", {**FORM, "Cookie": cookie}, guess)],
        "registrations": [("POST", "/oauth/register", JSON, _registration())],
        "probes": [("GET", "/readyz", {}, "")],
    }


def _balance(headers: dict[str, str]) -> Request:
    return "GET", "/billing/balance", headers, ""


def _bad_credentials() -> Sequence[dict[str, str]]:
    return {"X-API-Key": keys.make(KeyKind.svc).text}, {"Authorization": f"Bearer {TOKEN}{NUMBER}"}


def _document(text: str, headers: dict[str, str], **others: object) -> Request:
    return "POST", "/graphql", {**JSON, **headers}, orjson.dumps({"query": text, **others}).decode()


def _registration() -> str:
    return orjson.dumps({"client_name": f"Flood {NUMBER}", "redirect_uris": ["http://127.0.0.1/callback"]}).decode()
