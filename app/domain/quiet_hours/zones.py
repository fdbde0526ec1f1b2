"""Find the place of a phone: its jurisdiction, and every time zone in which its owner may plausibly be.

One zone a number is not enough. In states with two zones the offline data is wrong for one exchange in six, so a text
would leave an hour too early or too late; with the set of zones it leaves only when it is daytime in all of them.
"""

import enum
import re
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import NamedTuple

from phonenumbers import COUNTRY_CODE_TO_REGION_CODE, PhoneMetadata
from phonenumbers.tzdata import TIMEZONE_DATA

from app.domain.kernel.phone import calling_code
from app.domain.kernel.time_zones import ZoneInfo
from app.domain.quiet_hours.area_codes import (
    COUNTRY_ZONES,
    ONE_STATE_ZONE,
    ONE_ZONE,
    PROVINCE_ZONES,
    PROVINCES,
    SPLIT_STATES,
    STATES,
)

PREFIX = 5
"""The number of characters of a phone in E.164 that its place follows from."""

UTC_ZONE = "UTC"
"""The zone of a number that belongs to no country, in an account without a zone."""

TERRITORIES = frozenset({"AS", "GU", "MP", "PR", "VI"})
"""Territories of the USA with area codes and a code of ISO 3166 of their own; the federal law holds there too."""

CANADIAN = frozenset({"600", "622", "633"})
"""Area codes of Canada that belong to no province."""


class ZoneReason(enum.StrEnum):
    """The reason for the time zones of a phone."""

    contact = enum.auto()
    area_code = enum.auto()
    country = enum.auto()
    unknown = enum.auto()


class Place(NamedTuple):
    """The jurisdiction of a phone, and its plausible time zones, that of most people first.

    `jurisdiction` is a country (ISO 3166), one of its states such as `US-FL`, or empty where there is none.
    """

    jurisdiction: str
    zones: tuple[str, ...]
    reason: ZoneReason

    def instant_of(self, wall: datetime) -> datetime:
        """Return the instant, in UTC, at which a clock of the first zone shows a date and time without a zone.

        Of a time that the clock shows twice it is the first; one that the clock skips is as much later as it skips.
        """
        return wall.replace(tzinfo=ZoneInfo(self.zones[0])).astimezone(UTC)


def find_place(phone: str, contact_zone: str | None = None, account_zone: str | None = None) -> Place:
    """Return the place of a phone in E.164.

    The zone of the contact decides where it is known. A toll-free number, and any other that belongs to no place, has
    the zone of the account and all zones of its country.
    """
    found = _find(phone[:PREFIX])
    if contact_zone:
        return Place(found.jurisdiction, (contact_zone,), ZoneReason.contact)
    if found.reason is ZoneReason.unknown:
        zones = (account_zone, *found.zones) if account_zone else found.zones or (UTC_ZONE,)
        return found._replace(zones=tuple(dict.fromkeys(zones)))
    return found


@lru_cache(8192)
def _find(prefix: str) -> Place:
    """Return the place of the first four digits of a phone: a calling code, or 1 and an area code."""
    return _area(prefix[2:]) if prefix.startswith("+1") else _country(calling_code(prefix))


def _area(code: str) -> Place:
    """Return the place of an area code of North America."""
    states = _states()
    if code in states:
        jurisdiction = states[code]
        return Place(jurisdiction, _zones_of_area(code, jurisdiction), ZoneReason.area_code)
    if region := _region_of(code):
        zones = TIMEZONE_DATA.get(f"1{code}", ())
        return Place(f"US-{region}" if region in TERRITORIES else region, zones, ZoneReason.country)
    country = "CA" if code in CANADIAN else "US"
    return Place(country, COUNTRY_ZONES[country], ZoneReason.unknown)


def _zones_of_area(code: str, jurisdiction: str) -> tuple[str, ...]:
    for zone, codes in ONE_ZONE.items():
        if code in codes.split():
            return (zone,)
    country, _, state = jurisdiction.partition("-")
    if country == "CA":
        return PROVINCE_ZONES[state]
    if state in SPLIT_STATES:
        return SPLIT_STATES[state]
    return next((zone,) for zone, states in ONE_STATE_ZONE.items() if state in states.split())


@cache
def _states() -> dict[str, str]:
    countries = (("US", STATES), ("CA", PROVINCES))
    return {
        code: f"{country}-{state}"
        for country, states in countries
        for state, codes in states.items()
        for code in codes.split()
    }


def _region_of(area_code: str) -> str | None:
    """Return the country or territory, other than the USA and Canada, that has an area code."""
    for region in COUNTRY_CODE_TO_REGION_CODE[1]:
        metadata = PhoneMetadata.metadata_for_region(region)
        if metadata and metadata.leading_digits and re.match(metadata.leading_digits, area_code):
            return region
    return None


def _country(calling_code: str) -> Place:
    """Return the place of a calling code outside North America, with all its zones.

    Mobile numbers of most countries belong to no place in it. Where several countries share a code, as in +44 and +7,
    the main one has the jurisdiction, and all their zones count.
    """
    regions = COUNTRY_CODE_TO_REGION_CODE.get(int(calling_code or 0), ("",))
    zones = TIMEZONE_DATA.get(calling_code, ())
    if not regions[0].isalpha() or not zones:
        return Place("", (), ZoneReason.unknown)
    return Place(regions[0], zones, ZoneReason.country)
