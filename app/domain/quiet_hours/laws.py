"""The shipped rules: windows and caps of laws on telephone solicitation, with their sources.

They are engineering inputs, not legal advice. A rule is verified if the compared sources agree on it, the text of the
law among them, or several that cite it. Where they disagree, or only tables of vendors name the hours, the stricter
rule is shipped, as not verified. Holidays are not covered.
"""

from datetime import date

from app.domain.quiet_hours.rules import EVERY_DAY, Rule, Weekday, span

COMPARED, COMPARED_LATER = date(2026, 11, 23), date(2026, 11, 24)
LATER = frozenset({"US-KY", "US-RI"})
"""The dates on which the sources were compared, and the jurisdictions of the second."""

SAT, SUN = Weekday.saturday, Weekday.sunday
MON_TO_FRI, MON_TO_SAT = EVERY_DAY[:5], EVERY_DAY[:6]


def _law(
    jurisdiction: str,
    hours: str,
    source: str,
    *,
    days: tuple[Weekday, ...] = EVERY_DAY,
    cap: int | None = None,
    is_verified: bool = False,
) -> Rule:
    as_of = COMPARED_LATER if jurisdiction in LATER else COMPARED
    return Rule(jurisdiction, days, span(hours), cap, source, as_of, is_verified)


ALABAMA, LOUISIANA = "Ala. Code 8-19A", "La. R.S. 45:844.31"
MISSISSIPPI, RHODE_ISLAND = "Miss. Code 77-3-723", "R.I. Gen. Laws 5-61-2(2) and 5-61-3.6"
TEXAS = "Tex. Bus. & Com. Code 301.051"

LAWS = (
    _law("*", "08:00-21:00", "The default of this service for countries without a rule of their own"),
    _law("US", "08:00-21:00", "47 CFR 64.1200(c)(1)", is_verified=True),
    _law("US-AL", "08:00-20:00", ALABAMA, days=MON_TO_SAT),
    _law("US-AL", "00:00-00:00", ALABAMA, days=(SUN,)),
    _law("US-CA", "09:00-21:00", "Cal. Pub. Util. Code 2872(c)"),
    _law("US-CT", "09:00-20:00", "Conn. Gen. Stat. 42-288a"),
    _law("US-FL", "08:00-20:00", "Fla. Stat. 501.616(6)", cap=3, is_verified=True),
    _law("US-IL", "09:00-21:00", "815 ILCS 413/15"),
    _law("US-KY", "10:00-21:00", "Ky. Rev. Stat. 367.46955"),
    _law("US-LA", "08:00-20:00", LOUISIANA, days=MON_TO_SAT),
    _law("US-LA", "00:00-00:00", LOUISIANA, days=(SUN,)),
    _law("US-MA", "08:00-20:00", "Mass. Gen. Laws ch. 159C, 3", is_verified=True),
    _law("US-MD", "08:00-20:00", "Md. Code, Com. Law 14-4501 to 14-4505", cap=3, is_verified=True),
    _law("US-MI", "09:00-21:00", "Mich. Comp. Laws 445.111 to 445.113"),
    _law("US-MN", "09:00-21:00", "Minn. Stat. 325E.30"),
    _law("US-MS", "08:00-20:00", MISSISSIPPI, days=MON_TO_SAT),
    _law("US-MS", "00:00-00:00", MISSISSIPPI, days=(SUN,)),
    _law("US-NJ", "08:00-20:00", "N.J. Stat. 56:8-119 to 56:8-135"),
    _law("US-NM", "09:00-21:00", "N.M. Stat. 57-12-22"),
    _law("US-NV", "09:00-20:00", "Nev. Rev. Stat. 597.814"),
    _law("US-OK", "08:00-20:00", "Okla. Stat. tit. 15, 775C.4", cap=3, is_verified=True),
    _law("US-RI", "09:00-18:00", RHODE_ISLAND, days=MON_TO_FRI, is_verified=True),
    _law("US-RI", "10:00-17:00", RHODE_ISLAND, days=(SAT,), is_verified=True),
    _law("US-RI", "00:00-00:00", RHODE_ISLAND, days=(SUN,), is_verified=True),
    _law("US-TX", "09:00-21:00", TEXAS, days=MON_TO_SAT, is_verified=True),
    _law("US-TX", "12:00-21:00", TEXAS, days=(SUN,), is_verified=True),
    _law("US-WA", "08:00-20:00", "Wash. Rev. Code 80.36.390", cap=3),
)
"""The rules of law. `*` holds where no rule names the country."""
