"""Generates contacts, and filters that concern many of them."""

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)

NAMES = st.sampled_from(["", "Ann", "ANN", "Ben", "Zoë", "Ο Δίας", "50%_off", "O'Neil", '\\ "quoted"'])
TAGS = ["vip", "VIP", "new", "a,b", "it's"]
STAGES = ["new_lead", "contacted", "qualified", "proposal", "won", "lost"]
CITIES = ["Paris", "paris", "Rome", "%"]
SIZES = ["small", "large"]
NUMBERS = [-3.5, 0, 1, 1.25, 40]
DAYS = ["2026-10-01", "2026-11-20", "2026-11-21", "2027-01-01"]
AGES = [timedelta(0), timedelta(minutes=5), timedelta(days=2), timedelta(days=30), timedelta(days=31)]
AREA_CODES = ["202", "212", "512", "415"]


def custom() -> st.SearchStrategy[dict[str, Any]]:
    values = {
        "city": st.sampled_from(CITIES),
        "size": st.sampled_from(SIZES),
        "visits": st.sampled_from(NUMBERS),
        "renewal": st.sampled_from(DAYS),
        "member": st.booleans(),
    }
    return st.fixed_dictionaries({}, optional=values)


TIMES = st.sampled_from(AGES).map(lambda age: NOW - age)

MESSAGES = st.lists(
    st.fixed_dictionaries(
        {
            "direction": st.sampled_from(["inbound", "outbound"]),
            "status": st.sampled_from(["received", "sent", "delivered", "failed"]),
            "created_at": TIMES,
        }
    ),
    max_size=3,
)
IDS = st.lists(st.integers(1, 3).map(str), unique=True, max_size=3)

PEOPLE = st.lists(
    st.fixed_dictionaries(
        {
            "area": st.sampled_from(AREA_CODES),
            "first_name": NAMES,
            "last_name": NAMES,
            "email": st.sampled_from(["", "ann@example.com", "Ann@Example.com"]),
            "source": st.sampled_from(["", "api", "import"]),
            "tags": st.lists(st.sampled_from(TAGS), unique=True, max_size=3),
            "pipeline_stage": st.sampled_from(STAGES),
            "status": st.sampled_from(["active", "opted_out"]),
            "custom": custom(),
            "dnd_sms": st.booleans(),
            "is_held": st.booleans(),
            "replies": st.integers(0, 6),
            "assignee_id": st.none() | st.integers(1, 3),
            "time_zone": st.none() | st.just("Europe/Rome"),
            "created_at": TIMES,
            "last_inbound_at": st.none() | TIMES,
            "last_outbound_at": st.none() | TIMES,
            "messages": MESSAGES,
            "replied_to": IDS,
            "enrolled_in": IDS,
            "opted_out_at": st.none() | TIMES,
        }
    ),
    min_size=1,
    max_size=8,
)

TEXTS = st.sampled_from(
    ["ann", "Zoë", "o", "%", "_", "'", "\\", "ο δ", "api", "IMPORT", "paris", "example.com", "+1202"]
)
EQUALITY = {"eq": 1, "ne": 1, "in": 3, "not_in": 3}
PRESENCE = {"is_set": 0, "is_empty": 0}
RELATIVE = {"within_last": 1, "not_within_last": 1}
ORDER = {"gt": 1, "gte": 1, "lt": 1, "lte": 1, "between": 2}
TIME = {"before": 1, "after": 1, "between": 2}
DURATIONS = st.sampled_from(["5 minutes", "48 hours", "2 days", "30 days", "1 day", "5 weeks"])
DAY_DURATIONS = st.sampled_from(["1 day", "2 days", "8 weeks"])
INSTANTS = TIMES.map(lambda at: at.isoformat())
FIGURES = st.sampled_from([str(each) for each in NUMBERS])

KINDS: list[tuple[list[str], dict[str, int], st.SearchStrategy[str], st.SearchStrategy[str]]] = [
    (
        ["phone", "first_name", "last_name", "email", "source", "time_zone", "custom.city"],
        {**EQUALITY, "contains": 1, "starts_with": 1, **PRESENCE},
        TEXTS | st.sampled_from(["Europe/Rome", "ann@example.com"]),
        DURATIONS,
    ),
    (["tags"], {"has_any": 3, "has_all": 3, "has_none": 3, **PRESENCE}, st.sampled_from(TAGS), DURATIONS),
    (["pipeline_stage"], {**EQUALITY, **PRESENCE}, st.sampled_from(STAGES), DURATIONS),
    (["status"], {**EQUALITY, **PRESENCE}, st.sampled_from(["active", "opted_out"]), DURATIONS),
    (["custom.size"], {**EQUALITY, **PRESENCE}, st.sampled_from(SIZES), DURATIONS),
    (["state"], EQUALITY, st.sampled_from(["DC", "NY", "TX", "AK"]), DURATIONS),
    (
        ["replied_to", "enrolled_in"],
        {"has_any": 3, "has_all": 3, "has_none": 3, **PRESENCE},
        st.integers(1, 3).map(str),
        DURATIONS,
    ),
    (["score", "replies", "message_count"], {**EQUALITY, **ORDER, **PRESENCE}, st.integers(0, 60).map(str), DURATIONS),
    (["custom.visits"], {**EQUALITY, **ORDER, **PRESENCE}, FIGURES, DURATIONS),
    (["assignee_id"], {**EQUALITY, **PRESENCE}, st.integers(1, 3).map(str), DURATIONS),
    (
        ["dnd_sms", "is_held", "custom.member"],
        {"eq": 1, "ne": 1, **PRESENCE},
        st.sampled_from(["true", "false"]),
        TEXTS,
    ),
    (
        ["created_at", "last_inbound_at", "last_outbound_at", "opted_out_at"],
        {**TIME, **RELATIVE, **PRESENCE},
        INSTANTS,
        DURATIONS,
    ),
    (["custom.renewal"], {**EQUALITY, **TIME, **RELATIVE, **PRESENCE}, st.sampled_from(DAYS), DAY_DURATIONS),
]


COUNTED = st.fixed_dictionaries(
    {},
    optional={
        "direction": st.sampled_from(["inbound", "outbound"]),
        "status": st.sampled_from(["received", "delivered", "failed"]),
        "within": DURATIONS,
    },
)


@st.composite
def conditions(draw: st.DrawFn) -> dict[str, Any]:
    """Return a condition on a field, with values that contacts have."""
    fields, operators, values, durations = draw(st.sampled_from(KINDS))
    op = draw(st.sampled_from(sorted(operators)))
    count = operators[op]
    source = durations if op in RELATIVE else values
    drawn = draw(st.lists(source, min_size=min(count, 2) if op == "between" else min(count, 1), max_size=count))
    if op == "between":
        drawn.sort(key=lambda text: float(text) if text.lstrip("-").replace(".", "").isdigit() else text)
    field = draw(st.sampled_from(fields))
    counted = draw(COUNTED) if field == "message_count" else {}
    return {"field": field, "op": op, **({"value": drawn} if drawn else {}), **counted}


def groups(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    nodes = st.lists(inner, min_size=1, max_size=3)
    return st.tuples(st.sampled_from(["all", "any", "none"]), nodes).map(lambda pair: {pair[0]: pair[1]})


FILTERS = st.recursive(conditions(), groups, max_leaves=8)
