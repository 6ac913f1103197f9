// What is beside the log: what a search has found, the tables, and the history of rows.
import { ask } from "./api.js";
import { count, make, size, time } from "./dom.js";
import { shown } from "./event.js";

// Shows hits, and asks for more until there are enough; `line` makes an element of each.
class Results {
  constructor(element) {
    this.element = element;
    this.run = 0;
  }

  async show(heading, question, line) {
    const run = ++this.run;
    const list = make("div");
    const state = make("p", { class: "soft", role: "status" }, "searching…");
    this.element.replaceChildren(...heading, list, state);
    let cursor = { log: 0, offset: 0 };
    let found = 0;
    const read = async (until) => {
      while (cursor && found < until) {
        let answer;
        try {
          answer = await ask(question.name, { ...question.parameters, ...cursor });
        } catch (error) {
          if (run === this.run) state.replaceChildren(make("span", { class: "bad" }, error.message));
          return;
        }
        if (run !== this.run) return;
        list.append(...answer.hits.map(line));
        found += answer.hits.length;
        cursor = answer.next;
        state.textContent = cursor ? `${count(found)} found so far…` : `${count(found)} found`;
      }
      if (cursor) {
        const more = make("button", { type: "button" }, "Search further");
        more.addEventListener("click", () => read(found + 200));
        state.replaceChildren(`${count(found)} found so far. `, more);
      }
    };
    await read(200);
  }
}

export class SearchPanel {
  constructor(element, onHit) {
    this.results = new Results(element);
    this.onHit = onHit;
    element.replaceChildren(make("p", { class: "soft" }, "Search for text, a table or a type of event above."));
  }

  show(kind, text) {
    const heading = [make("h2", {}, `${kind}: ${text}`)];
    return this.results.show(heading, { name: "search", parameters: { kind, text } }, (hit) =>
      make(
        "button",
        { type: "button", class: "hit", on: { click: () => this.onHit(hit) } },
        make("strong", {}, hit.type),
        make("span", { class: "soft" }, `  ${hit.name}:${hit.pos}${hit.inner === null ? "" : ` #${hit.inner}`}  ${time(hit.time)}`),
        hit.summary ? make("div", { class: "mono" }, hit.summary) : "",
      ),
    );
  }
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
  constructor(element, { onHit, onAsk }) {
    this.onHit = onHit;
    this.table = make("input", { name: "table", placeholder: "schema.table", "aria-label": "Table", spellcheck: "false" });
    this.where = make("input", { name: "where", placeholder: "id = 42", "aria-label": "Condition", spellcheck: "false" });
    this.form = make("form", { class: "form" }, this.table, make("span", { class: "soft" }, "where"), this.where, make("button", {}, "Show history"));
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      onAsk(this.table.value, this.where.value);
    });
    this.element = make("div");
    element.replaceChildren(this.form, this.element);
    this.results = new Results(this.element);
  }

  show(table, where) {
    this.table.value = table ?? "";
    this.where.value = where ?? "";
    if (!table) return null;
    return this.results.show([], { name: "rows", parameters: { table, where } }, (change) =>
      make(
        "button",
        { type: "button", class: "hit", on: { click: () => this.onHit({ log: change.log, pos: change.pos, inner: null }) } },
        make("strong", { class: change.op }, change.op),
        make("span", { class: "soft" }, `  ${time(change.timestamp)}  ${change.name}:${change.pos}  ${change.gtid ?? ""}`),
        make("div", { class: "values mono" }, ...values(change)),
      ),
    );
  }
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
