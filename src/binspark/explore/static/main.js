// The page: what the address says is shown, and what people do changes the address.
import { onShown, show, shown } from "./address.js";
import { ask } from "./api.js";
import { byId, count, make, say, size } from "./dom.js";
import { EventView } from "./event.js";
import { LogList } from "./list.js";
import { Overview } from "./overview.js";
import { RowsPanel, SearchPanel, TablesPanel } from "./panels.js";
import { Timeline } from "./timeline.js";

const LOOK_MILLISECONDS = 1000;
const VIEWS = ["log", "search", "tables", "rows"];
const HINTS = { text: "text in events", table: "schema.table, or shop.*", type: "WRITE_ROWS, or *_ROWS", key: "42, or shop.orders id = 42" };
let logs = [];
let version = -1;
let bytesWanted = null;

const pick = ({ log, pos, inner }) => show({ log: logs[log].name, pos, inner, field: null });
const list = new LogList(byId("list"), pick);
const view = new EventView(byId("bytes"), byId("fields"), {
  onField: (field) => show({ field }, { replace: true }),
  onMore: (bytes) => {
    bytesWanted = bytes;
    showEvent(shown());
  },
});
const overview = new Overview({ onTable: (table) => show({ view: "rows", table, where: null }), onPosition: (name, pos) => show({ view: "log", log: name, pos, inner: null, field: null }) });
const timeline = new Timeline(byId("timeline"), { onJump: jumpToTime, onZoom: zoom });
const panels = {
  search: new SearchPanel(byId("panel-search"), { onHit: pick, onRow: pickRow }),
  tables: new TablesPanel(byId("panel-tables"), {
    onTable: (table) => show({ view: "search", kind: "table", text: table }),
    onRows: (table) => show({ view: "rows", table, where: null }),
  }),
  rows: new RowsPanel(byId("panel-rows"), { onRow: pickRow, onAsk: (table, where) => show({ view: "rows", table, where }) }),
};

// Show the event of a changed row, and the value in it that was searched for.
async function pickRow({ log, pos, row, image, column, key }) {
  try {
    const found = await ask("row", { log, pos, row, image, column: column ?? Object.keys(key ?? {})[0] });
    show({ log: logs[log].name, pos, inner: found.inner, field: found.field });
  } catch (error) {
    say(error.message, true);
  }
}

function hint() {
  byId("search-text").placeholder = byId("search-text").title = HINTS[byId("search-kind").value];
}

function zoom(range) {
  show({ from: range?.[0].toFixed(6), to: range?.[1].toFixed(6) });
  if (range) jumpToTime(range[0]);
}

async function jumpToTime(seconds) {
  await jump(new Date(Math.floor(seconds * 1000)).toISOString());
}

async function jump(to) {
  try {
    const log = Math.max(0, logs.findIndex((each) => each.name === shown().log));
    const found = await ask("jump", { to, log });
    show({ view: "log", log: found.name, pos: found.pos, inner: null, field: null });
  } catch (error) {
    say(error.message, true);
  }
}

async function showEvent({ log: name, pos, inner, field }, { find = true } = {}) {
  const log = logs.findIndex((each) => each.name === name);
  if (log < 0 || pos === undefined) {
    view.clear(overview.element);
    document.title = "binspark explore";
    return;
  }
  try {
    const event = await ask("event", { log, pos, inner, field, bytes: bytesWanted });
    if (shown().pos !== pos || shown().inner !== inner) return;
    view.show(event, name, field === undefined ? null : Number(field));
    timeline.setMark(event.time);
    if (find) {
      const found = await ask("jump", { to: `${name}:${event.pos}` });
      await list.find(found.unit, { log, pos: event.pos, inner: event.inner });
    }
    if (matchMedia("(max-width: 640px)").matches && shown().view !== "rows") byId("bytes").scrollIntoView({ block: "start" });
    document.title = `${event.type} ${name}:${pos} · binspark`;
  } catch (error) {
    view.clear(make("p", { class: "bad" }, error.message));
    say(error.message, true);
  }
}

onShown((now, before) => {
  if (now.log !== before.log || now.pos !== before.pos || now.inner !== before.inner) {
    bytesWanted = null;
    const isInList = list.picked && logs[list.picked.log]?.name === now.log && String(list.picked.pos) === now.pos;
    showEvent(now, { find: !isInList || now.inner !== before.inner });
  } else if (now.field !== before.field && now.field !== undefined && Number(now.field) !== view.picked) {
    view.pick(Number(now.field), { tell: false });
  }
  if (now.from !== before.from || now.to !== before.to) timeline.setRange(rangeOf(now));
  showView(now, before);
});

const rangeOf = ({ from, to }) => (from === undefined || to === undefined ? null : [Number(from), Number(to)]);

function showView(now, before) {
  const current = VIEWS.includes(now.view) ? now.view : "log";
  for (const name of VIEWS) {
    const tab = byId(`tab-${name}`);
    tab.setAttribute("aria-selected", String(name === current));
    tab.tabIndex = name === current ? 0 : -1;
    byId(`panel-${name}`).hidden = name !== current;
  }
  const isNew = (...names) => before === null || now.view !== before.view || names.some((name) => now[name] !== before[name]);
  if (current === "search" && isNew("kind", "text") && now.text) {
    byId("search-kind").value = now.kind;
    byId("search-text").value = now.text;
    hint();
    panels.search.show(now.kind, now.text);
  }
  if (current === "tables" && isNew()) ask("tables").then((tables) => panels.tables.show(tables), (error) => say(error.message, true));
  if (current === "rows" && isNew("table", "where")) panels.rows.show(now.table, now.where);
  if (current === "log") list.draw();
}

async function look() {
  try {
    const answer = await ask("logs");
    if (answer.version === version) return;
    version = answer.version;
    logs = answer.logs;
    list.setLogs(logs);
    tell();
    const [activity, tables] = await Promise.all([ask("timeline"), ask("tables")]);
    timeline.setData(activity);
    list.setTimes(activity.times);
    overview.setData(logs, activity, tables);
    if (shown().view === "tables") panels.tables.show(tables);
  } catch (error) {
    say(error instanceof TypeError ? "the connection to binspark is lost" : error.message, true);
  }
}

function tell() {
  const bytes = logs.reduce((sum, each) => sum + each.bytes, 0);
  const unread = logs.filter((each) => !each.read).length;
  const damaged = logs.filter((each) => each.problem_count);
  const name = logs.length === 1 ? logs[0].name : `${count(logs.length)} logs`;
  byId("subject").textContent = logs.length ? `${name}, ${[...new Set(logs.map((each) => each.server).filter(Boolean))].slice(0, 3).join(", ")}` : "waiting for a log";
  const read = `${size(bytes)}, ${count(list.total)} lines${unread ? `, ${count(unread)} ${unread === 1 ? "log" : "logs"} to read` : ""}`;
  const problems = damaged.reduce((sum, each) => sum + each.problem_count, 0);
  const more = problems > 1 ? `, and ${count(problems - 1)} more` : "";
  if (damaged.length) say(`${read}; ${damaged[0].name}: ${damaged[0].problems[0].text}${more}`, true);
  else say(read);
}

byId("jump").addEventListener("submit", (event) => {
  event.preventDefault();
  jump(byId("jump-to").value);
});
byId("search").addEventListener("submit", (event) => {
  event.preventDefault();
  show({ view: "search", kind: byId("search-kind").value, text: byId("search-text").value });
});
byId("search-kind").addEventListener("change", hint);
byId("views").addEventListener("click", (event) => {
  const tab = event.target.closest("[data-view]");
  if (tab) show({ view: tab.dataset.view });
});
byId("views").addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const next = VIEWS[(VIEWS.indexOf(shown().view ?? "log") + step + VIEWS.length) % VIEWS.length];
  show({ view: next });
  byId(`tab-${next}`).focus();
});
byId("help-button").addEventListener("click", () => byId("help").showModal());

const THEMES = ["system", "dark", "light"];
function theme(name) {
  document.documentElement.dataset.theme = name;
  byId("theme").setAttribute("aria-label", `Theme: ${name === "system" ? "as the system" : name}`);
  localStorage.setItem("theme", name);
}
const nextTheme = () => theme(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length]);
byId("theme").addEventListener("click", nextTheme);
theme(THEMES.includes(localStorage.getItem("theme")) ? localStorage.getItem("theme") : "system");

const KEYS = {
  g: () => byId("jump-to").focus(),
  "/": () => byId("search-text").focus(),
  "?": () => byId("help").showModal(),
  d: nextTheme,
  n: () => list.step(1),
  p: () => list.step(-1),
  N: () => panels[shown().view]?.step?.(1),
  P: () => panels[shown().view]?.step?.(-1),
  "+": () => timeline.zoom(0.5),
  "-": () => timeline.zoom(2),
  0: () => timeline.zoom(0),
  ...Object.fromEntries(VIEWS.map((name, index) => [index + 1, () => show({ view: name })])),
};
addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("input, select, textarea, dialog[open]");
  const call = KEYS[event.key];
  if (event.key === "Escape" && isTyping) event.target.blur();
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || !call) return;
  event.preventDefault();
  call();
});

async function start() {
  await look();
  timeline.setRange(rangeOf(shown()));
  showView(shown(), null);
  await showEvent(shown());
  setInterval(() => document.hidden || look(), LOOK_MILLISECONDS);
}
start();
