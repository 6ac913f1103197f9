// What the logs contain at a glance, as long as no event is shown: how much, since when, which tables, what is wrong.
import { count, make, size, time } from "./dom.js";

const OPERATIONS = ["insert", "update", "delete"];
const MAX_TABLES = 12;
const MAX_PROBLEMS = 8;

export class Overview {
  constructor({ onTable, onPosition }) {
    this.onTable = onTable;
    this.onPosition = onPosition;
    this.element = make("div", { class: "overview" });
  }

  setData(logs, activity, tables) {
    if (!logs.length) {
      this.element.replaceChildren(make("h2", {}, "There is no log yet"), make("p", { class: "soft" }, "It is shown as soon as the server writes something."));
      return;
    }
    const sum = (values) => values.reduce((one, other) => one + other, 0);
    const figures = [
      [count(logs.length), logs.length === 1 ? "log" : "logs"],
      [size(sum(logs.map((each) => each.bytes))), "in all"],
      [count(sum(activity.transactions)), "transactions"],
      [count(sum(activity.rows)), "changed rows"],
      [count(tables.count), tables.count === 1 ? "table" : "tables"],
    ];
    const { times } = activity;
    const range = times.length ? `${time(times[0])} to ${time(times[times.length - 1] + activity.width)} UTC` : "";
    this.element.replaceChildren(
      make("h2", {}, "At a glance"),
      make("p", { class: "soft" }, range),
      make("dl", { class: "figures" }, ...figures.map(([value, name]) => make("div", {}, make("dd", {}, value), make("dt", {}, name)))),
      ...this.problems(logs),
      ...this.tables(tables),
      make("p", { class: "soft hint" }, "Open a transaction on the left, and choose an event: its bytes and fields are shown here. ", make("kbd", {}, "/"), " searches, ", make("kbd", {}, "g"), " jumps, ", make("kbd", {}, "?"), " lists all keys."),
    );
  }

  problems(logs) {
    const found = logs.flatMap((each) => each.problems.map((problem) => ({ name: each.name, ...problem })));
    if (!found.length) return [];
    const total = logs.reduce((sum, each) => sum + each.problem_count, 0);
    const lines = found.slice(0, MAX_PROBLEMS).map(({ name, text, pos }) => {
      const where = pos === null ? name : `${name}:${pos}`;
      const link = make("button", { type: "button", class: "link", disabled: pos === null }, where);
      link.addEventListener("click", () => this.onPosition(name, pos));
      return make("li", {}, link, ` ${text}`);
    });
    const more = total - lines.length;
    if (more > 0) lines.push(make("li", { class: "soft" }, `${count(more)} more`));
    return [make("h3", { class: "bad" }, total === 1 ? "One problem" : `${count(total)} problems`), make("ul", {}, ...lines)];
  }

  tables({ tables }) {
    if (!tables.length) return [];
    const most = tables[0].bytes || 1;
    const rows = tables.slice(0, MAX_TABLES).map((table) => {
      const link = make("button", { type: "button", class: "link", title: `History of the rows of ${table.table}` }, table.table);
      link.addEventListener("click", () => this.onTable(table.table));
      const bars = OPERATIONS.filter((name) => table[name]).map((name) => {
        const bar = make("span", { class: `bar ${name}`, title: `${name}: ${count(table[name].rows)} rows, ${size(table[name].bytes)}` });
        bar.style.width = `${Math.max(0.5, (table[name].bytes / most) * 100)}%`;
        return bar;
      });
      return make("tr", {}, make("td", {}, link), make("td", { class: "bars" }, make("div", {}, ...bars)), make("td", { class: "num" }, `${count(table.rows)} rows`), make("td", { class: "num soft" }, size(table.bytes)));
    });
    const legend = OPERATIONS.flatMap((name) => [make("span", { class: `bar ${name}` }), ` ${name}  `]);
    return [make("h3", {}, "Tables ", make("span", { class: "legend" }, ...legend)), make("table", {}, make("tbody", {}, ...rows))];
  }
}
