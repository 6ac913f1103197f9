// What is beside the log: what a search has found, the tables, and the history of rows.
import { ask } from "./api.js";
import { count, make, size, time } from "./dom.js";
import { shown } from "./event.js";

// Shows hits, and asks for more until there are enough; `line` makes the content of each. One hit is the current one.
class Results {
  constructor(element, onHit) {
    this.element = element;
    this.onHit = onHit;
    this.run = 0;
    this.forget();
  }

  forget() {
    this.hits = [];
    this.current = -1;
    this.cursor = null;
  }

  async show(heading, question, line) {
    this.run += 1;
    this.forget();
    this.cursor = { log: 0, offset: 0 };
    this.question = question;
    this.line = line;
    this.list = make("div");
    this.state = make("span", { class: "soft", role: "status" }, "searching…");
    this.more = button("Search further", () => this.read(200));
    this.steps = ["Previous", "Next"].map((name, index) => button(name, () => this.step(index ? 1 : -1)));
    this.bar = make("p", { class: "stepper" }, ...this.steps, this.state);
    this.element.replaceChildren(...heading, this.bar, this.list, this.more);
    this.tell();
    await this.read(200);
  }

  // Ask until this many more hits are found, or all logs were searched.
  async read(count) {
    const { run, question } = this;
    const until = this.hits.length + count;
    this.more.hidden = true;
    while (this.cursor && this.hits.length < until) {
      let answer;
      try {
        answer = await ask(question.name, { ...question.parameters, ...this.cursor });
      } catch (error) {
        if (run === this.run) this.state.replaceChildren(make("span", { class: "bad" }, error.message));
        return;
      }
      if (run !== this.run) return;
      for (const hit of answer.hits) this.add(hit);
      this.cursor = answer.next;
      this.tell(true);
    }
    this.tell();
  }

  add(hit) {
    const number = this.hits.length;
    const element = make("button", { type: "button", class: "hit", on: { click: () => this.pick(number) } }, ...this.line(hit));
    this.hits.push({ hit, element });
    this.list.append(element);
  }

  tell(isReading = false) {
    const found = count(this.hits.length);
    const total = this.cursor ? `${found} found so far` : `${found} found`;
    this.state.textContent = this.current < 0 ? `${total}${isReading ? "…" : ""}` : `${count(this.current + 1)} of ${total}`;
    this.more.hidden = isReading || !this.cursor;
    this.steps[0].disabled = this.current <= 0;
    this.steps[1].disabled = this.current + 1 >= this.hits.length && !this.cursor;
  }

  pick(number) {
    this.hits[this.current]?.element.removeAttribute("aria-current");
    this.current = number;
    const { hit, element } = this.hits[number];
    element.setAttribute("aria-current", "true");
    element.scrollIntoView({ block: "nearest" });
    this.tell();
    this.onHit(hit);
  }

  // The next or previous hit; after the last one that is shown, more are searched for.
  async step(direction) {
    const wanted = this.current + direction;
    if (wanted < 0) return;
    if (wanted >= this.hits.length && this.cursor) await this.read(1);
    if (wanted < this.hits.length) this.pick(wanted);
  }
}

function button(text, click) {
  return make("button", { type: "button", on: { click } }, text);
}

const FORMS = [
  ["text", "what events contain, as in INSERT INTO"],
  ["table", "transactions that change it: shop.orders, or shop.*"],
  ["type", "events of a type: WRITE_ROWS, or *_ROWS"],
  ["key value", "rows by their key: 42, id = 42, shop.orders 42, or shop.orders id = 42"],
];

export class SearchPanel {
  constructor(element, { onHit, onRow }) {
    this.results = new Results(element, (hit) => (hit.op ? onRow(hit) : onHit(hit)));
    element.replaceChildren(make("p", { class: "soft" }, "Search for something above:"), make("dl", { class: "forms" }, ...FORMS.flatMap(([name, text]) => [make("dt", {}, name), make("dd", { class: "soft" }, text)])));
  }

  step(direction) {
    return this.results.step(direction);
  }

  show(kind, text) {
    const name = kind === "key" ? "key value" : kind;
    const question = kind === "key" ? { name: "keys", parameters: { text } } : { name: "search", parameters: { kind, text } };
    return this.results.show([make("h2", {}, `${name}: ${text}`)], question, kind === "key" ? (change) => changeLine(change, true) : eventLine);
  }
}

function eventLine(hit) {
  return [
    make("strong", {}, hit.type),
    make("span", { class: "soft" }, `  ${hit.name}:${hit.pos}${hit.inner === null ? "" : ` #${hit.inner}`}  ${time(hit.time)}`),
    hit.summary ? make("div", { class: "mono" }, hit.summary) : "",
  ];
}

export class TablesPanel {
  constructor(element, { onTable, onRows }) {
    this.element = element;
    this.onTable = onTable;
    this.onRows = onRows;
  }

  show(answer) {
    const operations = ["insert", "update", "delete"];
    const head = make("tr", {}, make("th", { scope: "col" }, "table"), ...operations.map((name) => make("th", { scope: "col", class: "num" }, name)));
    const rows = answer.tables.map((table) =>
      make(
        "tr",
        {},
        make("td", {}, link(table.table, () => this.onTable(table.table), `Transactions that change ${table.table}`), make("div", { class: "soft" }, `${size(table.bytes)} · `, link("rows", () => this.onRows(table.table), `Rows of ${table.table}`))),
        ...operations.map((name) => make("td", { class: "num" }, ...cell(table[name], name))),
      ),
    );
    const more = answer.count - answer.tables.length;
    this.element.replaceChildren(
      make("h2", {}, `${count(answer.count)} tables`),
      make("table", { class: "tables" }, make("thead", {}, head), make("tbody", {}, ...rows)),
      more > 0 ? make("p", { class: "soft" }, `${count(more)} more tables are not shown.`) : "",
      answer.others ? make("p", { class: "soft" }, `Tables with fewer bytes, together: ${count(answer.others.rows)} rows, ${size(answer.others.bytes)}.`) : "",
    );
  }
}

function cell(operation, name) {
  if (!operation) return [""];
  const rows = `${count(operation.rows)}${operation.uncounted ? "+" : ""}`;
  return [make("span", { class: name }, rows), make("div", { class: "soft" }, size(operation.bytes))];
}

function link(text, click, label) {
  return make("button", { type: "button", class: "link", "aria-label": label, on: { click } }, text);
}

export class RowsPanel {
  constructor(element, { onRow, onAsk }) {
    this.table = make("input", { name: "table", placeholder: "schema.table", "aria-label": "Table", spellcheck: "false" });
    this.where = make("input", { name: "where", placeholder: "id = 42", "aria-label": "Condition", spellcheck: "false" });
    this.form = make("form", { class: "form" }, this.table, make("span", { class: "soft" }, "where"), this.where, make("button", {}, "Show history"));
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      onAsk(this.table.value, this.where.value);
    });
    this.element = make("div");
    element.replaceChildren(this.form, this.element);
    this.results = new Results(this.element, onRow);
  }

  step(direction) {
    return this.results.step(direction);
  }

  show(table, where) {
    this.table.value = table ?? "";
    this.where.value = where ?? "";
    if (!table) return null;
    return this.results.show([], { name: "rows", parameters: { table, where } }, (change) => changeLine(change));
  }
}

function changeLine(change, isNamed = false) {
  return [
    make("strong", { class: change.op }, isNamed ? `${change.op} ${change.schema}.${change.table}` : change.op),
    make("span", { class: "soft" }, `  ${time(change.timestamp)}  ${change.name}:${change.pos}  ${change.gtid ?? ""}`),
    make("div", { class: "values mono" }, ...values(change)),
  ];
}

function values({ before, after }) {
  const names = Object.keys({ ...before, ...after });
  return names.flatMap((name, index) => {
    const old = before?.[name];
    const current = after?.[name];
    const isSame = before && after && shown(old) === shown(current);
    const parts = [index ? ", " : "", `${name} = `];
    if (isSame) parts.push(text(current));
    else {
      if (before && name in before) parts.push(make("del", {}, text(old)));
      if (before && after) parts.push(" → ");
      if (after && name in after) parts.push(make("ins", {}, text(current)));
    }
    return parts.filter((part) => part !== "");
  });
}

const text = (value) => (value === null ? "NULL" : shown(value));
