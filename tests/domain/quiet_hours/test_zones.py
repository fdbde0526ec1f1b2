"""The zones of a number: every zone in which its owner may plausibly be, with the reason."""

from collections import defaultdict
from importlib.resources import files

import phonenumbers
import pytest
from phonenumbers import PhoneNumberType, geocoder
from phonenumbers import timezone as library

from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.time_zones import checked, names
from app.domain.quiet_hours import area_codes
from app.domain.quiet_hours.zones import Place, ZoneReason, find_place

EASTERN, CENTRAL, MOUNTAIN, PACIFIC = "America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles"


@pytest.mark.parametrize(
    ("phone", "jurisdiction", "zones"),
    [
        ("+12025550143", "US-DC", (EASTERN,)),
        ("+12702345678", "US-KY", (EASTERN, CENTRAL)),
        ("+15022345678", "US-KY", (EASTERN,)),
        ("+12192345678", "US-IN", (EASTERN, CENTRAL)),
        ("+14232345678", "US-TN", (EASTERN, CENTRAL)),
        ("+18652345678", "US-TN", (EASTERN,)),
        ("+16152345678", "US-TN", (CENTRAL,)),
        ("+18502345678", "US-FL", (EASTERN, CENTRAL)),
        ("+13052345678", "US-FL", (EASTERN,)),
        ("+19152345678", "US-TX", (MOUNTAIN,)),
        ("+12142345678", "US-TX", (CENTRAL,)),
        ("+14322345678", "US-TX", (CENTRAL, MOUNTAIN)),
        ("+16022345678", "US-AZ", ("America/Phoenix",)),
        ("+19282345678", "US-AZ", ("America/Phoenix", MOUNTAIN)),
        ("+17022345678", "US-NV", (PACIFIC,)),
        ("+18082345678", "US-HI", ("Pacific/Honolulu",)),
        ("+14162345678", "CA-ON", ("America/Toronto",)),
        ("+18072345678", "CA-ON", ("America/Toronto", "America/Winnipeg")),
        ("+17092345678", "CA-NL", ("America/St_Johns", "America/Goose_Bay")),
        ("+16042345678", "CA-BC", ("America/Vancouver",)),
        ("+17802345678", "CA-AB", ("America/Edmonton",)),
        ("+12042345678", "CA-MB", ("America/Winnipeg",)),
    ],
)
def test_an_area_code_has_the_zones_of_its_state_or_the_one_that_is_certain(
    phone: str, jurisdiction: str, zones: tuple[str, ...]
) -> None:
    assert find_place(phone) == Place(jurisdiction, zones, ZoneReason.area_code)


def test_the_zone_of_the_contact_decides_where_it_is_known() -> None:
    assert find_place("+12702345678", CENTRAL, PACIFIC) == Place("US-KY", (CENTRAL,), ZoneReason.contact)


def test_a_toll_free_number_has_the_zone_of_the_account_and_all_of_the_country() -> None:
    place = find_place("+18002345678", account_zone=PACIFIC)

    assert place.jurisdiction == "US"
    assert place.reason is ZoneReason.unknown
    assert place.zones[0] == PACIFIC
    assert set(place.zones) == set(area_codes.COUNTRY_ZONES["US"])


def test_a_number_of_no_country_has_the_zone_of_the_account_or_utc() -> None:
    assert find_place("+80012345678", account_zone="Europe/Paris") == Place("", ("Europe/Paris",), ZoneReason.unknown)
    assert find_place("+80012345678").zones == ("UTC",)


@pytest.mark.parametrize(
    ("phone", "jurisdiction", "zone"),
    [
        ("+17872345678", "US-PR", "America/Puerto_Rico"),
        ("+16712345678", "US-GU", "Pacific/Guam"),
        ("+18762345678", "JM", "America/Jamaica"),
        ("+33612345678", "FR", "Europe/Paris"),
    ],
)
def test_a_territory_or_another_country_has_its_own_zone(phone: str, jurisdiction: str, zone: str) -> None:
    assert find_place(phone) == Place(jurisdiction, (zone,), ZoneReason.country)


@pytest.mark.parametrize("region", sorted(phonenumbers.SUPPORTED_REGIONS))
def test_the_zones_of_another_country_contain_those_of_the_library(region: str) -> None:
    for kind in (PhoneNumberType.MOBILE, PhoneNumberType.FIXED_LINE):
        number = phonenumbers.example_number_for_type(region, kind)
        if number is None or number.country_code == 1:
            continue
        phone = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)

        assert set(library.time_zones_for_number(number)) - {"Etc/Unknown"} <= set(find_place(phone).zones)


def test_every_area_code_that_is_in_use_has_the_state_of_the_geocoding_data() -> None:
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for code in range(200, 1000):
        for exchange in (222, 234, 267, 301, 345, 528, 723, 888):
            number = phonenumbers.parse(f"+1{code}{exchange}0123")
            region = phonenumbers.region_code_for_number(number)
            if region in ("US", "CA"):
                found[f"+1{code}", region].add(geocoder.description_for_valid_number(number, "en").split(", ")[-1])
    named = {key: names for key, names in found.items() if names - {"", "Canada"}}

    assert len(named) == 415
    for (code, country), seen in named.items():
        place = find_place(f"{code}2340123")
        assert place.reason is ZoneReason.area_code
        shared = {"NS", "PE"} if place.jurisdiction == "CA-NS" else set[str]()
        states = {f"{country}-{name}" for name in seen - shared if len(name) == 2}
        assert states <= {place.jurisdiction}


def test_every_area_code_belongs_to_one_state() -> None:
    codes = [
        code for table in (area_codes.STATES, area_codes.PROVINCES) for each in table.values() for code in each.split()
    ]

    assert len(codes) == len(set(codes))
    assert {code for each in area_codes.ONE_ZONE.values() for code in each.split()} <= set(codes)


def test_every_zone_of_the_tables_exists() -> None:
    tables = (area_codes.COUNTRY_ZONES, area_codes.SPLIT_STATES, area_codes.PROVINCE_ZONES)
    used = {zone for table in tables for zones in table.values() for zone in zones}

    assert used | set(area_codes.ONE_ZONE) | set(area_codes.ONE_STATE_ZONE) <= names()


@pytest.mark.parametrize("country", ["US", "CA"])
def test_the_zones_of_a_country_are_its_own_because_a_neighbour_changes_its_clocks_by_itself(country: str) -> None:
    tables = {"US": area_codes.STATE_OF, "CA": dict.fromkeys(" ".join(area_codes.PROVINCES.values()).split())}
    places = [find_place(f"+1{code}2345678") for code in tables[country]]
    rows = [line.split("\t") for line in (files("tzdata") / "zoneinfo/zone.tab").read_text().splitlines()]
    own = {row[2] for row in rows if row[0] == country}

    assert {zone for place in places for zone in place.zones} <= own
    assert set(find_place("+16002345678" if country == "CA" else "+18002345678").zones) <= own


def test_the_name_of_a_zone_is_read_in_any_case_and_no_other_name_is() -> None:
    assert checked(" america/chicago ") == "America/Chicago"
    assert checked("utc") == "UTC"
    for wrong in ("Chicago", "Etc/GMT+5", "+02:00", ""):
        with pytest.raises(InvalidInput, match="time zone"):
            checked(wrong)
