"""Area codes of the USA and Canada, with their states and time zones.

The states are those of the geocoding data of `phonenumbers`; a test compares the two. The zones of the states that have
two are narrowed by hand: an area code is listed in `ONE_ZONE` only if no place with that code keeps another time.
"""

STATES = {
    "AK": "907",
    "AL": "205 251 256 334 659 938",
    "AR": "327 479 501 870",
    "AZ": "480 520 602 623 928",
    "CA": (
        "209 213 279 310 323 341 350 369 408 415 424 442 510 530 559 562 619 626 628 650 657 661 669 707 714 "
        "738 747 760 805 818 820 831 840 858 909 916 925 949 951"
    ),
    "CO": "303 719 720 748 970 983",
    "CT": "203 475 860 959",
    "DC": "202 771",
    "DE": "302",
    "FL": "239 305 321 324 352 386 407 448 561 645 656 689 727 728 754 772 786 813 850 863 904 941 954",
    "GA": "229 404 470 478 678 706 762 770 912 943",
    "HI": "808",
    "IA": "319 515 563 641 712",
    "ID": "208 986",
    "IL": "217 224 309 312 331 447 464 618 630 708 730 773 779 815 847 872",
    "IN": "219 260 317 463 574 765 812 930",
    "KS": "316 620 785 913",
    "KY": "270 364 502 606 859",
    "LA": "225 318 337 504 985",
    "MA": "339 351 413 508 617 774 781 857 978",
    "MD": "227 240 301 410 443 667",
    "ME": "207",
    "MI": "231 248 269 313 517 586 616 734 810 906 947 989",
    "MN": "218 320 507 612 651 763 952",
    "MO": "235 314 417 557 573 636 660 816 975",
    "MS": "228 601 662 769",
    "MT": "406",
    "NC": "252 336 472 704 743 828 910 919 980 984",
    "ND": "701",
    "NE": "308 402 531",
    "NH": "603",
    "NJ": "201 551 609 640 732 848 856 862 908 973",
    "NM": "505 575",
    "NV": "702 725 775",
    "NY": "212 315 329 332 347 363 516 518 585 607 631 646 680 716 718 838 845 914 917 929 934",
    "OH": "216 220 234 283 326 330 380 419 440 513 567 614 740 937",
    "OK": "405 539 572 580 918",
    "OR": "458 503 541 971",
    "PA": "215 223 267 272 412 445 484 570 582 610 717 724 814 835 878",
    "RI": "401",
    "SC": "803 821 839 843 854 864",
    "SD": "605",
    "TN": "423 615 629 731 865 901 931",
    "TX": (
        "210 214 254 281 325 346 361 409 430 432 469 512 682 713 726 737 806 817 830 832 903 915 936 940 945 "
        "956 972 979"
    ),
    "UT": "385 435 801",
    "VA": "276 434 540 571 686 703 757 804 826 948",
    "VT": "802",
    "WA": "206 253 360 425 509 564",
    "WI": "262 274 353 414 534 608 715 920",
    "WV": "304 681",
    "WY": "307",
}
"""The area codes of each state of the USA, and of the District of Columbia."""

STATE_OF = {code: state for state, codes in STATES.items() for code in codes.split()}

PROVINCES = {
    "AB": "368 403 587 780 825",
    "BC": "236 250 257 604 672 778",
    "MB": "204 431 584",
    "NB": "428 506",
    "NL": "709 879",
    "NS": "782 902",
    "NT": "867",
    "ON": "226 249 289 343 365 382 416 437 519 548 613 647 683 705 742 753 807 905 942",
    "QC": "263 273 354 367 418 438 450 468 514 579 581 819 873",
    "SK": "306 474 639",
}

EASTERN, CENTRAL, MOUNTAIN, PACIFIC = "America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles"
ALASKA, ALEUTIANS, ARIZONA, HAWAII = "America/Anchorage", "America/Adak", "America/Phoenix", "Pacific/Honolulu"

# Zones of Canada are never those of the USA, even where their clocks agree: provinces end summer time by themselves.
NEWFOUNDLAND, LABRADOR = "America/St_Johns", "America/Goose_Bay"
ATLANTIC, NEW_BRUNSWICK = "America/Halifax", "America/Moncton"
ONTARIO, MANITOBA, SASKATCHEWAN = "America/Toronto", "America/Winnipeg", "America/Regina"
ALBERTA, BRITISH_COLUMBIA, NORTHEAST_BC = "America/Edmonton", "America/Vancouver", "America/Fort_Nelson"
YUKON, NUNAVUT = "America/Whitehorse", ("America/Cambridge_Bay", "America/Rankin_Inlet", "America/Iqaluit")

SPLIT_STATES = {
    "AK": (ALASKA, ALEUTIANS),
    "AZ": (ARIZONA, MOUNTAIN),
    "FL": (EASTERN, CENTRAL),
    "ID": (MOUNTAIN, PACIFIC),
    "IN": (EASTERN, CENTRAL),
    "KS": (CENTRAL, MOUNTAIN),
    "KY": (EASTERN, CENTRAL),
    "MI": (EASTERN, CENTRAL),
    "ND": (CENTRAL, MOUNTAIN),
    "NE": (CENTRAL, MOUNTAIN),
    "NV": (PACIFIC, MOUNTAIN),
    "OR": (PACIFIC, MOUNTAIN),
    "SD": (CENTRAL, MOUNTAIN),
    "TN": (EASTERN, CENTRAL),
    "TX": (CENTRAL, MOUNTAIN),
}
"""The zones of the states that have two: that of most people first. The Navajo Nation in Arizona keeps summer time."""

ONE_STATE_ZONE = {
    EASTERN: "CT DC DE GA MA MD ME NC NH NJ NY OH PA RI SC VA VT WV",
    CENTRAL: "AL AR IA IL LA MN MO MS OK WI",
    MOUNTAIN: "CO MT NM UT WY",
    PACIFIC: "CA WA",
    HAWAII: "HI",
}

PROVINCE_ZONES = {
    "AB": (ALBERTA,),
    "BC": (BRITISH_COLUMBIA, ALBERTA, NORTHEAST_BC),
    "MB": (MANITOBA,),
    "NB": (NEW_BRUNSWICK,),
    "NL": (NEWFOUNDLAND, LABRADOR),
    "NS": (ATLANTIC,),
    "NT": (ALBERTA, YUKON, *NUNAVUT),
    "ON": (ONTARIO, MANITOBA),
    "QC": (ONTARIO, ATLANTIC),
    "SK": (SASKATCHEWAN, ALBERTA),
}
"""The zones of each province. NS stands for Prince Edward Island too, NT for Nunavut and Yukon: they share codes."""

ONE_ZONE = {
    ARIZONA: "480 520 602 623",
    EASTERN: (
        "239 305 321 324 352 386 407 561 645 656 689 727 728 754 772 786 813 863 904 941 954 "  # Florida
        "260 317 463 765 "  # Indiana
        "502 859 "  # Kentucky
        "231 248 269 313 517 586 616 734 810 947 989 "  # Michigan
        "865"  # Tennessee
    ),
    ONTARIO: (
        "226 249 289 343 365 382 416 437 519 548 613 647 683 705 742 753 905 942 "  # Ontario
        "263 354 438 450 468 514 579 819 873"  # Quebec
    ),
    CENTRAL: (
        "316 913 "  # Kansas
        "615 629 731 901 931 "  # Tennessee
        "210 214 254 281 325 346 361 409 430 469 512 682 713 726 737 806 817 "  # Texas
        "830 832 903 936 940 945 956 972 979"
    ),
    MOUNTAIN: "915",
    PACIFIC: "702 725 503 971",
    BRITISH_COLUMBIA: "604",
}
"""The area codes of states and provinces with several zones that have one of them."""

COUNTRY_ZONES = {
    "US": (EASTERN, CENTRAL, MOUNTAIN, ARIZONA, PACIFIC, ALASKA, ALEUTIANS, HAWAII),
    "CA": tuple(dict.fromkeys((ONTARIO, *(zone for zones in PROVINCE_ZONES.values() for zone in zones)))),
}


def find_state(phone: str) -> str | None:
    """Return the state of the USA that the area code of a phone in E.164 is of; None for another phone."""
    return STATE_OF.get(phone[2:5]) if phone.startswith("+1") else None
