"""Readable labels for user agents."""

BROWSERS = {"Edg": "Edge", "OPR/": "Opera", "Firefox/": "Firefox", "Chrome/": "Chrome", "Safari/": "Safari"}
SYSTEMS = {
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Android": "Android",
    "Windows": "Windows",
    "Mac OS X": "macOS",
    "CrOS": "ChromeOS",
    "Linux": "Linux",
}


def describe(user_agent: str) -> str:
    """Return the label of a `User-Agent`, such as `Firefox on Linux`; the first match in each list counts."""
    browser = next((name for mark, name in BROWSERS.items() if mark in user_agent), "Unknown browser")
    system = next((name for mark, name in SYSTEMS.items() if mark in user_agent), "")
    return f"{browser} on {system}" if system else browser
