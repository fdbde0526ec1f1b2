"""A stand-in for Stripe: its API as far as the service calls it, idempotency keys, and signed events."""

import hmac
import itertools
import re
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import orjson

Json = dict[str, Any]

SECRET = "whsec_of_the_peer"
ID = re.compile(r"(?:cs|cus|in|pi|sub)_\w+")
CARD = {
    "id": "pm_1",
    "object": "payment_method",
    "type": "card",
    "card": {"brand": "visa", "last4": "4242", "exp_month": 8, "exp_year": 2030},
}


class StripePeer:
    """Customers, Checkout sessions, payments, plans, refunds and disputes; every change makes an event.

    `events` are the bodies of all events in the order in which they happened. `failures` is the number of requests that
    are answered with 500. While `refusal` is set, every request is answered with it, a status and a message. `before`
    is called with the parts of the path before a request is answered.
    """

    def __init__(self) -> None:
        self.objects: dict[str, Json] = {}
        self.events: list[bytes] = []
        self.failures = 0
        self.refusal: tuple[int, str] | None = None
        self.requests = 0
        self.before: Callable[[str, list[str]], object] = lambda _, __: None
        self._answers: dict[str, tuple[bytes, int, bytes]] = {}
        self._ids = itertools.count(1)

    def sign(self, body: bytes, at: float | None = None, secret: str = SECRET) -> str:
        """Return the header of a signed event."""
        stamp = int(at or time.time())
        mac = hmac.digest(secret.encode(), b"%d." % stamp + body, "sha256").hex()
        return f"t={stamp},v1={mac}"

    def pay(self, url: str, times: int = 1) -> str:
        """Pay on the page of a Checkout session; return the id of the payment, or of the subscription."""
        session = self.objects[url.rpartition("/")[2]]
        if session["mode"] == "payment":
            facts = session["_amount"], session["_payment_metadata"], session["customer"]
            intent = self._pay(*facts, session["payment_intent"])
            session |= {"status": "complete", "payment_status": "paid", "payment_intent": intent["id"]}
            self._emit("checkout.session.completed", session)
            return intent["id"]
        subscription = self._add(
            "subscription",
            "sub",
            customer=session["customer"],
            status="active",
            cancel_at_period_end=False,
            metadata=session["_plan_metadata"],
            items={
                "object": "list",
                "data": [
                    {
                        "object": "subscription_item",
                        "created": 1,
                        "current_period_end": int(time.time()) + 30 * 86400,
                        "price": {"object": "price", "unit_amount": session["_amount"], "currency": "usd"},
                    }
                ],
            },
        )
        session |= {"status": "complete", "subscription": subscription["id"]}
        self._emit("customer.subscription.created", subscription)
        for _ in range(times):
            self.renew(subscription["id"])
        self._emit("checkout.session.completed", session)
        return subscription["id"]

    def sell(self, metadata: Json) -> str:
        """Take a payment that another service started; return its id."""
        return self._pay(500, metadata, "cus_other")["id"]

    def decline(self, url: str) -> str:
        """Refuse a card on the page of a Checkout session, which stays open; return the id of the payment."""
        session = self.objects[url.rpartition("/")[2]]
        facts = {"amount": session["_amount"], "currency": "usd", "customer": session["customer"]}
        metadata = session["_payment_metadata"]
        intent = self._add("payment_intent", "pi", status="requires_payment_method", metadata=metadata, **facts)
        self._emit("charge.failed", self._charge(intent, "failed"))
        session["payment_intent"] = intent["id"]
        return intent["id"]

    def renew(self, subscription_id: str) -> str:
        """Pay a month of a plan; return the id of the payment."""
        subscription = self.objects[subscription_id]
        [item] = subscription["items"]["data"]
        intent = self._pay(item["price"]["unit_amount"], {}, subscription["customer"])
        self._settle_invoice(subscription, intent["amount"], {"type": "payment_intent", "payment_intent": intent["id"]})
        return intent["id"]

    def renew_through(self, subscription_id: str, kind: str) -> str:
        """Pay a month of a plan by a charge without a payment, or outside of Stripe; return the id of that object."""
        subscription = self.objects[subscription_id]
        [item] = subscription["items"]["data"]
        amount = item["price"]["unit_amount"]
        facts = {"amount": amount, "disputed": False, "created": int(time.time())}
        none = {"value": 0, "currency": "usd"} if kind == "payment_record" else 0
        paid = self._add(kind, {"charge": "ch", "payment_record": "pr"}[kind], amount_refunded=none, **facts)
        self._settle_invoice(subscription, amount, {"type": kind, kind: paid["id"]})
        return paid["id"]

    def add_item(self, subscription_id: str, reason: str = "subscription_update") -> None:
        """Add another item to a subscription, as a person does in Stripe's dashboard, and have its first days paid."""
        subscription = self.objects[subscription_id]
        [item] = subscription["items"]["data"]
        support = {"object": "price", "unit_amount": 5000, "currency": "usd"}
        subscription["items"]["data"].insert(0, item | {"created": 2, "price": support})
        self._emit("customer.subscription.updated", subscription)
        self._emit("invoice.paid", self._bill(subscription, reason, status="paid", amount_paid=700))

    def fail_to_renew(self, subscription_id: str) -> None:
        """Bill a month of a plan, refuse its card, and void the invoice."""
        invoice = self._bill(self.objects[subscription_id], status="draft", amount_paid=0)
        for type, status in (("created", "draft"), ("payment_failed", "open"), ("voided", "void")):
            invoice["status"] = status
            self._emit(f"invoice.{type}", invoice)

    def end(self, subscription_id: str) -> None:
        """End a subscription now."""
        self.objects[subscription_id]["status"] = "canceled"
        self._emit("customer.subscription.deleted", self.objects[subscription_id])

    def delete_customer(self, id: str) -> None:
        """Delete a customer, which ends its subscriptions; Stripe still shows that it was deleted."""
        self.objects[id] = {"id": id, "object": "customer", "deleted": True}
        for each in self._all("subscription"):
            if each["customer"] == id and each["status"] != "canceled":
                self.end(each["id"])

    def announce(self, subscription_id: str) -> None:
        """Tell of the invoice of the next month, which has no id yet, and of a draft that was deleted."""
        draft = self._bill(self.objects[subscription_id], status="draft", amount_paid=0)
        self.forget(draft["id"])
        self._emit("invoice.deleted", draft)
        self._emit("invoice.upcoming", {name: value for name, value in draft.items() if name != "id"})

    def forget(self, id: str) -> None:
        """Delete an object, so that requests for it are answered with 404."""
        del self.objects[id]

    def refund(self, intent_id: str, amount: int) -> None:
        """Refund a part of a payment, as far as it is left."""
        charge = self.objects[self.objects[intent_id]["latest_charge"]]
        charge["amount_refunded"] = min(charge["amount"], charge["amount_refunded"] + amount)
        refund = self._add("refund", "re", payment_intent=intent_id, amount=amount, status="succeeded")
        self._emit("refund.created", refund)
        self._emit("charge.refunded", charge)

    def dispute(self, intent_id: str, status: str) -> None:
        """Open or decide the dispute of what is left of a payment."""
        charge = self.objects[self.objects[intent_id]["latest_charge"]]
        found = [each for each in self._all("dispute") if each["payment_intent"] == intent_id]
        facts = {"amount": charge["amount"] - charge["amount_refunded"], "charge": charge["id"]}
        dispute = found[0] if found else self._add("dispute", "du", payment_intent=intent_id, **facts)
        dispute["status"], charge["disputed"] = status, True
        self._emit("charge.dispute.updated" if found else "charge.dispute.created", dispute)

    def answer(self, method: str, address: str, body: bytes, key: str | None) -> tuple[int, bytes]:
        """Answer a request; a repetition with the same key gets the same answer, another request with it an error."""
        self.requests += 1
        if refused := self._refuse():
            return refused
        if key in self._answers:
            before, status, answered = self._answers[key]
            return (status, answered) if before == body else _error(400, "idempotency_error", "Other parameters.")
        url = urlsplit(address)
        names = url.path.removeprefix("/v1/").split("/")
        self.before(method, names)
        form = dict(parse_qsl(body.decode()))
        query = dict(parse_qsl(url.query))
        if missing := self._find_missing(method, [*names, (form | query).get("customer", "")]):
            return _error(404, "invalid_request_error", f"No such object: '{missing}'", code="resource_missing")
        if names[-1] == "expire" and self.objects[names[-2]]["status"] != "open":
            return _error(400, "invalid_request_error", "Only Checkout Sessions with a status in open can be expired.")
        if method == "POST" and names[0] == "subscriptions" and self.objects[names[1]]["status"] == "canceled":
            return _error(400, "invalid_request_error", "A canceled subscription cannot be changed.")
        answer = (
            200,
            orjson.dumps(self._serve(method, names, query, form)),
        )
        if key:
            self._answers[key] = (body, *answer)
        return answer

    def _refuse(self) -> tuple[int, bytes] | None:
        if self.failures:
            self.failures -= 1
            return _error(500, "api_error", "The peer fails.")
        return _error(self.refusal[0], "invalid_request_error", self.refusal[1]) if self.refusal else None

    def _find_missing(self, method: str, names: list[str]) -> str | None:
        """Return the id of an object that does not exist, or of a subscription that was canceled before."""
        for id in (name for name in names if ID.fullmatch(name)):
            known = self.objects.get(id, {})
            is_gone = known.get("deleted") and names[:-1] != ["customers", id]
            if not known or is_gone or (method == "DELETE" and known["status"] == "canceled"):
                return id
        return None

    def _serve(self, method: str, names: list[str], query: dict[str, str], form: dict[str, str]) -> Json:
        if method == "DELETE":
            self.end(names[-1])
            return self.objects[names[-1]]
        return self._change(names, form) if method == "POST" else self._read(names, query)

    def _change(self, names: list[str], form: dict[str, str]) -> Json:
        match names:
            case ["customers"]:
                return self._add("customer", "cus")
            case ["customers", id]:
                return self.objects[id] | form
            case ["billing_portal", "sessions"]:
                return {"id": "bps_1", "url": f"https://billing.example/{form['customer']}"}
            case ["checkout", "sessions", id, "expire"]:
                self.objects[id]["status"] = "expired"
                return self.objects[id]
            case ["subscriptions", id]:
                self.objects[id]["cancel_at_period_end"] = form["cancel_at_period_end"] == "true"
                self._emit("customer.subscription.updated", self.objects[id])
                return self.objects[id]
            case _:
                return self._open_session(form)

    def _read(self, names: list[str], query: dict[str, str]) -> Json:
        match names:
            case ["customers", customer, "payment_methods"]:
                return _list([CARD] if any(each.get("customer") == customer for each in self._all("charge")) else [])
            case ["payment_intents", id]:
                return self.objects[id] | {"latest_charge": self.objects[self.objects[id]["latest_charge"]]}
            case ["invoice_payments"]:
                return _list([each for each in self._all("invoice_payment") if _is_asked(each, query)])
            case ["checkout", "sessions"] | ["subscriptions"]:
                kind = "checkout.session" if names[0] == "checkout" else "subscription"
                return _list([each for each in self._all(kind) if query.items() <= each.items()])
            case ["disputes"]:
                return _list([each for each in self._all("dispute") if each["charge"] == query["charge"]])
            case _:
                return self.objects[names[-1]]

    def _open_session(self, form: dict[str, str]) -> Json:
        session = self._add(
            "checkout.session",
            "cs",
            mode=form["mode"],
            customer=form["customer"],
            status="open",
            payment_intent=None,
            subscription=None,
            created=next(self._ids),
            _amount=int(form["line_items[0][price_data][unit_amount]"]),
            _payment_metadata=_nested(form, "payment_intent_data[metadata]"),
            _plan_metadata=_nested(form, "subscription_data[metadata]"),
        )
        session["url"] = f"https://checkout.example/{session['id']}"
        return session

    def _pay(self, amount: int, metadata: Json, customer: str, declined: str | None = None) -> Json:
        """Pay a new payment, or one that was declined before."""
        facts = {"amount": amount, "currency": "usd", "customer": customer, "metadata": metadata}
        intent = self.objects[declined] if declined else self._add("payment_intent", "pi", **facts)
        intent["status"] = "succeeded"
        self._charge(intent, "succeeded")
        self._emit("payment_intent.succeeded", intent)
        return intent

    def _bill(self, subscription: Json, reason: str = "subscription_cycle", **facts: Any) -> Json:
        details = {"subscription": subscription["id"], "metadata": subscription["metadata"]}
        parent = {"type": "subscription_details", "subscription_details": details}
        facts["status_transitions"] = {"paid_at": int(time.time()) if facts["status"] == "paid" else None}
        facts |= {"currency": "usd", "customer": subscription["customer"], "billing_reason": reason}
        invoice = self._add("invoice", "in", parent=parent, **facts)
        subscription["latest_invoice"] = invoice["id"]
        return invoice

    def _settle_invoice(self, subscription: Json, amount: int, payment: Json) -> None:
        invoice = self._bill(subscription, status="paid", amount_paid=amount)
        self._add("invoice_payment", "inpay", invoice=invoice["id"], status="paid", payment=payment)
        self._emit("invoice.paid", invoice)

    def _charge(self, intent: Json, status: str) -> Json:
        facts = {name: intent[name] for name in ("amount", "currency", "customer")} | {"created": int(time.time())}
        charge = self._add(
            "charge", "ch", payment_intent=intent["id"], status=status, amount_refunded=0, disputed=False, **facts
        )
        intent["latest_charge"] = charge["id"]
        return charge

    def _add(self, kind: str, prefix: str, **facts: Any) -> Json:
        id = f"{prefix}_{next(self._ids)}"
        self.objects[id] = {"id": id, "object": kind, **facts}
        return self.objects[id]

    def _all(self, kind: str) -> list[Json]:
        return [each for each in self.objects.values() if each["object"] == kind]

    def _emit(self, type: str, about: Json) -> None:
        shown = {name: value for name, value in about.items() if not name.startswith("_")}
        event = {"id": f"evt_{next(self._ids)}", "object": "event", "type": type, "created": int(time.time())}
        self.events.append(orjson.dumps(event | {"data": {"object": shown}}))


@contextmanager
def serving(peer: StripePeer) -> Generator[str]:
    """Serve the API of a peer on a port of loopback within a block, and yield its address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def do_GET(self) -> None:
            self._answer("GET")

        def do_POST(self) -> None:
            self._answer("POST")

        def do_DELETE(self) -> None:
            self._answer("DELETE")

        def _answer(self, method: str) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, answer = peer.answer(method, self.path, body, self.headers.get("Idempotency-Key"))
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def _list(data: list[Json]) -> Json:
    return {"object": "list", "data": data, "has_more": False, "url": "/v1/list"}


def _is_asked(payment: Json, query: dict[str, str]) -> bool:
    if "invoice" in query:
        return payment["invoice"] == query["invoice"]
    return payment["payment"].get("payment_intent") == query["payment[payment_intent]"]


def _nested(form: dict[str, str], name: str) -> Json:
    return {key[len(name) + 1 : -1]: value for key, value in form.items() if key.startswith(f"{name}[")}


def _error(status: int, type: str, message: str, **more: str) -> tuple[int, bytes]:
    return status, orjson.dumps({"error": {"type": type, "message": message, **more}})
