"""The page in a real browser: opened, clicked, searched, brushed, by keyboard, in both themes and on a phone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Dialog, Locator, Page, expect, sync_playwright

from binspark.cli.demo import SHOP
from binspark.testing.builder import BinlogBuilder, delete, insert, integer, table, update, varchar
from tests.support.browser import BROWSER, needs_browser
from tests.support.explore.logs import many_transactions
from tests.support.explore.served import Served, serving, serving_unread

pytestmark = needs_browser

COMPILING_MILLISECONDS = 60_000
"""How long an answer may take: the first one compiles kernels if the cache has none."""

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium."""
    expect.set_options(timeout=COMPILING_MILLISECONDS)
    with sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def shop() -> Iterator[Served]:
    """The logs of the demo."""
    with serving(SHOP / "mysql") as served:
        yield served


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A log with markup as table, column, value and statement."""
    folder = tmp_path_factory.mktemp("evil")
    log = BinlogBuilder()
    rows = table(f"{EVIL[:60]}.{EVIL[:60]}", varchar(EVIL, 200), integer("n"), key=(EVIL,))
    log.ddl(f"CREATE TABLE `{EVIL}2` (id INT)", EVIL[:60])
    log.transaction(insert(rows, (EVIL, 1)), text=f"INSERT /* {EVIL} */")
    log.transaction(update(rows, ((EVIL, 1), (EVIL, 2))), compress=True)
    log.transaction(delete(rows, (EVIL, 2)))
    log.save(folder)
    with serving(folder) as served:
        yield served


class Opened:
    """A page, and what went wrong in it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.problems: list[str] = []
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("console", self._note_message)
        page.on("dialog", self._note_dialog)

    def _note_message(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.problems.append(message.text)

    def _note_dialog(self, dialog: Dialog) -> None:
        self.problems.append(dialog.message)
        dialog.dismiss()

    def go(self, address: str) -> Page:
        self.page.goto(address)
        return self.page


@pytest.fixture
def opened(browser: Browser) -> Iterator[Opened]:
    """A page in which nothing may go wrong."""
    context = browser.new_context(viewport={"width": 1400, "height": 850}, color_scheme="light")
    found = Opened(context.new_page())
    yield found
    context.close()
    assert found.problems == []


def rows(page: Page) -> Locator:
    return page.locator("#list .row")


def open_transaction(page: Page, name: str = "insert") -> None:
    rows(page).filter(has_text=name).first.click()
    expect(page.locator("#list .row[aria-level='2']").first).to_be_visible()


def test_a_transaction_opens_into_events_and_an_event_into_bytes_and_fields(shop: Served, opened: Opened) -> None:
    page = opened.go(shop.address)
    expect(page.locator("#status")).to_contain_text("lines")
    open_transaction(page, "insert")
    rows(page).filter(has_text="WRITE_ROWS").first.click()
    expect(page.locator("#bytes h2")).to_contain_text("WRITE_ROWS")
    expect(page.locator("#fields")).to_contain_text(re.compile("row 0, after image", re.IGNORECASE))
    expect(page).to_have_url(re.compile(r"#.*pos=\d+"))


def test_pointing_at_a_field_lights_its_bytes_and_the_other_way_round(shop: Served, opened: Opened) -> None:
    page = opened.go(shop.address)
    open_transaction(page)
    rows(page).filter(has_text="TABLE_MAP").first.click()
    field = page.locator("#fields tr[data-field]").filter(has_text="server_id").first
    field.hover()
    number = field.get_attribute("data-field")
    expect(page.locator(f"#bytes .line [data-field='{number}']").first).to_have_class(re.compile(r"\blit\b"))
    other = page.locator("#bytes [data-field='0']").first
    other.hover()
    expect(page.locator("#fields tr[data-field='0']")).to_have_class(re.compile(r"\blit\b"))
    expect(field).not_to_have_class(re.compile(r"\blit\b"))


def test_an_address_shows_what_it_was_copied_from(shop: Served, browser: Browser, opened: Opened) -> None:
    page = opened.go(shop.address)
    open_transaction(page)
    rows(page).filter(has_text="WRITE_ROWS").first.click()
    page.locator("#fields tr[data-field='3']").click()
    expect(page).to_have_url(re.compile(r"field=3"))
    title = page.locator("#bytes h2").inner_text()
    other = browser.new_page()
    other.goto(page.url)
    expect(other.locator("#bytes h2")).to_have_text(title)
    expect(other.locator("#fields .picked")).to_have_attribute("data-field", "3")
    expect(other.locator("#list .row[aria-selected='true']")).to_contain_text("WRITE_ROWS")
    other.close()


def test_back_returns_to_the_event_before(shop: Served, opened: Opened) -> None:
    page = opened.go(shop.address)
    open_transaction(page)
    for name in ("TABLE_MAP", "WRITE_ROWS"):
        rows(page).filter(has_text=name).first.click()
        expect(page.locator("#bytes h2")).to_contain_text(name)
    page.go_back()
    expect(page.locator("#bytes h2")).to_contain_text("TABLE_MAP")


def test_a_search_finds_and_a_hit_opens(shop: Served, opened: Opened) -> None:
    page = opened.go(shop.address)
    page.keyboard.press("/")
    page.locator("#search-kind").select_option("type")
    page.locator("#search-text").fill("UPDATE_ROWS")
    page.locator("#search-text").press("Enter")
    expect(page.locator("#panel-search")).to_contain_text(" found")
    page.locator("#panel-search .hit").first.click()
    expect(page.locator("#bytes h2")).to_contain_text("UPDATE_ROWS")


def test_a_key_value_leads_to_its_row_images_one_after_the_other(shop: Served, opened: Opened) -> None:
    page = opened.go(shop.address)
    page.get_by_role("tab", name="Found").click()
    expect(page.locator("#panel-search")).to_contain_text("shop.orders id = 42")
    page.locator("#search-kind").select_option("key")
    expect(page.locator("#search-text")).to_have_attribute("placeholder", "42, or shop.orders id = 42")
    page.locator("#search-text").fill("shop.orders id = 42")
    page.locator("#search-text").press("Enter")
    expect(page.locator("#panel-search .stepper")).to_contain_text("3 found")
    page.get_by_role("button", name="Next").click()
    expect(page.locator("#bytes h2")).to_contain_text("WRITE_ROWS")
    expect(page.locator("#fields .picked")).to_contain_text("id")
    expect(page.locator("#fields .picked td.mono")).to_have_text("42")
    expect(page.locator("#fields .row-image")).to_have_count(9)
    expect(page.locator("#panel-search .stepper")).to_contain_text("1 of 3 found")
    page.locator("#search-text").blur()
    for name, title in (("N", "UPDATE_ROWS"), ("N", "DELETE_ROWS"), ("P", "UPDATE_ROWS")):
        page.keyboard.press(name)
        expect(page.locator("#bytes h2")).to_contain_text(title)
        expect(page.locator("#fields .picked td.mono")).to_have_text("42")
    expect(page.locator("#panel-search .hit[aria-current]")).to_contain_text("update shop.orders")
    expect(page).to_have_url(re.compile(r"kind=key.*field=\d+"))


def test_a_search_for_nothing_says_what_can_be_searched_for(shop: Served, opened: Opened) -> None:
    page = opened.go(shop.address)
    page.locator("#search-kind").select_option("key")
    page.locator("#search-text").fill("shop.orders")
    page.locator("#search-text").press("Enter")
    expect(page.locator("#panel-search .bad")).to_contain_text("examples are 42, id = 42")
    assert all("400" in problem for problem in opened.problems)
    opened.problems.clear()


def test_jumping_and_what_cannot_be_found(shop: Served, opened: Opened) -> None:
    page = opened.go(shop.address)
    page.keyboard.press("g")
    gtid = next(unit["gtid"] for unit in shop.ask("units", first=60, count=1)["units"])
    page.keyboard.type(gtid)
    page.keyboard.press("Enter")
    expect(page.locator("#bytes")).to_contain_text("GTID")
    expect(page.locator("#list .row[aria-expanded='true']")).to_have_attribute("title", gtid)
    opened.problems.clear()
    page.locator("#jump-to").fill("nowhere")
    page.locator("#jump-to").press("Enter")
    expect(page.locator("#status")).to_contain_text("expected a position")
    assert all("400" in problem for problem in opened.problems)
    opened.problems.clear()


def test_tables_lead_to_the_history_of_their_rows(shop: Served, opened: Opened) -> None:
    page = opened.go(shop.address)
    page.get_by_role("tab", name="Tables").click()
    page.get_by_role("button", name="Rows of shop.products").click()
    page.get_by_label("Condition").fill("id = 1")
    page.get_by_role("button", name="Show history").click()
    expect(page.locator("#panel-rows")).to_contain_text(" found")
    expect(page.locator("#panel-rows .hit").first).to_contain_text("insert")
    page.locator("#panel-rows .hit").filter(has_text="update").first.click()
    expect(page.locator("#bytes h2")).to_contain_text("UPDATE_ROWS")


def test_brushing_the_timeline_zooms_and_a_button_shows_all_again(shop: Served, opened: Opened) -> None:
    page = opened.go(shop.address)
    picture = page.locator("#timeline svg")
    expect(picture.locator(".bar").first).to_be_attached()
    before = page.locator("#timeline .axis").inner_text()
    box = picture.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 20, steps=4)
    page.mouse.up()
    expect(page).to_have_url(re.compile(r"from=[\d.]+&to=[\d.]+"))
    assert page.locator("#timeline .axis").inner_text() != before
    page.get_by_role("button", name="All of the log").click()
    expect(page).not_to_have_url(re.compile(r"from="))


def test_everything_can_be_reached_by_keyboard(shop: Served, opened: Opened) -> None:
    page = opened.go(shop.address)
    expect(rows(page).first).to_be_visible()
    page.locator("#list").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    expect(page.locator("#list .row[aria-level='2']").first).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#bytes h2")).to_contain_text("binlog.")
    expect(page.locator("#list .row[aria-selected='true']")).to_be_visible()
    first = page.locator("#bytes h2").inner_text()
    page.keyboard.press("n")
    expect(page.locator("#bytes h2")).not_to_have_text(first)
    expect(page.locator("#list .row.active[aria-selected='true']")).to_be_visible()
    page.keyboard.press("p")
    expect(page.locator("#bytes h2")).to_have_text(first)
    page.locator("#list").focus()
    page.keyboard.press("End")
    expect(page.locator("#list .row.active")).to_be_visible()
    page.keyboard.press("3")
    expect(page.get_by_role("tab", name="Tables")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()


def test_nothing_of_a_log_becomes_markup(evil: Served, opened: Opened) -> None:
    page = opened.go(evil.address)
    for unit in evil.ask("units", first=0, count=100)["units"]:
        for event in evil.ask("events", log=0, pos=unit["pos"])["events"]:
            inner = "" if event["inner"] is None else f"&inner={event['inner']}"
            page.goto(f"{evil.address}#log=binlog.000001&pos={event['pos']}{inner}")
            expect(page.locator("#bytes h2")).to_contain_text(event["type"])
    name = quote(f"{EVIL[:60]}.{EVIL[:60]}")
    for view in ("view=tables", f"view=rows&table={name}", f"view=search&kind=text&text={quote('<script>')}"):
        page.goto(f"{evil.address}#{view}")
        expect(page.locator("#left section:not([hidden])")).to_contain_text("<script>alert(1)")
    assert page.locator("script").count() == 1
    assert page.locator("img:not(h1 img)").count() == 0


def test_a_log_grows_on_the_page(tmp_path: Path, opened: Opened) -> None:
    log = BinlogBuilder()
    for number in range(40):
        log.transaction(insert(table("shop.orders", integer("id")), (number,)))
    (path,) = log.save(tmp_path)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with serving(tmp_path) as served:
        page = opened.go(served.address)
        before = served.ask("logs")["logs"][0]["units"]
        expect(page.locator("#status")).to_contain_text(f"{before} lines")
        path.write_bytes(data)
        expect(page.locator("#status")).to_contain_text("41 lines", timeout=20_000)
        page.close()


def test_the_first_view_shows_what_the_logs_contain(shop: Served, opened: Opened) -> None:
    page = opened.go(shop.address)
    overview = page.locator(".overview")
    expect(overview).to_contain_text("159transactions")
    expect(overview).to_contain_text("shop.order_lines")
    expect(overview).not_to_contain_text("problem")
    overview.get_by_role("button", name="shop.products").click()
    expect(page.locator("#panel-rows .hit").first).to_contain_text("insert")


def test_damage_is_shown_with_what_comes_after_it(tmp_path: Path, opened: Opened) -> None:
    (path,) = many_transactions(30).save(tmp_path)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    with serving(tmp_path) as served:
        page = opened.go(served.address)
        expect(page.locator(".overview")).to_contain_text("One problem")
        expect(page.locator(".overview li")).to_contain_text("checksum mismatch")
        page.locator(".overview li button").click()
        expect(page.locator("#bytes .bad")).to_contain_text("checksum mismatch")
        expect(page.locator("#list .row[aria-selected=true]")).to_contain_text("checksum mismatch")
        page.locator("#list").press("End")
        expect(rows(page).last).to_contain_text("3e11…:30")
        page.close()


def test_an_event_that_a_server_is_writing_is_not_shown_as_damage(tmp_path: Path, opened: Opened) -> None:
    log = many_transactions(3)
    log.mark_in_use()
    (path,) = log.save(tmp_path)
    path.write_bytes(path.read_bytes()[:-5])
    with serving(tmp_path) as served:
        page = opened.go(served.address)
        expect(rows(page).last).to_contain_text("Incomplete: the server is writing it")
        expect(page.locator(".bad")).to_have_count(0)
        page.close()


def test_an_open_transaction_stays_open_when_an_earlier_log_is_read(opened: Opened, tmp_path: Path) -> None:
    log = many_transactions(3)
    log.rotate()
    log.transaction(insert(table("shop.late", integer("id")), (1,)))
    log.save(tmp_path)
    with serving_unread(tmp_path) as (explorer, served):
        explorer.ensure_read(1, 0)
        page = opened.go(f"{served.address}#log=binlog.000002&pos=4")
        explorer.read_next()
        expect(page.locator("#bytes h2")).to_contain_text("FORMAT_DESCRIPTION")
        expect(rows(page)).to_have_count(5)
        explorer.read_all()
        expect(page.locator("#status")).to_contain_text("7 lines")
        expect(rows(page).filter(has_text="shop.late")).to_be_visible()
        expect(page.locator("#list .row[aria-selected='true']")).to_contain_text("FORMAT_DESCRIPTION")
        assert rows(page).first.inner_text().endswith("binlog.000001:0")
        page.close()


def test_an_address_of_the_worked_examples_lights_its_field(opened: Opened) -> None:
    with serving(Path(__file__).parents[2] / "examples" / "bytes") as served:
        page = opened.go(f"{served.address}#log=binlog.000001&pos=688&field=13")
        expect(page.locator("#fields .picked")).to_contain_text("title.length")
        expect(page.locator("#bytes .line:not(.ascii) .lit")).to_have_text("04")
        page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 900, 390])
def test_the_page_fits_and_can_be_read_in_both_themes(
    shop: Served, browser: Browser, tmp_path: Path, scheme: Literal["light", "dark"], width: int
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 850}, color_scheme=scheme)
    page = context.new_page()
    rows_event = shop.ask("search", kind="type", text="UPDATE_ROWS")["hits"][0]
    page.goto(f"{shop.address}#log={rows_event['name']}&pos={rows_event['pos']}&field=14")
    expect(page.locator("#fields .picked")).to_be_visible()
    picture = tmp_path / f"{scheme}-{width}.png"
    page.screenshot(path=picture, full_page=width < 640)
    assert picture.stat().st_size > 10_000
    assert_readable(page)
    for view, text in (
        ("", "shop.orders"),
        ("view=tables", "shop.products"),
        ("view=rows&table=shop.products&where=id%3D1", "lamp"),
        ("view=search&kind=text&text=lamp", "found"),
    ):
        page.goto(f"{shop.address}#{view}")
        expect(page.locator("#left section:not([hidden])")).to_contain_text(text)
        assert_readable(page)
    context.close()


def assert_readable(page: Page) -> None:
    """Check that the page is not wider than its window, and that all text has enough contrast."""
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert min(page.evaluate(_CONTRASTS)) >= 4.5


_CONTRASTS = """() => {
  const light = (rgb) => {
    const parts = rgb.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255)
      .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const back = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const colour = getComputedStyle(each).backgroundColor;
      if (!/, 0\\)$|transparent/.test(colour)) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility()) continue;
    const [one, other] = [light(getComputedStyle(element).color), light(back(element))];
    found.push((Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05));
  }
  return found;
}"""
