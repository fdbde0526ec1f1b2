"""Every page of the route table on a phone, with a record of every kind: sound in both themes, and used by keys alone.

The pages are those of the router itself, so a new page is tested without a line here; one that shows a record of a new
kind needs that kind in `population`.
"""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from app.domain.onboarding.service import Opened
from tests.browser.population import populate
from tests.browser.screen import GO, HEIGHT, NARROW, QUIET, Screen, Windows
from tests.graphql.live import Scene

pytestmark = pytest.mark.anyio

PARTS = 3
"""The tests that share the pages, so that as many processes open them."""

ROUTES = "Object.keys(__TSR_ROUTER__.routesByPath)"
REDIRECTS = {"/inbox", "/settings", "/signed-in"}
WATCH = """() => {
  const fields = 'input:not([type=hidden]), select, textarea';
  const interactive = `a[href], button, summary, ${fields}, [role=button], [role=switch], [tabindex="0"]`;
  const isShown = each => each.checkVisibility({ visibilityProperty: true }) && each.getClientRects().length > 0;
  const isOneOfGroup = each => each.matches('[role=tab], [type=radio], [role=option]');
  const isAid = each => each.tabIndex < 0 && each.closest('.mantine-InputWrapper-root, .mantine-Input-wrapper');
  const styleOf = each => {
    const parts = [each, each.parentElement, each.nextElementSibling, each.querySelector('span')].filter(Boolean);
    return parts.map(part => {
      const { outlineStyle, outlineWidth, boxShadow, borderColor, backgroundColor } = getComputedStyle(part);
      return [outlineStyle, outlineStyle === 'none' ? '' : outlineWidth, boxShadow, borderColor, backgroundColor];
    }).join();
  };
  const wanted = [...document.querySelectorAll(interactive)].filter(each =>
    !each.disabled && !each.closest('[inert], [aria-hidden=true], .tsqd') && isShown(each) && !isOneOfGroup(each)
    && !isAid(each));
  const before = new Map(wanted.map(each => [each, styleOf(each)]));
  const nameOf = each => each.ariaLabel || each.labels?.[0]?.innerText || each.innerText || each.outerHTML.slice(0, 90);
  const reached = new Set(), unseen = [];
  window.walk = { isRound: false };
  const stop = new AbortController();
  document.addEventListener('focusin', ({ target }) => {
    window.walk.isRound ||= reached.has(target);
    reached.add(target);
    if (before.get(target) === styleOf(target)) unseen.push(nameOf(target));
  }, { signal: stop.signal });
  window.walk.end = () => {
    stop.abort();
    const missed = wanted.filter(each => each.isConnected && isShown(each) && !reached.has(each)).map(nameOf);
    return { missed, unseen };
  };
  document.body.tabIndex = -1;
  document.body.focus();
  return wanted.length;
}"""
"""Records which controls get the focus, and whether their look changes with it."""


SHIFTS = """() => {
  window.shift = 0;
  new PerformanceObserver(list => list.getEntries().forEach(({ value, hadRecentInput }) => {
    if (!hadRecentInput) window.shift += value;
  })).observe({ type: 'layout-shift' });
}"""
"""Adds up how far parts of the page move by themselves, as shares of the window."""
CUT = """() => [...document.querySelectorAll('main section[tabindex="0"]')]
  .filter(each => each.scrollWidth > each.clientWidth + 1).map(each => each.ariaLabel)"""
SMALL = """() => {
  const fields = 'input:not([type=checkbox], [type=radio], [type=hidden]), select, textarea';
  const controls = `button, ${fields}, [role=tab], nav a`;
  const isExempt = each => each.tabIndex < 0 || each.disabled || !each.getClientRects().length
    || each.matches('[role=switch], [data-variant=transparent], [class*=inputField], [class*=innerInput]')
    || each.closest('.tsqd');
  const boxes = [...document.querySelectorAll('[type=checkbox]:not([role=switch]), [type=radio]')]
    .filter(each => each.getClientRects().length && !each.closest('.tsqd, .mantine-SegmentedControl-root'));
  const areaOf = each => parseFloat(getComputedStyle(each, '::after').height) || 0;
  const heightOf = each => Math.max(each.offsetHeight, areaOf(each), ...[...(each.labels ?? [])]
    .map(label => label.offsetHeight));
  const controlled = [...document.querySelectorAll(controls)].filter(each => !isExempt(each));
  return [...controlled.filter(each => each.offsetHeight < 44), ...boxes.filter(each => heightOf(each) < 44)]
    .map(each => `${each.ariaLabel || each.innerText || each.labels?.[0]?.innerText} ${each.offsetHeight}`);
}"""
"""Finds the controls that are less than 44 pixels high; links in a text are exempt, and a box has the height
of its label or of the area around it that is pressed."""
OVERFLOWS = """async () => {
  for (let n = 0; n < 3; n += 1) await new Promise(requestAnimationFrame);
  return document.documentElement.scrollWidth > innerWidth;
}"""
"""Tells whether the page is wider than the window; charts are drawn anew a frame after a change of its size."""
NARROWEST = 320
MOST_OTHERS = 40
"""The most presses of Tab beside one for each control."""
MOST_SHIFT = 0.1
"""The bound of a good page in web.dev/articles/cls."""


@pytest.mark.parametrize("part", range(PARTS))
async def test_every_page_is_sound_and_stands_still_on_a_phone_and_each_of_its_controls_is_reached_by_tab(
    windows: Windows, scene: Scene, account: Opened, work: Callable[[], Awaitable[None]], pictures: Path, part: int
):
    ids = await populate(scene, work)
    screen = await windows.owner(account, NARROW)
    await screen.open("/")
    await screen.page.evaluate(SHIFTS)
    wrong = dict[str, Any]()
    for path, address in sorted(addresses(await screen.page.evaluate(ROUTES), ids).items())[part::PARTS]:
        await screen.page.evaluate("window.shift = 0")
        await screen.page.evaluate(GO, address)
        await screen.heading().wait_for()
        await screen.page.evaluate(QUIET)
        if (shift := await screen.page.evaluate("window.shift")) > MOST_SHIFT:
            wrong[f"{path} moves"] = shift
        if found := await faults(screen):
            wrong[path] = found
        if found := await misfits(screen):
            wrong[f"{path} does not fit"] = found
        await screen.check(pictures, f"every{path.replace('/', '-')}")
    assert not wrong, wrong


def addresses(routes: list[str], ids: Mapping[str, int]) -> dict[str, str]:
    """Return the address of each page by its route; raise `KeyError` for one of a kind that no record is of."""
    found = {path: path for path in routes if path not in REDIRECTS}
    for path in list(found):
        if "$id" in path:
            kind = path.partition("/$id")[0]
            id = ids["sent" if path.endswith("/recipients") else kind]
            found[path] = path.replace("$id", str(id)).replace("$view", "open")
    return {path: address.replace("$view", "open") for path, address in found.items()} | {
        "/campaigns/$id of one that was sent": f"/campaigns/{ids['sent']}"
    }


async def misfits(screen: Screen) -> dict[str, Any]:
    """Return the tables that are cut, the controls too small for a finger, and whether a narrower phone cuts the page.

    The width of 320 pixels is also that of a window of 1,280 at 400 %.
    """
    found = {"cut": await screen.page.evaluate(CUT), "small": await screen.page.evaluate(SMALL)}
    await screen.page.set_viewport_size({"width": NARROWEST, "height": HEIGHT})
    found["cut at 320"] = await screen.page.evaluate(OVERFLOWS)
    await screen.page.set_viewport_size({"width": NARROW, "height": HEIGHT})
    return {name: value for name, value in found.items() if value}


async def faults(screen: Screen) -> dict[str, list[str]]:
    """Go once through the page by Tab; return the controls that were not reached, and those that did not show it."""
    controls = await screen.page.evaluate(WATCH)
    for presses in range(controls + MOST_OTHERS):
        await screen.page.keyboard.press("Tab")
        if presses >= controls and await screen.page.evaluate("walk.isRound"):
            break
    found = await screen.page.evaluate("walk.end()")
    return {name: controls for name, controls in found.items() if controls}
