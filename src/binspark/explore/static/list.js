// The log on the left: a line for each transaction, which opens into its events. Only the lines in view exist.
import { ask } from "./api.js";
import { count, make, say, size, time } from "./dom.js";

const HEIGHT = 46;
const PAGE = 100;
const MAX_PIXELS = 8_000_000; // browsers draw no element that is much higher
const MAX_PAGES = 60;

export class LogList {
  constructor(element, onEvent) {
    this.element = element;
    this.onEvent = onEvent;
    this.space = make("div", { class: "space", role: "none" });
    element.append(this.space);
    this.total = 0;
    this.pages = new Map(); // number of a page -> units, or a promise
    this.open = []; // { unit, log, local, pos, events, next }, ordered by unit; local is the unit's number in its log
    this.offset = 0; // of the first visible pixel, in a list without a limit
    this.active = 0; // number of the line that the keyboard is at
    this.picked = null;
    this.timeFrom = 0; // the first character of times that differs: a date that all have is not repeated
    this.names = [];
    this.counts = []; // units of each log
    element.addEventListener("scroll", () => this.scrolled());
    element.addEventListener("wheel", (event) => this.wheeled(event), { passive: false });
    element.addEventListener("click", (event) => this.clicked(event));
    element.addEventListener("keydown", (event) => this.pressed(event));
    new ResizeObserver(() => this.draw()).observe(element);
  }

  get lines() {
    return this.total + this.open.reduce((sum, each) => sum + lineCount(each), 0);
  }

  // Take how many units each log has now. Logs are usually read in order; where one grows before others, units move.
  setLogs(logs) {
    const isFirst = this.total === 0;
    const atEnd = !isFirst && this.offset >= this.lines * HEIGHT - this.element.clientHeight - 2;
    const before = this.counts;
    this.names = logs.map((each) => each.name);
    this.counts = logs.map((each) => each.units);
    const grown = this.counts.findIndex((units, log) => units !== before[log]);
    const isLast = grown >= 0 && before.slice(grown + 1).every((units) => units === 0);
    if (isLast) this.pages.delete(Math.floor(Math.max(0, this.total - 1) / PAGE));
    else if (grown >= 0) this.pages.clear();
    for (const each of this.open) each.unit = this.base(each.log) + each.local;
    this.total = this.base(this.counts.length);
    this.draw();
    if (atEnd && grown >= 0 && this.lines * HEIGHT > this.element.clientHeight) this.moveTo(this.lines * HEIGHT);
  }

  // Take the first and the last time: the day, or the year, that all have in common is not repeated.
  setTimes(times) {
    const [first, last] = [times[0], times[times.length - 1]].map((each) => time(each));
    this.timeFrom = [11, 5].find((length) => first.slice(0, length) === last.slice(0, length)) ?? 0;
    this.draw();
  }

  base(log) {
    return this.counts.slice(0, log).reduce((sum, units) => sum + units, 0);
  }

  // Which unit or event a line is.
  at(line) {
    let before = 0;
    for (const each of this.open) {
      const first = each.unit + before;
      if (line <= first) break;
      const events = lineCount(each);
      if (line <= first + events) return { opened: each, event: line - first - 1, unit: each.unit };
      before += events;
    }
    return { unit: line - before };
  }

  lineOf(unit) {
    return unit + this.open.filter((each) => each.unit < unit).reduce((sum, each) => sum + lineCount(each), 0);
  }

  unit(number) {
    const page = this.pages.get(Math.floor(number / PAGE));
    return Array.isArray(page) ? page[number % PAGE] : undefined;
  }

  async load(page) {
    const known = this.pages.get(page);
    if (known) return known;
    const promise = ask("units", { first: page * PAGE, count: PAGE }).then(({ units }) => {
      this.pages.set(page, units);
      for (const key of this.pages.keys()) if (this.pages.size > MAX_PAGES && key !== page) this.pages.delete(key);
      this.draw();
      return units;
    });
    this.pages.set(page, promise);
    promise.catch((error) => {
      this.pages.delete(page);
      say(error.message, true);
    });
    return promise;
  }

  get ratio() {
    const real = this.lines * HEIGHT - this.element.clientHeight;
    const drawn = this.drawnHeight - this.element.clientHeight;
    return real > drawn && drawn > 0 ? real / drawn : 1;
  }

  get drawnHeight() {
    return Math.min(MAX_PIXELS, this.lines * HEIGHT);
  }

  scrolled() {
    if (Math.abs(this.element.scrollTop - this.offset / this.ratio) > 1) this.offset = this.element.scrollTop * this.ratio;
    this.draw();
  }

  wheeled(event) {
    if (this.ratio === 1 || event.ctrlKey) return;
    event.preventDefault();
    this.moveTo(this.offset + (event.deltaMode ? event.deltaY * HEIGHT : event.deltaY));
  }

  moveTo(offset) {
    this.offset = Math.max(0, Math.min(offset, this.lines * HEIGHT - this.element.clientHeight));
    this.space.style.height = `${this.drawnHeight}px`;
    this.element.scrollTop = this.offset / this.ratio;
    this.draw();
  }

  reveal(line, { isCentred = false } = {}) {
    const top = line * HEIGHT;
    const height = this.element.clientHeight;
    const isAbove = top < this.offset;
    const isBelow = top + HEIGHT > this.offset + height;
    if (isCentred && (isAbove || isBelow)) this.moveTo(top - height / 2);
    else if (isAbove) this.moveTo(top);
    else if (isBelow) this.moveTo(top + HEIGHT - height);
    else this.draw();
  }

  draw() {
    this.space.style.height = `${this.drawnHeight}px`;
    const height = this.element.clientHeight;
    const first = Math.max(0, Math.floor(this.offset / HEIGHT) - 2);
    const last = Math.min(this.lines, Math.ceil((this.offset + height) / HEIGHT) + 2);
    const shift = this.element.scrollTop - this.offset;
    const rows = [];
    for (let line = first; line < last; line++) {
      const row = this.row(line);
      row.style.top = `${line * HEIGHT + shift}px`;
      rows.push(row);
    }
    this.space.replaceChildren(...rows);
    if (this.lines) this.element.setAttribute("aria-activedescendant", `line-${this.active}`);
  }

  row(line) {
    const { opened, event, unit: number } = this.at(line);
    const unit = this.unit(number);
    if (!unit) this.load(Math.floor(number / PAGE)).catch(() => {});
    const common = {
      id: `line-${line}`,
      "data-line": line,
      role: "treeitem",
      "aria-posinset": line + 1,
      "aria-setsize": this.lines,
    };
    const active = line === this.active ? " active" : "";
    if (opened) return this.eventRow(opened, event, common, active);
    if (!unit) return make("div", { ...common, class: `row${active}`, "aria-level": 1 }, "…");
    const isOpen = this.open.some((each) => each.unit === number);
    return make(
      "div",
      { ...common, class: `row${active}`, title: unit.gtid, "aria-level": 1, "aria-expanded": String(isOpen), "aria-selected": String(this.isPicked(unit, null) && !isOpen) },
      make("div", {}, make("span", { class: "twist", "aria-hidden": "true" }, isOpen ? "▾" : "▸"), make("span", { class: "grow" }, ...title(unit)), make("span", { class: "num soft" }, size(unit.end - unit.pos))),
      make("div", { class: "second" }, make("span", { class: "twist" }), make("span", { class: "grow" }, second(unit, this.timeFrom)), make("span", { class: "num" }, `${this.names[unit.log] ?? ""}:${unit.pos}`)),
    );
  }

  eventRow(opened, index, common, active) {
    const event = opened.events[index];
    if (!event) {
      const text = opened.events.length ? "more events…" : "reading…";
      return make("div", { ...common, class: `row${active}`, "aria-level": 2 }, make("span", { class: "soft" }, text));
    }
    const picked = this.isPicked({ log: opened.log, pos: event.pos }, event.inner);
    const { name, family } = typeOf(event);
    return make(
      "div",
      { ...common, class: `row${event.inner === null ? "" : " inner"}${active}`, "aria-level": 2, "aria-selected": String(picked) },
      make("div", {}, make("span", { class: `grow type ${family}` }, name), make("span", { class: "num soft" }, size(event.size))),
      make("div", { class: "second" }, make("span", { class: "grow" }, event.summary), make("span", { class: "num" }, event.inner === null ? event.pos : `#${event.inner}`)),
    );
  }

  isPicked({ log, pos }, inner) {
    const picked = this.picked;
    return picked !== null && picked.log === log && picked.pos === pos && (picked.inner ?? null) === inner;
  }

  clicked(event) {
    const row = event.target.closest(".row");
    if (!row) return;
    this.active = Number(row.dataset.line);
    this.enter();
  }

  async enter() {
    const { opened, event: index, unit: number } = this.at(this.active);
    if (!opened) return this.toggle(number);
    const event = opened.events[index];
    if (event) this.onEvent({ log: opened.log, pos: event.pos, inner: event.inner });
    else await this.more(opened);
    this.draw();
  }

  async toggle(number) {
    const at = this.open.findIndex((each) => each.unit === number);
    if (at >= 0) {
      this.open.splice(at, 1);
      this.draw();
      return null;
    }
    return this.openUnit(number);
  }

  async openUnit(number) {
    const known = this.open.find((each) => each.unit === number);
    if (known) return known.loaded.then(() => known);
    const units = await this.load(Math.floor(number / PAGE));
    const unit = units[number % PAGE];
    if (!unit) return null;
    const opened = { unit: number, log: unit.log, local: unit.unit, pos: unit.pos, events: [], next: [unit.pos, null] };
    this.open.push(opened);
    this.open.sort((one, other) => one.unit - other.unit);
    opened.loaded = this.more(opened);
    await opened.loaded;
    return opened;
  }

  async more(opened) {
    if (!opened.next) return;
    const [first, inner] = opened.next;
    try {
      const page = await ask("events", { log: opened.log, pos: opened.pos, first, inner });
      opened.events.push(...page.events);
      opened.next = page.next;
    } catch (error) {
      say(error.message, true);
    }
    this.draw();
  }

  // Open the unit of an event and move to the event, unless somebody moves elsewhere meanwhile.
  async find(unit, position) {
    this.picked = position;
    const before = this.active;
    const opened = await this.openUnit(unit);
    if (!opened) return;
    const { pos, inner = null } = position;
    const index = () => opened.events.findIndex((event) => event.end > pos && (event.inner ?? null) === inner);
    while (index() < 0 && opened.next) await this.more(opened);
    if (this.active === before) {
      this.active = this.lineOf(unit) + 1 + Math.max(0, index());
      this.reveal(this.active, { isCentred: true });
    }
    const event = opened.events[Math.max(0, index())];
    if (event) this.picked = { log: opened.log, pos: event.pos, inner: event.inner };
    this.draw();
  }

  async step(direction) {
    // The next or previous event, in whatever unit it is.
    let line = this.active + direction;
    while (line >= 0 && line < this.lines) {
      const { opened, unit } = this.at(line);
      if (opened) {
        this.active = line;
        this.reveal(line);
        return this.enter();
      }
      const isOpen = this.open.some((each) => each.unit === unit);
      if (!isOpen) {
        const added = await this.openUnit(unit);
        if (direction < 0 && added) line += lineCount(added) + 1;
      }
      line += direction;
    }
    return null;
  }

  pressed(event) {
    const page = Math.max(1, Math.floor(this.element.clientHeight / HEIGHT) - 1);
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -this.lines, End: this.lines };
    const { opened, unit } = this.at(this.active);
    const isOpen = this.open.some((each) => each.unit === unit);
    if (event.key in moves) this.active = Math.max(0, Math.min(this.lines - 1, this.active + moves[event.key]));
    else if (event.key === "Enter" || event.key === " ") this.enter();
    else if (event.key === "ArrowRight" && !opened && !isOpen) this.toggle(unit);
    else if (event.key === "ArrowRight" && !opened) this.active += 1;
    else if (event.key === "ArrowLeft" && opened) this.active = this.lineOf(unit);
    else if (event.key === "ArrowLeft" && isOpen) this.toggle(unit);
    else return;
    event.preventDefault();
    this.reveal(this.active);
  }
}

const lineCount = (opened) => opened.events.length + (opened.next ? 1 : 0);

function title(unit) {
  if (unit.kind === "damaged") return [make("span", { class: "bad" }, unit.encrypted ? "Encrypted" : "Damaged")];
  if (unit.kind === "incomplete") return [make("span", { class: "update" }, "Incomplete: the server is writing it")];
  if (unit.kind === "between") return [make("span", { class: "soft-text" }, unit.types.join(", "))];
  const parts = unit.changes.length ? unit.changes.flatMap(changeOf) : [unit.text ?? `${count(unit.events)} events`];
  if (unit.more_changes) parts.push(`, ${unit.more_changes} more`);
  if (!unit.complete) parts.push(make("span", { class: "update" }, ` ${unit.ending}`));
  return parts;
}

const FAMILIES = [
  [/^DAMAGED$/, "bad"],
  [/ROWS(_COMPRESSED)?(_V\d)?$|^TABLE_MAP|^TRANSACTION_PAYLOAD/, "rows"],
  [/GTID|^XID|^XA_/, "header"],
  [/QUERY|^ROWS_QUERY|^ANNOTATE/, "body"],
];

function typeOf(event) {
  const family = event.damaged ? "bad" : (FAMILIES.find(([pattern]) => pattern.test(event.type))?.[1] ?? "checksum");
  return { name: event.type, family };
}

const changeOf = (change) => [make("span", { class: `chip ${change.operation}` }, `${change.operation} ${count(change.rows)}`), ` ${change.table}  `];

function second(unit, timeFrom) {
  if (unit.kind === "damaged" || unit.kind === "incomplete") return unit.text;
  return [time(unit.time).slice(timeFrom), shortGtid(unit.gtid)].filter(Boolean).join("  ");
}

// The first digits of a UUID are enough to tell servers apart.
const shortGtid = (gtid) => gtid?.replace(/^([0-9a-f]{4})[0-9a-f]{4}-[0-9a-f-]{27}:/, "$1…:");
